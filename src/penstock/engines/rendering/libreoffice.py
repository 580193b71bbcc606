"""Prints Office files with LibreOffice: a new profile each time, macros off, no network."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from penstock.errors import BadInput, DeadlinePassed
from penstock.processes.program import run_shut_in

NAME = "LibreOffice"
INSTALL = "Install LibreOffice (apt-get install libreoffice-nogui), or leave out --office pages and both."
AS_PDF = "Save it as PDF in its own program, or read it with --office structure."
PRINTED = {  # what it prints, and the ending by which it knows what it is given
    "docx": "docx", "pptx": "pptx", "xlsx": "xlsx", "doc": "doc", "ppt": "ppt", "xls": "xls", "odt": "odt",
    "ods": "ods", "odp": "odp", "rtf": "rtf",
}  # fmt: skip
MAX_PDF_BYTES = 1 << 30
MAX_STARTS = 2  # the first start of a new profile wants to begin again, and finds its own socket in the way
# the highest security: no macro runs, no link is followed, no server is asked
SETTINGS: dict[str, dict[str, object]] = {
    "Office.Common/Security/Scripting": {
        "MacroSecurityLevel": 3, "DisableMacrosExecution": "true", "BlockUntrustedRefererLinks": "true",
        "DisableActiveContent": "true",
    },
    "Office.Writer/Content/Update": {"Link": 0},
    "Office.Calc/Content/Update": {"Link": 1},
    "Inet/Settings": {
        "ooInetProxyType": 2, "ooInetHTTPProxyName": "127.0.0.1", "ooInetHTTPProxyPort": 9,
        "ooInetHTTPSProxyName": "127.0.0.1", "ooInetHTTPSProxyPort": 9,
    },
}  # fmt: skip
_HEAD = '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
_ITEM = (
    '<item oor:path="/org.openoffice.%s"><prop oor:name="%s" oor:op="fuse"><value>%s</value></prop></item>'
)


def office_program() -> str:
    """Returns where LibreOffice is. Raises BadInput where it is not installed."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    if found is None:
        raise BadInput("could not be printed: LibreOffice is not installed.", INSTALL)
    return found


def print_office(path: Path, kind: str, folder: Path, deadline_s: float) -> Path:
    """Returns the PDF, in `folder`, which is empty and this call's own. Raises BadInput with the reason."""
    program, given = office_program(), folder / f"input.{PRINTED[kind]}"
    profile = folder / "profile"
    _make_profile(profile)
    shutil.copyfile(path, given)
    command = [
        program, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--nolockcheck",
        "--nodefault", "--convert-to", "pdf", "--outdir", str(folder), str(given),
    ]  # fmt: skip
    made, code, said = given.with_suffix(".pdf"), 0, ""
    for _ in range(MAX_STARTS):
        code, said = _run(command, profile, folder, deadline_s)
        if made.is_file():
            break
    if not made.is_file() or not 0 < made.stat().st_size <= MAX_PDF_BYTES:
        last = said.strip().splitlines()[-1:] or ["it said nothing"]
        raise BadInput(f"could not be printed: {NAME} ended with code {code} ({last[0]}).", AS_PDF)
    return made


def _make_profile(profile: Path) -> None:
    (profile / "user").mkdir(parents=True)
    items = (_ITEM % (path, *pair) for path, pairs in SETTINGS.items() for pair in pairs.items())
    text = f"{_HEAD}{''.join(items)}</oor:items>"
    (profile / "user" / "registrymodifications.xcu").write_text(text, "utf-8")


def _run(command: list[str], profile: Path, folder: Path, deadline_s: float) -> tuple[int, str]:
    try:
        return run_shut_in(NAME, command, folder, deadline_s)
    except DeadlinePassed as exc:
        raise BadInput(f"could not be printed: {exc.message}", AS_PDF) from exc
    finally:
        if _socket(profile).is_socket():
            _socket(profile).unlink(missing_ok=True)


def _socket(profile: Path) -> Path:
    """Returns the socket that it makes for this profile, and may not remove itself where it is shut in."""
    digest = hashlib.md5(profile.as_uri().encode("utf-16-le"), usedforsecurity=False).digest()
    name = "".join(f"{byte:x}" for byte in digest)
    return Path("/tmp") / f"OSL_PIPE_{os.getuid()}_SingleOfficeIPC_{name}"

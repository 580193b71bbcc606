"""Opens a file that says itself what it holds, by what is in it.

The reader of a kind is loaded with the first file of that kind: a run over PDFs starts without any of them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from penstock.engines.office.blocks import StructureFile
from penstock.engines.office.package import XmlPackage
from penstock.errors import BadInput, first_line

MAX_FILE_BYTES = 2 << 30
MAX_TEXT_BYTES = 256 << 20  # of a file that is read whole
OLDER = frozenset({"doc", "ppt"})
HWP3 = b"HWP Document File V3."
MAX_DIRECTORY_BYTES = 64 << 20  # of an OLE file, in which its directory is looked for

# what a ZIP is, by a part that no other has
PARTS: tuple[tuple[str, str], ...] = (
    (r"word/document\d*\.xml", "docx"),
    (r"ppt/presentation\d*\.xml", "pptx"),
    (r"xl/workbook\d*\.xml", "xlsx"),
    (r"Contents/content\.hpf", "hwpx"),
    (r"META-INF/container\.xml", "epub"),
)
_UNFIT = (LookupError, ValueError, TypeError, AttributeError, RecursionError, ArithmeticError)

# where the function or the class lives that reads a kind, in this folder
PACKAGES: Mapping[str, str] = {
    "docx": "ooxml.docx:read_docx", "pptx": "ooxml.pptx:Slides", "xlsx": "ooxml.xlsx:Workbook",
    "hwpx": "hwpx:read_hwpx", "epub": "epub:Chapters",
    "odt": "odf.document:read_odf", "ods": "odf.document:read_odf", "odp": "odf.document:read_odf",
}  # fmt: skip
TEXTS: Mapping[str, str] = {
    "markdown": "markdown:read_markdown",
    "text": "text:read_text",
    "csv": "text:read_csv",
    "eml": "mail:read_eml",
    "rtf": "rtf:read_rtf",
}


def open_structure(path: str, kind: str) -> StructureFile:
    """Opens a file of a kind. Raises BadInput with the reason where it cannot be read."""
    try:
        if Path(path).stat().st_size > MAX_FILE_BYTES:
            raise BadInput(f"it has more than {MAX_FILE_BYTES:,} bytes.")
        return _opened(path, kind)
    except OSError as exc:
        raise BadInput(f"it cannot be read: {exc.strerror or first_line(exc)}.") from exc
    except _UNFIT as exc:  # a reader met what no file of the kind has
        raise BadInput(f"its structure is damaged ({type(exc).__name__}: {first_line(exc)}).") from exc


def _opened(path: str, kind: str) -> StructureFile:
    if kind in TEXTS:
        return _reader(TEXTS[kind])(_read(path))
    if kind == "html":
        return _reader("saved_page:read_saved_page")(_read(path), path)
    if kind in ("hwp", "ole") and is_hwp(path):
        return _reader("hwp:read_hwp")(path)
    if kind in OLDER:
        return _reader("older.read:read_older")(path, kind)
    if kind == "xls":
        return _reader("xls.workbook:read_xls")(path)
    if kind == "msg":
        return _reader("older.read:read_msg")(path)
    if kind == "ole":
        raise BadInput(f"files of this kind ({kind.upper()}) are not read.", "Save it as DOCX or as PDF.")
    return _opened_package(path)


def is_hwp(path: str) -> bool:
    """Returns whether an OLE file, or one that is older than those, is one of Hancom's."""
    with Path(path).open("rb") as file:
        head = file.read(MAX_DIRECTORY_BYTES)
    return head.startswith(HWP3) or "FileHeader".encode("utf-16-le") in head


def _reader(home: str) -> Callable[..., StructureFile]:
    module, _, name = home.partition(":")
    package = importlib.import_module(f"penstock.engines.office.{module}")
    found: Callable[..., StructureFile] = getattr(package, name)
    return found


def _opened_package(path: str) -> StructureFile:
    package = XmlPackage(path)
    kind = kind_of_package(package)
    if kind not in PACKAGES:
        package.close()
        raise BadInput("it is a ZIP without a document.", "Unpack an archive, and give the folder.")
    return _reader(PACKAGES[kind])(package)


def kind_of_package(package: XmlPackage) -> str:
    """Returns what a ZIP holds, by its parts; "" for an archive."""
    if package.has("mimetype"):
        said = package.read("mimetype", 1 << 10).decode("ascii", "replace").strip()
        for word, kind in (("opendocument.text", "odt"), ("opendocument.spreadsheet", "ods"),
                           ("opendocument.presentation", "odp"), ("epub", "epub"), ("hwp",
                           "hwpx")):  # fmt: skip
            if word in said:
                return kind
    names = package.names
    return next((kind for part, kind in PARTS if any(re.fullmatch(part, name) for name in names)), "")


def _read(path: str) -> bytes:
    data = Path(path).read_bytes()
    if len(data) > MAX_TEXT_BYTES:
        raise BadInput(f"it has {len(data):,} bytes, and {MAX_TEXT_BYTES:,} are read of plain text.")
    return data

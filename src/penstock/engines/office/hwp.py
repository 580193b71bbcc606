"""HWP 5 and HWP 3, by packages of the extra `hwp`.

rhwp turns HWP 5 into HWPX, which is then read as any; where it cannot be loaded, and for HWP 3, unhwp gives
Markdown. Both parse in this process, which can be killed and has nothing to lose.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import io
from pathlib import Path
from typing import Any

from penstock.engines.office.blocks import BlockFile, StructureFile, in_units
from penstock.engines.office.hwp_numbering import hwp_numbers
from penstock.engines.office.hwpx import read_hwpx
from penstock.engines.office.markdown import markdown_blocks
from penstock.engines.office.package import XmlPackage
from penstock.errors import BadInput, first_line, install_advice

HWP3 = b"HWP Document File V3."
MAX_DIRECTORY_BYTES = 64 << 20  # of an OLE file, in which its directory is looked for


def is_hwp(path: str) -> bool:
    """Returns whether an OLE file, or one that is older than those, is one of Hancom's."""
    with Path(path).open("rb") as file:
        head = file.read(MAX_DIRECTORY_BYTES)
    return head.startswith(HWP3) or "FileHeader".encode("utf-16-le") in head


def read_hwp(path: str) -> StructureFile:
    """Raises BadInput where the file cannot be read, and where the packages that read it are missing."""
    with Path(path).open("rb") as file:
        is_old = file.read(32).startswith(HWP3)
    rhwp = None if is_old else rhwp_package()
    if rhwp is not None:
        return _by_hwpx(rhwp, path)
    unhwp = _package("unhwp")
    if unhwp is None:
        raise BadInput("reading HWP needs unhwp and rhwp-python.", install_advice("hwp"))
    return _by_markdown(unhwp, path)


def _by_hwpx(rhwp: Any, path: str) -> StructureFile:
    try:
        data = rhwp.parse(path).to_hwpx_bytes()
    except (ValueError, OSError, RuntimeError) as exc:
        if "암호" in str(exc):
            raise BadInput("it is encrypted.", "Save it without a password.") from exc
        raise BadInput(f"it is no HWP that can be read: {first_line(exc)}.") from exc
    return read_hwpx(XmlPackage(io.BytesIO(data)), hwp_numbers(path))


def _by_markdown(unhwp: Any, path: str) -> StructureFile:
    try:
        text = unhwp.to_markdown(path)
    except Exception as exc:  # its errors are no common class; each means that the file cannot be read
        raise BadInput(f"it is no HWP that can be read: {first_line(exc)}.") from exc
    return BlockFile(in_units(markdown_blocks(text)))


def rhwp_package() -> Any:
    """Returns rhwp, or None where it is not installed or cannot be loaded."""
    with contextlib.suppress(OSError):
        # rhwp's wheel brings a FreeType that is too old for it; the system's has what it misses
        ctypes.CDLL("libfreetype.so.6", mode=ctypes.RTLD_GLOBAL)
    return _package("rhwp")


def _package(name: str) -> Any:
    """Returns a package, or None where it is not installed or cannot be loaded."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None

"""Opens a file that says itself what it holds, by what is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from penstock.engines.office.blocks import StructureFile
from penstock.engines.office.epub import read_epub
from penstock.engines.office.html_blocks import read_html
from penstock.engines.office.hwp import HWP3, read_hwp
from penstock.engines.office.hwpx import read_hwpx
from penstock.engines.office.mail import read_eml
from penstock.engines.office.markdown import read_markdown
from penstock.engines.office.odf import read_odf
from penstock.engines.office.older import read_msg, read_older
from penstock.engines.office.ooxml.docx import read_docx
from penstock.engines.office.ooxml.pptx import read_pptx
from penstock.engines.office.ooxml.xlsx import read_xlsx
from penstock.engines.office.package import XmlPackage
from penstock.engines.office.text import read_csv, read_text
from penstock.errors import BadInput, first_line

MAX_FILE_BYTES = 2 << 30
MAX_TEXT_BYTES = 256 << 20  # of a file that is read whole

MAX_DIRECTORY_BYTES = 64 << 20  # of an OLE file, in which its directory is looked for
OLDER = frozenset({"doc", "ppt", "xls"})

# what a ZIP is, by a part that no other has
PARTS: tuple[tuple[str, str], ...] = (
    (r"word/document\d*\.xml", "docx"),
    (r"ppt/presentation\d*\.xml", "pptx"),
    (r"xl/workbook\d*\.xml", "xlsx"),
    (r"Contents/content\.hpf", "hwpx"),
    (r"META-INF/container\.xml", "epub"),
)
_UNFIT = (LookupError, ValueError, TypeError, AttributeError, RecursionError, ArithmeticError)

PackageReader = Callable[[XmlPackage], StructureFile]
BytesReader = Callable[[bytes], StructureFile]
PACKAGES: Mapping[str, PackageReader] = {
    "docx": read_docx, "pptx": read_pptx, "xlsx": read_xlsx, "hwpx": read_hwpx, "epub": read_epub,
    "odt": read_odf, "ods": read_odf, "odp": read_odf,
}  # fmt: skip
TEXTS: Mapping[str, BytesReader] = {
    "html": read_html,
    "markdown": read_markdown,
    "text": read_text,
    "csv": read_csv,
    "eml": read_eml,
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
        return TEXTS[kind](_read(path))
    if kind in ("hwp", "ole") and is_hwp(path):
        return read_hwp(path)
    if kind in OLDER:
        return read_older(path, kind)
    if kind == "msg":
        return read_msg(path)
    if kind in ("ole", "rtf"):
        raise BadInput(f"files of this kind ({kind.upper()}) are not read.", "Save it as DOCX or as PDF.")
    return _opened_package(path)


def is_hwp(path: str) -> bool:
    """Whether an OLE file, or one that is older than those, is one of Hancom's."""
    with Path(path).open("rb") as file:
        head = file.read(MAX_DIRECTORY_BYTES)
    return head.startswith(HWP3) or "FileHeader".encode("utf-16-le") in head


def _opened_package(path: str) -> StructureFile:
    package = XmlPackage(path)
    kind = kind_of_package(package)
    reader = PACKAGES.get(kind)
    if reader is None:
        package.close()
        raise BadInput("it is a ZIP without a document.", "Unpack an archive, and give the folder.")
    return reader(package)


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

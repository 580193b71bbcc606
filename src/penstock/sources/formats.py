"""Tells what a file is by its first bytes.

A name decides only where bytes cannot: plain text has no signature, and a ZIP may be anything. What is in a
ZIP or in one of the older Office files is looked at by the process that reads it.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import Literal

from penstock.errors import BadInput

READABLE = (
    "Penstock reads PDF, PNG, JPEG, JPEG 2000, TIFF, WebP, BMP, GIF, AVIF and HEIC; DOCX, PPTX, XLSX,"
    " their older and open kinds, and RTF; HWP and HWPX; HTML, EPUB, Markdown, text, CSV and mail;"
    " Arrow and Parquet; WARC, WACZ, ZIP and tar."
)
Kind = Literal[
    "pdf", "png", "jpeg", "jpeg2000", "tiff", "webp", "bmp", "gif", "avif", "heic", "arrow", "parquet",
    "ooxml", "docx", "pptx", "xlsx", "odt", "ods", "odp", "hwpx", "epub", "ole", "doc", "ppt", "xls", "hwp",
    "msg", "rtf", "html",
    "markdown", "text", "csv", "eml", "warc", "wacz", "tar", "zip",
]  # fmt: skip

SAVED = ("_files", ".files", "_파일")  # what browsers add to a page's name for the folder of its pictures
HEAD_BYTES = 1024  # a PDF may begin with this much junk (PDF Reference 1.7, appendix H)
TABLES = frozenset({"arrow", "parquet"})
ARCHIVES = frozenset({"warc", "wacz", "tar", "zip"})
MAILS = frozenset({"eml", "msg"})  # their attachments are documents of their own
ARCHIVE_SUFFIXES = (".warc", ".warc.gz", ".wacz", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
TAR_SUFFIXES = (".bz2", ".xz", ".tbz2", ".txz")
MULTI_FRAME = frozenset({"tiff", "gif", "webp"})
STRUCTURES: frozenset[str] = frozenset({
    "ooxml", "docx", "pptx", "xlsx", "odt", "ods", "odp", "hwpx", "epub", "ole", "doc", "ppt", "xls", "hwp",
    "msg", "rtf", "html", "markdown", "text", "csv", "eml",
})  # fmt: skip
TABLE_SUFFIXES = (".parquet", ".arrow")
# a file with one of these suffixes claims to be readable, and is reported if it is not
SUFFIXES = (
    ".pdf", ".png", ".jpg", ".jpeg", ".jp2", ".j2k", ".jpx", ".tif", ".tiff", ".webp", ".bmp",
    ".gif", ".avif", ".heic", ".heif",
    *TABLE_SUFFIXES, *ARCHIVE_SUFFIXES,
    ".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".xlsx", ".xlsm", ".doc", ".ppt",
    ".xls",
    ".odt", ".ods", ".odp", ".hwp", ".hwpx", ".rtf", ".epub", ".html", ".htm", ".xhtml", ".eml", ".msg",
   
)  # fmt: skip
# plain text in a folder of scans is seldom what was meant: it is read where a user names it
TEXT_SUFFIXES: dict[str, Kind] = {
    ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text", ".csv": "csv", ".tsv": "csv",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".eml": "eml",
}  # fmt: skip
PACKAGES: dict[str, Kind] = {  # ZIPs by their names
    ".docx": "docx", ".docm": "docx", ".dotx": "docx", ".pptx": "pptx", ".pptm": "pptx", ".ppsx": "pptx",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".odt": "odt", ".ods": "ods", ".odp": "odp", ".hwpx": "hwpx",
    ".epub": "epub", ".wacz": "wacz",
}  # fmt: skip
OLDER: dict[str, Kind] = {".doc": "doc", ".ppt": "ppt", ".xls": "xls", ".hwp": "hwp", ".msg": "msg"}
MIMETYPES: dict[bytes, Kind] = {  # of ZIPs that say what they are in their first part
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/hwp+zip": "hwpx",
    b"application/epub+zip": "epub",
}
ZIP, OLE, HWP3 = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"HWP Document File V3."
GZIP, BZIP2, XZ = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0"
OOXML_PARTS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"xl/", b"ppt/")
MAIL = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]{1,60}:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}", re.ASCII)
MAIL_FIELDS = re.compile(
    rb"^(?:From|Received|Return-Path|MIME-Version|Message-ID|Date|Subject):", re.M | re.I
)

PICTURE_SIGNATURES: tuple[tuple[bytes, Kind], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "jpeg2000"),
    (b"\xff\x4f\xff\x51", "jpeg2000"),  # without the box around it
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"II+\0", "tiff"),  # BigTIFF
    (b"MM\0+", "tiff"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
)
BRANDS: dict[bytes, Kind] = {  # of ISO media files, after their size and "ftyp"
    **dict.fromkeys((b"avif", b"avis"), "avif"),
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"), "heic"),
}
BMP_HEADER_SIZES = (12, 16, 40, 52, 56, 64, 108, 124)
MAX_SCHEMA_BYTES = 1 << 26  # of an Arrow stream's first message; more is not Arrow


class NoPictures(BadInput):
    """The table can be read and has no column of pictures."""


def sniff(head: bytes, suffix: str = "") -> Kind | None:
    """Returns the kind of a file that begins with `head` (its first HEAD_BYTES, or all of it)."""
    if picture := sniff_picture(head):
        return picture
    if head.startswith(b"ARROW1\0\0") or _is_arrow_stream(head):
        return "arrow"
    if head.startswith(b"PAR1"):
        return "parquet"
    if archive := _sniff_archive(head, suffix):
        return archive
    if head.startswith(b"%PDF-") or (b"%PDF-" in head and not _holds_others(head, suffix)):
        return "pdf"
    return _sniff_structure(head, suffix)


def _sniff_archive(head: bytes, suffix: str) -> Kind | None:
    """Returns what an archive is by its first bytes, also where these are packed."""
    if head.startswith((BZIP2, XZ)) and suffix in TAR_SUFFIXES:
        return "tar"  # what is packed shows only with far more bytes than these
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, HEAD_BYTES)
        except zlib.error:
            return None
    if head.startswith(b"WARC/"):
        return "warc"
    return "tar" if head[257:262] == b"ustar" else None


def _holds_others(head: bytes, suffix: str) -> bool:
    """Whether a PDF that begins later is only a part: a mail's attachment, a file in an archive."""
    return head.startswith((ZIP, OLE)) or suffix in TEXT_SUFFIXES


def _sniff_structure(head: bytes, suffix: str) -> Kind | None:
    if head.startswith(ZIP):
        return _sniff_zip(head, suffix)
    if head.startswith(OLE):
        return OLDER.get(suffix, "ole")
    if head.startswith(HWP3):
        return "hwp"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"):
        return "rtf"
    return _sniff_text(head, suffix)


def _sniff_zip(head: bytes, suffix: str) -> Kind | None:
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if name == b"mimetype":
        data = head[38 + int.from_bytes(head[28:30], "little") :]
        # the longest first: a template's type begins with its document's
        found = (kind for said, kind in MIMETYPES.items() if data.startswith(said))
        return next(found, PACKAGES.get(suffix))
    return PACKAGES.get(suffix, "ooxml" if name.startswith(OOXML_PARTS) else "zip")


def _sniff_text(head: bytes, suffix: str) -> Kind | None:
    """Text is what has no zero bytes, unless it is of two bytes a letter and says so."""
    is_wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not head or (b"\0" in head and not is_wide):
        return None
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if start.startswith((b"<!doctype html", b"<html")) or (
        start.startswith(b"<?xml") and b"<html" in head.lower()
    ):
        return "html"
    kind = TEXT_SUFFIXES.get(suffix)
    if kind != "text" and kind is not None:
        return kind
    return "eml" if MAIL.match(head) and len(MAIL_FIELDS.findall(head)) > 1 else kind


def sniff_picture(head: bytes) -> Kind | None:
    """Returns the picture format of these bytes; 18 bytes are enough."""
    for signature, kind in PICTURE_SIGNATURES:
        if head.startswith(signature):
            return kind
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "webp"
    if head[4:8] == b"ftyp":
        return BRANDS.get(head[8:12])
    # two letters are a weak signature: the header after them must have a size that exists
    if (
        head.startswith(b"BM")
        and len(head) >= 18
        and head[14] in BMP_HEADER_SIZES
        and head[15:18] == b"\0\0\0"
    ):
        return "bmp"
    return None


def _is_arrow_stream(head: bytes) -> bool:
    if len(head) < 8 or not head.startswith(b"\xff\xff\xff\xff"):
        return False
    return bool(0 < struct.unpack_from("<i", head, 4)[0] < MAX_SCHEMA_BYTES)

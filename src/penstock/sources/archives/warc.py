"""Reads web archives: the documents that servers gave, named by their addresses.

Answers that are no documents (scripts, styles, pages that say that there is nothing) are passed by.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from penstock.errors import BROKEN_ZIP, BadInput, first_line, install_advice
from penstock.sources.archives.members import MAX_MEMBER_BYTES, LeftOut, Member, is_document

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

BROKEN = (*BROKEN_ZIP, OSError)
DOCUMENT_TYPES = (
    "application/pdf",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
)  # never styles or icons


def warc_members(path: str) -> Iterator[Member | LeftOut]:
    """Yields the documents of a WARC file. Raises BadInput where it is damaged."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123  a path from the parent is text
            yield from _records(file)
    except BROKEN as exc:
        raise _damaged(exc) from exc


def wacz_members(path: str) -> Iterator[Member | LeftOut]:
    """Yields the documents of all WARC files in a WACZ. Raises BadInput where it is damaged."""
    try:
        with zipfile.ZipFile(path) as package:
            for name in sorted(package.namelist()):
                if name.startswith("archive/") and name.endswith((".warc", ".warc.gz")):
                    with package.open(name) as file:
                        yield from _records(file)
    except BROKEN as exc:
        raise _damaged(exc) from exc


def _damaged(exc: Exception) -> BadInput:
    return BadInput(f"the archive is damaged ({first_line(exc)}).", "Copy or download it again.")


def _records(file: IO[bytes]) -> Iterator[Member | LeftOut]:
    try:
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError as exc:
        raise BadInput("reading web archives needs the package fastwarc.", install_advice("corpora")) from exc
    kinds = WarcRecordType.response | WarcRecordType.resource
    seen: dict[str, int] = {}
    for record in ArchiveIterator(file, record_types=kinds, parse_http=True, auto_decode="all"):
        found = _member(record)
        if isinstance(found, Member):
            found = _numbered(found, seen)
        yield found


def _member(record: WarcRecord) -> Member | LeftOut:
    """Returns a document; one that the crawler cut off, or that does not unpack, is a problem."""
    address = (record.headers.get("WARC-Target-URI") or "").strip("<>")
    kind = (record.http_content_type or record.headers.get("Content-Type") or "no type").partition(";")[0]
    status = record.http_headers.status_code if record.is_http and record.http_headers else 200
    if status != 200 or not address:
        return LeftOut(f"answer {status}" if status else kind)
    name, modified = name_of(address), _modified(record)
    try:
        data = record.reader.read(MAX_MEMBER_BYTES + 1)
    except BROKEN as exc:
        return Member(name, modified, problem=f"cannot be unpacked: {first_line(exc)}.")
    if not (kind in DOCUMENT_TYPES or is_document(data, name)):
        return LeftOut(kind)
    if len(data) > MAX_MEMBER_BYTES:
        return Member(name, modified, problem=f"is larger than {MAX_MEMBER_BYTES:,} bytes.")
    if reason := record.headers.get("WARC-Truncated"):
        return Member(name, modified, problem=f"was cut off by the crawler ({reason}).")
    return Member(name, modified, data)


def name_of(address: str) -> str:
    """Returns an address as a path: host, path and query.

    >>> name_of("https://example.org/reports/2024.pdf?v=2")
    'example.org/reports/2024.pdf_v=2'
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    path = unquote(parts.path).strip("/") or "index"
    query = f"_{parts.query}" if parts.query else ""
    return f"{parts.hostname or parts.scheme}/{path}{query}"


def _numbered(member: Member, seen: dict[str, int]) -> Member:
    """Returns the member; a later capture of an address has its number in the name."""
    count = seen[member.name] = seen.get(member.name, 0) + 1
    if count == 1:
        return member
    stem, dot, ending = member.name.rpartition(".")
    name = f"{stem}-{count}.{ending}" if dot and "/" not in ending else f"{member.name}-{count}"
    return Member(name, member.modified, member.data, member.problem)


def _modified(record: WarcRecord) -> float:
    """Returns when it was captured, so that its pages have the same ids on every machine."""
    when = record.record_date
    if when is None:
        return 0.0
    return (
        (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() if isinstance(when, datetime) else 0.0
    )

"""ZIPs of XML, the same bytes for the same parts."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
WHEN = (2024, 1, 2, 3, 4, 6)


def zipped(parts: Mapping[str, str | bytes], mimetype: str = "") -> bytes:
    """Returns a ZIP of parts. A `mimetype` comes first and unpacked, as OpenDocument and EPUB want it."""
    held = BytesIO()
    with ZipFile(held, "w") as archive:
        if mimetype:
            archive.writestr(_entry("mimetype", ZIP_STORED), mimetype)
        for name, data in parts.items():
            archive.writestr(_entry(name, ZIP_DEFLATED), data)
    return held.getvalue()


def _entry(name: str, packed: int) -> ZipInfo:
    entry = ZipInfo(name, WHEN)
    entry.compress_type = packed
    return entry


class Relations:
    """The relations of one part of an Office file; an address or a target is noted once for each use."""

    def __init__(self) -> None:
        self._rows: list[str] = []

    def add(self, kind: str, target: str, *, is_outside: bool = False) -> str:
        id = f"rId{len(self._rows) + 1}"
        mode = ' TargetMode="External"' if is_outside else ""
        self._rows.append(f'<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{escape(target)}"{mode}/>')
        return id

    def xml(self) -> str:
        return f'{XML}<Relationships xmlns="{RELATIONS}">{"".join(self._rows)}</Relationships>'


def content_types(defaults: Mapping[str, str], parts: Mapping[str, str]) -> str:
    rows = [f'<Default Extension="{name}" ContentType="{kind}"/>' for name, kind in defaults.items()]
    rows += [f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in parts.items()]
    return f'{XML}<Types xmlns="{TYPES}">{"".join(rows)}</Types>'

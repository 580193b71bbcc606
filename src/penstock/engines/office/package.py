"""Opens files that are ZIPs of XML: Office, OpenDocument, HWPX, EPUB.

Bounded: a ZIP of a few kilobytes can hold gigabytes. XML with a DTD is refused, so nothing in it can grow or
point elsewhere. Relations to the outside are kept as addresses and never opened.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import IO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from penstock.errors import BROKEN_ZIP, BadInput

MAX_MEMBERS = 100_000
MAX_XML_BYTES = 256 << 20  # of one part; the longest novel has 3 MB
MAX_PICTURE_BYTES = 64 << 20
MAX_RATIO = 1_000  # a sheet of zeros packs 1:700; beyond it, and above 10 MB, it is a bomb
RATIO_FROM = 10 << 20
MAX_DEPTH = 400  # of nested elements
SAVE_AGAIN = "Open it in its own program and save it again."
_BROKEN = (*BROKEN_ZIP, OSError)


@dataclass(frozen=True, slots=True)
class PartRelation:
    """What a part refers to: a part of the package, or an address outside of it."""

    target: str
    kind: str  # the last word of its type
    is_outside: bool


class XmlPackage:
    """An open ZIP of XML. Close it, or use it in a `with`."""

    def __init__(self, file: str | IO[bytes]) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except _BROKEN as exc:
            raise BadInput("the ZIP that it is made of is damaged.", SAVE_AGAIN) from exc
        if len(self._zip.filelist) > MAX_MEMBERS:
            count = len(self._zip.filelist)
            raise BadInput(f"it has {count:,} parts, and {MAX_MEMBERS:,} are allowed.")

    def __enter__(self) -> XmlPackage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._zip.close()

    @cached_property
    def _members(self) -> dict[str, zipfile.ZipInfo]:
        return {info.filename.replace("\\", "/").lstrip("/"): info for info in self._zip.filelist}

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def has(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str, max_bytes: int = MAX_XML_BYTES) -> bytes:
        """Returns a part. Raises BadInput where it is not there, too large, or packed like a bomb."""
        with self.open(name, max_bytes) as file:
            try:
                data = file.read(max_bytes + 1)
            except _BROKEN as exc:
                raise BadInput(f"its part {name} is damaged.", SAVE_AGAIN) from exc
        if len(data) > max_bytes:
            raise BadInput(f"its part {name} has more than {max_bytes:,} bytes.")
        return data

    def open(self, name: str, max_bytes: int = MAX_XML_BYTES) -> IO[bytes]:
        """Opens a part to be read piece by piece."""
        info = self._members.get(name)
        if info is None:
            raise BadInput(f"it has no part {name}.", SAVE_AGAIN)
        if info.flag_bits & 1:
            raise BadInput("it is encrypted.", "Save it without a password.")
        _refuse_bomb(info, max_bytes)
        try:
            return self._zip.open(info)
        except _BROKEN as exc:
            raise BadInput(f"its part {name} is damaged.", SAVE_AGAIN) from exc

    def xml(self, name: str) -> Element:
        """Returns a part's tree. Raises BadInput for what is no XML, and for a DTD."""
        return parse_xml(self.read(name), name)

    def xml_if_there(self, name: str) -> Element | None:
        """Returns the tree of a part that a file need not have."""
        return self.xml(name) if self.has(name) else None

    def related(self, relation: PartRelation | None) -> Element | None:
        """Returns the tree of a part that another refers to; None for what is outside, or not there."""
        return None if relation is None or relation.is_outside else self.xml_if_there(relation.target)

    def picture(self, name: str) -> bytes:
        """Returns a part that is a picture; nothing where it cannot be read: a text is not lost for it."""
        try:
            return self.read(name, MAX_PICTURE_BYTES)
        except BadInput:
            return b""

    def relations(self, part: str) -> dict[str, PartRelation]:
        """Returns what an OOXML part refers to, by id."""
        folder, base = posixpath.split(part)
        name = f"{folder}/_rels/{base}.rels".lstrip("/")
        if not self.has(name):
            return {}
        return {
            row.get("Id", ""): _relation(row, folder)
            for row in self.xml(name)
            if row.get("Target") is not None
        }


def relation_id(element: Element | None) -> str:
    """Returns the id of a relation that an element names: it may have another id without a namespace."""
    attributes = element.attrib if element is not None else {}
    return next((value for key, value in attributes.items() if key.endswith("}id")), "")


def _relation(row: Element, folder: str) -> PartRelation:
    target, kind = row.get("Target", ""), row.get("Type", "").rpartition("/")[2]
    if row.get("TargetMode") == "External":
        return PartRelation(target, kind, True)
    whole = target if target.startswith("/") else posixpath.join(folder, target)
    return PartRelation(posixpath.normpath(whole).lstrip("/"), kind, False)


def _refuse_bomb(info: zipfile.ZipInfo, max_bytes: int) -> None:
    if info.file_size > max_bytes:
        raise BadInput(
            f"its part {info.filename} unpacks to {info.file_size:,} bytes, and {max_bytes:,} are allowed."
        )
    if info.file_size > RATIO_FROM and info.file_size > MAX_RATIO * max(1, info.compress_size):
        raise BadInput(
            f"its part {info.filename} unpacks to {info.file_size:,} bytes from {info.compress_size:,}:"
            " no document is packed so well."
        )


class _BoundedBuilder(ElementTree.TreeBuilder):
    """Builds a tree of bounded depth. Refuses a DTD: its entities can grow without bound, and fetch files."""

    depth = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise BadInput(f"its elements are nested more than {MAX_DEPTH} deep.")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self.depth -= 1
        return super().end(tag)

    def doctype(self, *_: object) -> None:
        raise BadInput("its XML has a DTD, which no document of its kind needs.", SAVE_AGAIN)


def parse_xml(data: bytes, name: str = "the file") -> Element:
    """Returns the tree of XML bytes. Raises BadInput for what is no XML, and for a DTD."""
    parser = ElementTree.XMLParser(target=_BoundedBuilder())
    try:
        parser.feed(data)
        tree: Element = parser.close()
        return tree
    except (ElementTree.ParseError, ValueError, LookupError) as exc:
        raise BadInput(f"{name} is no XML that can be read: {exc}.", SAVE_AGAIN) from exc


def local(element: Element) -> str:
    """Returns an element's name without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """Returns an attribute by its name without a namespace: files differ in the namespaces they use."""
    if element is None:
        return default
    if name in element.attrib:
        return element.attrib[name]
    end = f"}}{name}"
    return next((value for key, value in element.attrib.items() if key.endswith(end)), default)


def number(element: Element | None, name: str, default: int = 0) -> int:
    """Returns an attribute that is a whole number, or else the default."""
    text = attribute(element, name)
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 12 else default


def child(element: Element | None, *path: str) -> Element | None:
    """Returns the first descendant by names of one level each, without namespaces."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def children(element: Element | None, name: str) -> Iterator[Element]:
    """Yields the children of a name."""
    if element is not None:
        yield from (inner for inner in element if local(inner) == name)


def text_in(element: Element | None, name: str) -> str:
    """Returns the letters of all descendants of a name."""
    return "".join(row.text or "" for row in descendants(element, name))


def descendants(element: Element | None, name: str) -> Iterator[Element]:
    if element is not None:
        yield from (inner for inner in element.iter() if local(inner) == name)

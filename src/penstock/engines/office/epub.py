"""EPUB: one unit a chapter, in the order of its spine."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from penstock.engines.office.blocks import StructureBlock, StructureUnit
from penstock.engines.office.html_blocks import html_blocks, no_picture
from penstock.engines.office.package import XmlPackage, attribute, child, children
from penstock.engines.office.text import decoded
from penstock.errors import BadInput

MAX_CHAPTER_BYTES = 32 << 20


class Chapters:
    """An open book. Chapters are read when they are asked for."""

    def __init__(self, package: XmlPackage) -> None:
        self._package = package
        roots = child(package.xml("META-INF/container.xml"), "rootfiles")
        main = next((attribute(row, "full-path") for row in children(roots, "rootfile")), "")
        if not package.has(main):
            raise BadInput("it has no list of its chapters.", "Open it in its own program and save it again.")
        tree, folder = package.xml(main), posixpath.dirname(main)
        parts = {
            attribute(row, "id"): attribute(row, "href") for row in children(child(tree, "manifest"), "item")
        }
        ids = (attribute(row, "idref") for row in children(child(tree, "spine"), "itemref"))
        # a chapter that is named and not there stays one: it fails alone and is not lost
        self._chapters = [
            posixpath.normpath(posixpath.join(folder, unquote(parts.get(id, id)))) for id in ids
        ]
        if package.has("META-INF/encryption.xml") and not any(map(package.has, self._chapters)):
            raise BadInput("it is protected against copying.")

    @property
    def num_units(self) -> int:
        return max(1, len(self._chapters))

    def close(self) -> None:
        self._package.close()

    def unit(self, index: int) -> StructureUnit:
        """Returns one chapter. Raises BadInput where it cannot be read."""
        blocks: list[StructureBlock] = []
        if self._chapters:
            name = self._chapters[index]
            text = decoded(self._package.read(name, MAX_CHAPTER_BYTES))
            blocks = html_blocks(text, lambda source: self._picture(name, source))
        return StructureUnit(blocks=tuple(blocks))

    def _picture(self, chapter: str, source: str) -> bytes:
        if source.startswith("data:"):
            return no_picture(source)
        name = posixpath.normpath(
            posixpath.join(posixpath.dirname(chapter), unquote(source.partition("#")[0]))
        )
        return self._package.picture(name) if self._package.has(name) else b""

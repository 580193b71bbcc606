"""The pictures of a converted document: photos, charts, drawings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from PIL import Image

from penstock.box import Box
from penstock.converted.pages import CropFolder
from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.captions import VISUAL
from penstock.documents.docjson.model import Block
from penstock.page import Page
from penstock.region import shortened


@dataclass(frozen=True, slots=True)
class Figure:
    """One picture. `kind` is graph, diagram or complex_image; `text` is what is written in it."""

    page: int
    kind: str
    caption: str
    text: str
    box: Box  # on its page, in pixels: left, top, right, bottom
    path: str  # relative to the folder of `Document.save`
    _workspace: CropFolder = field(repr=False, compare=False)  # the file lives as long as this

    def __repr__(self) -> str:
        return f"<Figure {self.kind} on page {self.page}: {shortened(self.caption or self.text)}>"

    @property
    def image(self) -> Image.Image:
        """The picture, with its pixels loaded."""
        with Image.open(self._workspace.path / self.path) as picture:
            picture.load()
            return picture

    def _repr_jpeg_(self) -> bytes:
        return (self._workspace.path / self.path).read_bytes()


def figures_of(assembler: Assembler, pages: Iterable[Page], workspace: CropFolder) -> list[Figure]:
    """Returns the pictures of the body that were cut out, in reading order."""
    found: list[Figure] = []
    for page in pages:
        piece = assembler.page(page)
        texts = {block.id: block.text for block in piece.blocks}
        paths = {asset.block_id: asset.path for asset in piece.assets}
        found += [
            _figure(block, texts, paths[block.id], workspace)
            for block in piece.blocks
            if block.id in paths and _is_figure(block)
        ]
    return found


def _is_figure(block: Block) -> bool:
    return block.layer == "body" and block.category in VISUAL and block.category != "table"


def _figure(block: Block, texts: Mapping[str, str], path: str, workspace: CropFolder) -> Figure:
    caption = " ".join(texts[id] for id in block.caption_ids)
    return Figure(block.page_no, block.category, caption, block.text, block.bbox.px, path, workspace)

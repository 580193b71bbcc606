"""Puts a document together from its pages while they are read: DocJSON that streams.

`Assembler.page` turns each page into blocks and finished chunks at once; what spans pages (sections,
references, joins) is small and comes at the end. So 2,000 pages take the memory of a few.

    doc = assemble("report.pdf", items)
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from penstock.documents.docjson.captions import VISUAL
from penstock.documents.docjson.chunks import Chunker
from penstock.documents.docjson.model import (
    Block,
    Chunk,
    DocAsset,
    DocJSON,
    DocOrigin,
    DocPage,
    Enrichment,
    Join,
    Producer,
    Relation,
    Section,
)
from penstock.documents.docjson.page_blocks import PageBlocks, page_blocks
from penstock.documents.docjson.page_breaks import Continued, is_continuation
from penstock.documents.docjson.references import References, caption_key, mentions
from penstock.documents.docjson.sections import Heading, Sections
from penstock.page import Page
from penstock.scripts import HANGUL

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
MIMETYPES = {
    "pdf": "application/pdf", "image": "image/*",
    "docx": _OFFICE + "wordprocessingml.document", "pptx": _OFFICE + "presentationml.presentation",
    "xlsx": _OFFICE + "spreadsheetml.sheet", "odt": _OPEN + "text", "ods": _OPEN + "spreadsheet",
    "odp": _OPEN + "presentation", "hwp": "application/x-hwp", "hwpx": "application/hwp+zip",
    "doc": "application/msword", "ppt": "application/vnd.ms-powerpoint", "xls": "application/vnd.ms-excel",
    "epub": "application/epub+zip", "rtf": "application/rtf", "html": "text/html", 
    "markdown": "text/markdown",
    "text": "text/plain", "csv": "text/csv", "eml": "message/rfc822", "msg": "application/vnd.ms-outlook",
}  # fmt: skip
UNCITING = frozenset({"caption", "furniture", "contents"})  # roles whose words name no other block
EnrichmentOf = Callable[[str], Enrichment | None]


@dataclass(slots=True)
class AssembledPage:
    """What one page adds to its document."""

    page: DocPage
    blocks: list[Block]
    relations: list[Relation]
    assets: list[DocAsset]
    chunks: list[Chunk]
    joins: list[Join]
    keys: dict[str, str]  # block id -> key of its enrichment


@dataclass(slots=True)
class Tail:
    """What is known only at the end."""

    sections: list[Section]
    joins: list[Join]
    chunks: list[Chunk]


@dataclass(slots=True)
class Assembler:
    """One document. Call `page` for each page in order, then `finish` once, then read `head`."""

    name: str
    enrichment_of: EnrichmentOf = lambda key: None
    producer: Producer = field(default_factory=Producer)
    title: str = ""
    _sections: Sections = field(default_factory=Sections)
    _continued: Continued = field(default_factory=Continued)
    _chunker: Chunker = field(init=False)
    _counts: Counter[str] = field(default_factory=Counter)
    _letters: Counter[str] = field(default_factory=Counter)
    _references: References = field(default_factory=References)
    _ids: hashlib._Hash = field(default_factory=hashlib.sha256)
    _origin: DocOrigin = field(default_factory=DocOrigin)
    _index: int = 0

    def __post_init__(self) -> None:
        self._chunker = Chunker(self.name)

    def page(self, item: Page) -> AssembledPage:
        made = page_blocks(item, self._index, bool(self.title))
        self._note_page(item)
        texts = {block.id: block.text for block in made.blocks}
        relations = made.relations + self._link(made, texts) + self._continued.page(made.blocks)
        named = {id for block in made.blocks for id in (*block.caption_ids, *block.footnote_ids)}
        chunks: list[Chunk] = []
        for block in made.blocks:
            self._place(block, made)
            if block.layer == "body" and (found := self.enrichment_of(made.keys[block.id])) is not None:
                block.enrichment = found
                _decide_by_model(block, found.figure_type)
            chunks += self._chunker.add(block, self._sections.path, texts, named)
            self._counts[block.category] += 1
        self._index += len(made.blocks)
        joins = self._continued.ended()
        return AssembledPage(made.page, made.blocks, relations, made.assets, chunks, joins, made.keys)

    def chunks(self, pages: Iterable[Page]) -> Iterator[Chunk]:
        """Yields the chunks of a whole document, as they are finished."""
        for page in pages:
            yield from self.page(page).chunks
        yield from self.finish().chunks

    @property
    def sections(self) -> list[Section]:
        """The sections opened so far; those still open have no end yet."""
        return self._sections.done

    def finish(self) -> Tail:
        return Tail(
            sections=self._sections.finish(self._index),
            joins=self._continued.finish(),
            chunks=self._chunker.finish(),
        )

    def head(self) -> DocJSON:
        """Returns the document without its lists."""
        return DocJSON(
            doc_id=self._ids.hexdigest(),
            name=self.name,
            title=self.title,
            languages=[name for name, count in self._letters.most_common() if count > 20],
            origin=self._origin,
            producer=self.producer,
            counts=dict(sorted(self._counts.items())),
        )

    def _note_page(self, item: Page) -> None:
        self._ids.update(f"{item.id}\n".encode("utf-8", "replace"))
        self._origin.page_count += 1
        self._origin.path = self._origin.path or item.uri
        self._origin.mimetype = self._origin.mimetype or MIMETYPES.get(item.media, "")

    def _place(self, block: Block, made: PageBlocks) -> None:
        """Opens a section at a heading; every block knows the section it stands in."""
        if block.category == "text_header":
            self.title = block.text
            block.level = 0
        elif block.category == "text_section":
            heading = Heading(
                block.id,
                block.text,
                block.doc_index,
                block.page_no,
                height=made.heights.get(block.id, 0.0),
                hashes=made.hashes.get(block.id, 0),
            )
            block.level = self._sections.open(heading).level
        if block.layer == "body":
            self._sections.reach(block.page_no)
        block.section_id = self._sections.current_id
        if block.doc_index < SAMPLE:
            for script, found in _letters(block.text):
                self._letters[script] += found

    def _link(self, made: PageBlocks, texts: dict[str, str]) -> list[Relation]:
        """Returns the references this page settles, to its own captions and those of other pages."""
        found: list[Relation] = []
        for block in made.blocks:
            if block.category in VISUAL and block.caption_ids:
                caption = " ".join(texts[id] for id in block.caption_ids)
                key = caption_key(caption)
                if key is not None:
                    found += self._references.name(key, block.id)
                if is_continuation(caption):
                    block.issues.append("continued")
            elif block.category == "text_paragraph" and block.role not in UNCITING:
                for key in mentions(block.text):
                    found += self._references.mention(key, block.id)
        return found


def _decide_by_model(block: Block, kind: str) -> None:
    """Takes the category from a model, where neither the label nor the caption decided."""
    if block.category_source == "label" and block.category == "complex_image":
        if kind == "graph":
            block.category, block.category_source = "graph", "model"
        elif kind == "diagram":
            block.category, block.category_source = "diagram", "model"


_HANGUL_RUN = re.compile(f"[{HANGUL}]+")
_LATIN_RUN = re.compile("[A-Za-z]+")
SAMPLE = 200  # characters of a block, and blocks of a document: languages need no more


def _letters(text: str) -> Iterator[tuple[str, int]]:
    sample = text[:SAMPLE]
    yield "ko", 0 if sample.isascii() else sum(map(len, _HANGUL_RUN.findall(sample)))
    yield "en", sum(map(len, _LATIN_RUN.findall(sample)))


def assemble(
    name: str,
    items: Iterable[Page],
    enrichment_of: EnrichmentOf = lambda key: None,
    producer: Producer | None = None,
) -> DocJSON:
    """Returns a whole document in memory. For long ones, and for files, see docjson/file.py."""
    assembler = Assembler(name, enrichment_of, producer or Producer())
    pieces = [assembler.page(item) for item in items]
    tail = assembler.finish()
    doc = assembler.head()
    doc.pages = [piece.page for piece in pieces]
    doc.blocks = [block for piece in pieces for block in piece.blocks]
    doc.sections = tail.sections
    doc.relations = [relation for piece in pieces for relation in piece.relations]
    doc.joins = [join for piece in pieces for join in piece.joins] + tail.joins
    doc.assets = [asset for piece in pieces for asset in piece.assets]
    doc.chunks = [chunk for piece in pieces for chunk in piece.chunks] + tail.chunks
    return doc

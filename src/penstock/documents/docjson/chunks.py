"""Pieces of a document for retrieval: running text by section, tables and pictures each for itself.

Fed with blocks in reading order; holds one open text chunk at a time. Headings are in the path of their
section and a table of contents is left out; every other word of the body is in a chunk. A table's says its
caption, its header and its rows; a long table becomes several that repeat the header. A picture's says its
caption, what is written in it, and what pass 2 found out.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain

from penstock.addresses.locator import Locator
from penstock.documents.docjson.captions import VISUAL
from penstock.documents.docjson.model import Block, Chunk, ChunkKind, ChunkPlace
from penstock.documents.docjson.references import sentences
from penstock.documents.docjson.table import header_depth, rows_of

BUDGET = 350  # estimated tokens of a chunk: most embedders take 512


def estimate_tokens(text: str) -> int:
    """About what a multilingual tokeniser makes of it: 0.7 a CJK character, 1.4 a Latin word of six.

    Counted by bytes, since every sentence is: a CJK character has three in UTF-8, Latin has one.
    """
    wide = (len(text.encode("utf-8", "replace")) - len(text)) / 2
    return round(0.7 * wide + 1.4 / 6 * (len(text) - wide)) + 1


class Chunker:
    """`add` returns the chunks that are finished by a block; `finish` the last."""

    def __init__(self, document: str = "") -> None:
        self._document = document
        self._count = 0
        self._section: list[str] = []
        self._texts: list[str] = []
        self._blocks: list[Block] = []
        self._tokens = 0

    def add(
        self, block: Block, section: Sequence[str], texts: Mapping[str, str], named: Container[str] = ()
    ) -> list[Chunk]:
        """Takes the next block. `texts` are the page's; `named` blocks go with the block they describe."""
        if block.layer == "furniture" or block.role == "contents" or block.id in named:
            return []
        done: list[Chunk] = []
        if list(section) != self._section:
            done += self.finish()
            self._section = list(section)
        if block.category in VISUAL:
            return done + self._own(block, texts)
        if block.category in ("text_header", "text_section") or not block.text.strip():
            return done  # a heading is in its section's path
        for piece, tokens in _pieces(block.text):
            if self._texts and self._tokens + tokens > BUDGET:
                done += self.finish()
            self._texts.append(piece)
            self._tokens += tokens
            if not self._blocks or self._blocks[-1] is not block:
                self._blocks.append(block)
        return done

    def finish(self) -> list[Chunk]:
        if not self._texts:
            return []
        chunk = self._chunk("text", "\n".join(self._texts), self._blocks, self._tokens)
        self._texts, self._blocks, self._tokens = [], [], 0
        return [chunk]

    def _own(self, block: Block, texts: Mapping[str, str]) -> list[Chunk]:
        caption = " ".join(texts.get(id, "") for id in block.caption_ids).strip()
        notes = [texts.get(id, "") for id in block.footnote_ids]
        enrichment = block.enrichment
        said = [enrichment.summary.ko, enrichment.summary.en] if enrichment else []
        if block.table is not None and block.table.cells:
            bodies = _table_texts(block)
        else:
            visible = enrichment.visible if enrichment else ""
            written = "\n".join(part for part in (block.text, visible) if part)
            bodies = [piece for piece, _ in _pieces(written)]
        kind: ChunkKind = "table" if block.category == "table" else "visual"
        made = []
        for number, body in enumerate(bodies):
            parts = [caption, body, *(notes + said if number == 0 else [])]
            text = "\n".join(part for part in parts if part)
            if text:
                made.append(self._chunk(kind, text, [block]))
        return made

    def _chunk(self, kind: ChunkKind, text: str, blocks: Sequence[Block], tokens: int = 0) -> Chunk:
        self._count += 1
        keywords = [
            word
            for block in blocks
            if block.enrichment
            for word in (*block.enrichment.keywords.ko, *block.enrichment.keywords.en)
        ]
        return Chunk(
            id=f"c{self._count:05d}",
            locator=str(Locator(document=self._document, chunk=self._count)),
            kind=kind,
            text=text,
            block_ids=[block.id for block in blocks],
            places=[
                ChunkPlace(
                    locator=block.locator,
                    page_no=block.page_no,
                    norm999=block.bbox.norm999,
                    confidence=block.confidence,
                )
                for block in blocks
            ],
            section_path=list(self._section),
            page_span=(blocks[0].page_no, blocks[-1].page_no),
            keywords=list(dict.fromkeys(keywords)),
            asset_ids=[block.asset_id for block in blocks if block.asset_id],
            token_estimate=tokens or estimate_tokens(text),
        )


def _pieces(text: str) -> list[tuple[str, int]]:
    """Returns a paragraph, or groups of its sentences where it is too long, each with its tokens."""
    whole = estimate_tokens(text)
    if whole <= BUDGET:
        return [(text, whole)]
    pieces: list[tuple[str, int]] = []
    for sentence in chain.from_iterable(map(_parts, sentences(text))):
        tokens = estimate_tokens(sentence)
        if pieces and pieces[-1][1] + tokens <= BUDGET:
            last, size = pieces[-1]
            pieces[-1] = (f"{last} {sentence}", size + tokens)
        else:
            pieces.append((sentence, tokens))
    return pieces


def _parts(sentence: str) -> Iterator[str]:
    """Yields a sentence longer than a chunk in parts, cut between words where there are any."""
    while (tokens := estimate_tokens(sentence)) > BUDGET:
        most = max(1, len(sentence) * BUDGET // tokens)
        at = sentence.rfind(" ", most // 2, most)
        at = at if at > 0 else most
        yield sentence[:at].rstrip()
        sentence = sentence[at:].lstrip()
    yield sentence


def _table_texts(block: Block) -> list[str]:
    table = block.table
    assert table is not None
    lines = [" | ".join(cell.replace("\n", " ") for cell in row) for row in rows_of(table)]
    depth = header_depth(table)
    head, rows = lines[:depth], lines[depth:]
    pieces, open_rows, size = [], list(head), 0
    for row in rows:
        tokens = estimate_tokens(row)
        if size and size + tokens > BUDGET:
            pieces.append("\n".join(open_rows))
            open_rows, size = list(head), 0
        open_rows.append(row)
        size += tokens
    return [*pieces, "\n".join(open_rows)]

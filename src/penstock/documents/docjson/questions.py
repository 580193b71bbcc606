"""What pass 2 is asked: each table and picture of a document with its surroundings.

The surroundings are the section's path, the sentences anywhere that cite it ("그림 3"), and its
neighbours in reading order, across page breaks. Two passes over the pages, a page or two in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import cast

from penstock.documents.docjson.assemble import AssembledPage, Assembler
from penstock.documents.docjson.captions import VISUAL
from penstock.documents.docjson.model import Block, VisualCategory
from penstock.documents.docjson.references import Key, caption_key, mentions, sentences
from penstock.documents.docjson.table import header_depth, rows_of
from penstock.page import Page
from penstock.scripts import is_mostly_korean

BEFORE, AFTER = 2, 1  # neighbours in reading order
MAX_NEIGHBOUR = 300  # characters; the nearest sentences say most
MAX_SENTENCE = 240  # characters kept of one that cites
MAX_CITING = 3  # sentences kept of those that cite one figure
MAX_ROWS = 200
KOREAN_PART = 0.1  # of the letters; code and names make most of some Korean pages Latin
MAX_SAMPLED = 20_000  # characters that show a document's language
DEFINITELY_TEXT = frozenset({"", "list"})


@dataclass(frozen=True, slots=True)
class BlockQuestion:
    """One block to enrich. `key` names it in the ledger of pass 2."""

    key: str
    page_id: str
    page_no: int
    block_id: str
    category: VisualCategory
    caption: str
    section: tuple[str, ...]
    content: str
    rows: tuple[tuple[str, ...], ...]
    head: int
    context: tuple[str, ...]
    context_ids: tuple[str, ...]
    crop: str  # relative to OUT, or ""
    needs_eyes: bool  # whether a vision engine has something to add
    languages: tuple[str, ...] = ("ko", "en")  # in which its summary and keywords are written


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the whole document when its blocks are asked about."""

    cited: dict[Key, list[tuple[str, str]]]
    languages: tuple[str, ...]
    paths: dict[str, tuple[str, ...]]  # of sections


def questions(name: str, pages: Callable[[], Iterable[Page]]) -> Iterator[BlockQuestion]:
    """Yields the questions of one document. `pages` gives its pages in order, and is called twice."""
    known = _Known(*_first_look(name, pages()), {})
    before: list[Block] = []
    for piece, following in pairwise(chain(_pieces(name, pages(), known), [None])):
        assert piece is not None  # only the last one is
        own = _flow(piece.blocks)
        flow = [*before, *own, *(_flow(following.blocks)[:AFTER] if following else [])]
        for block in piece.blocks:
            if block.category in VISUAL and block.layer == "body":
                yield _asked(piece, block, flow, known)
        before = (before + own)[-BEFORE:]


def _pieces(name: str, pages: Iterable[Page], known: _Known) -> Iterator[AssembledPage]:
    """Yields the pages as blocks, and notes the sections that they open."""
    assembler = Assembler(name)
    for page in pages:
        piece = assembler.page(page)
        opened = assembler.sections[len(known.paths) :]
        known.paths.update((section.id, tuple(section.path)) for section in opened)
        yield piece


def _first_look(name: str, items: Iterable[Page]) -> tuple[dict[Key, list[tuple[str, str]]], tuple[str, ...]]:
    """For each figure or table the sentences that speak of it, with their blocks; and what to write in.

    A Korean document is written about in Korean and English, any other in English.
    """
    assembler = Assembler(name)
    cited: dict[Key, list[tuple[str, str]]] = {}
    sample = ""
    for item in items:
        blocks = assembler.page(item).blocks
        if len(sample) < MAX_SAMPLED:
            sample += " ".join(block.text for block in blocks)
        for block in _flow(blocks):
            if not mentions(block.text):
                continue
            for sentence in sentences(block.text):
                for key in mentions(sentence):
                    told = cited.setdefault(key, [])
                    if len(told) < MAX_CITING:
                        told.append((block.id, sentence[:MAX_SENTENCE]))
    return cited, ("ko", "en") if is_mostly_korean(sample, KOREAN_PART) else ("en",)


def _flow(blocks: Iterable[Block]) -> list[Block]:
    return [
        block
        for block in blocks
        if block.category == "text_paragraph" and block.role in DEFINITELY_TEXT and block.layer == "body"
    ]


def _asked(piece: AssembledPage, block: Block, flow: list[Block], known: _Known) -> BlockQuestion:
    texts = {other.id: other.text for other in piece.blocks}
    told = (*block.caption_ids, *block.footnote_ids)
    caption = " ".join(texts[id] for id in block.caption_ids)
    key = caption_key(caption)
    near = _near(block, flow)
    context = list(known.cited.get(key, ())) if key else []
    named = {*told, *(id for id, _ in context)}
    context += [(other.id, other.text[-MAX_NEIGHBOUR:]) for other in near if other.id not in named]
    table = block.table
    rows = rows_of(table)[:MAX_ROWS] if table is not None else []
    notes = " ".join(texts[id] for id in block.footnote_ids)
    return BlockQuestion(
        key=piece.keys[block.id],
        page_id=piece.page.page_id,
        page_no=block.page_no,
        block_id=block.id,
        category=cast(VisualCategory, block.category),  # only visual blocks are asked about
        caption=caption,
        section=known.paths.get(block.section_id, ()),
        content="\n".join(part for part in (block.text, notes) if part),
        rows=tuple(tuple(row) for row in rows),
        head=header_depth(table) if table is not None else 0,
        context=tuple(text for _, text in context),
        context_ids=tuple(dict.fromkeys(id for id, _ in context)),
        crop=next((asset.path for asset in piece.assets if asset.block_id == block.id), ""),
        needs_eyes=block.category != "table" or table is None or not table.cells,
        languages=known.languages,
    )


def _near(block: Block, flow: list[Block]) -> list[Block]:
    """Returns the text before and after a block in reading order."""
    above = [other for other in flow if other.doc_index < block.doc_index][-BEFORE:]
    below = [other for other in flow if other.doc_index > block.doc_index][:AFTER]
    return [*above, *below]

"""A grounded answer as regions of its page, in the one vocabulary of labels; all attempts as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace

from penstock.box import Box
from penstock.documents.grounding.answer import Grounded, GroundedAnswer, read_grounded
from penstock.documents.grounding.grid import GRID, GridBox
from penstock.page import PageAttempt
from penstock.region import Asset, Region, asset

LABELS = {
    "title": "paragraph_title", "sub_title": "paragraph_title", "text": "text", "list": "text", "": "text",
    "table": "table", "table_caption": "figure_title", "image_caption": "figure_title",
    "figure_caption": "figure_title", "chart_caption": "figure_title", "caption": "figure_title",
    "table_footnote": "vision_footnote", "image_footnote": "vision_footnote", "footnote": "footnote",
    "image": "image", "figure": "image", "chart": "chart", "seal": "seal", "equation": "display_formula",
    "formula": "display_formula", "header": "header", "footer": "footer", "page_number": "number",
    "reference": "reference_content", "code": "algorithm", "abstract": "abstract",
}  # fmt: skip
RAW = "raw"  # the folder of answers
NOTES = {
    "loop": "The model repeated itself here; what it repeated was left out.",
    "cut_table": "The answer ended inside this table.",
}
_PARAGRAPHS = re.compile(r"\n\s*\n")
_HEADING = re.compile(r"(#{1,6})\s+")


def read_page(text: str, width: int, height: int, names_words: bool = False) -> GroundedAnswer:
    """Returns the answer's blocks; splits one without boxes into headings, tables and paragraphs."""
    answer = read_grounded(text, width, height, names_words)
    if answer.dialect != "none":
        return answer
    blocks = tuple(piece for block in answer.blocks for piece in _plain(block))
    return replace(answer, blocks=blocks)


def regions_of(
    answer: GroundedAnswer, width: int, height: int, first_page: bool, reader: str
) -> tuple[Region, ...]:
    """Returns regions in the order of the answer. The first title of a document's first page is its title."""
    titled = not first_page
    regions = []
    for index, block in enumerate(answer.blocks):
        label = LABELS.get(block.label, "text")
        if block.label == "title" and not titled and block.level <= 1:
            label, titled = "doc_title", True
        regions.append(_region(block, label, index, width, height, reader))
    return tuple(regions)


def shifted(blocks: tuple[Grounded, ...], top: float, share: float) -> tuple[Grounded, ...]:
    """Returns blocks of a part of the page on the page's grid; it begins at `top` and is `share` high."""

    def place(box: GridBox) -> GridBox:
        x0, y0, x1, y1 = box
        return x0, round(GRID * top + y0 * share), x1, round(GRID * top + y1 * share)

    return tuple(replace(block, boxes=tuple(place(box) for box in block.boxes)) for block in blocks)


def _region(block: Grounded, label: str, index: int, width: int, height: int, reader: str) -> Region:
    native = block.label or "unlabelled"
    return Region(
        label=label,
        box=_pixels(block.box, width, height),
        index=index,
        native_label=f"{native} {'#' * block.level}" if block.level else native,
        content=block.content or None,
        reader=reader,
        note=" ".join(NOTES[issue] for issue in block.issues if issue in NOTES),
    )


def _pixels(box: GridBox, width: int, height: int) -> Box:
    x0, y0, x1, y1 = box
    across, down = width / GRID, height / GRID
    # a box without area still has to be seen
    return x0 * across, y0 * down, max(x1 * across, x0 * across + 1), max(y1 * down, y0 * down + 1)


def _plain(block: Grounded) -> list[Grounded]:
    pieces = []
    for part in _PARAGRAPHS.split(block.content):
        text = part.strip()
        head = _HEADING.match(text)
        if head:
            title = " ".join(text[head.end() :].split())
            pieces.append(Grounded("title" if len(head[1]) == 1 else "sub_title", title, (), len(head[1])))
        elif text:
            is_table = text[:6].lower() == "<table" or text.startswith("|")
            pieces.append(Grounded("table" if is_table else "", text))
    return pieces


def raw_answer(attempts: Sequence[tuple[PageAttempt, str]]) -> Asset:
    """Keeps what a model said in all attempts at a page: a JSON list, in a file named by its content."""
    rows = [{**asdict(attempt), "text": text} for attempt, text in attempts]
    return asset(RAW, json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace"), "json")

"""Which caption and which footnote belong to which picture or table of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.documents.docjson.model import Block, Relation
from penstock.documents.docjson.references import caption_key

VISUAL = frozenset({"table", "graph", "diagram", "complex_image"})
MAX_DISTANCE = 120  # grid units (an eighth of the page) between a caption and what it names
OTHER_KIND = 60  # grid units a figure's caption is worse off at a table: screenshots of tables exist
BELOW = {"table": 15, "figure": -15}  # captions of tables stand above them, of figures below
ONLY_NUMBER = re.compile(
    r"\s*[\[<〈《【(]?\s*\D{1,8}\s?[A-Z]?\d{1,3}(?:[-.–]\d{1,3}){0,3}\s*[\]>〉》】).:]*\s*"
)


def link(blocks: Sequence[Block]) -> list[Relation]:
    """Sets `caption_ids` and `footnote_ids` of the page's blocks; returns the relations.

    Numbered captions choose first, nearest first, and a picture takes one of them; a caption without a
    number goes to a picture that has none.
    """
    targets = [block for block in blocks if block.category in VISUAL and block.layer == "body"]
    captions = [block for block in blocks if block.role == "caption"]
    numbered = [caption for caption in captions if caption_key(caption.text)]
    others = [caption for caption in captions if not caption_key(caption.text)]
    found = _pair(numbered, targets, blocks) + _pair(others, targets, blocks)
    notes = [block for block in blocks if block.role == "footnote" and "vision" in block.label]
    return found + [relation for note in notes for relation in _footnote(note, targets)]


def _pair(captions: Sequence[Block], targets: Sequence[Block], blocks: Sequence[Block]) -> list[Relation]:
    pairs = [
        (distance, place, caption, target)
        for place, caption in enumerate(captions)
        for target in targets
        if (distance := _distance(caption, target)) is not None
    ]
    taken: set[str] = {id for target in targets for id in target.caption_ids}
    relations: list[Relation] = []
    for distance, _, caption, target in sorted(pairs, key=lambda pair: pair[:2]):
        if caption.id in taken or target.caption_ids:
            continue
        parts = [caption, *_rest_of(caption, blocks)] if ONLY_NUMBER.fullmatch(caption.text) else [caption]
        sure = round(max(0.0, 1 - max(0.0, distance) / (2 * MAX_DISTANCE)), 2)
        for part in parts:
            part.role = "caption"
            taken.add(part.id)
            target.caption_ids.append(part.id)
            relations.append(Relation(type="caption_of", source=part.id, target=target.id, score=sure))
    return relations


def _rest_of(caption: Block, blocks: Sequence[Block]) -> list[Block]:
    """Returns what stands on the row of a caption that is a number only, from left to right."""
    _, top, right, bottom = caption.bbox.norm999
    row = [
        block
        for block in blocks
        if block is not caption
        and block.category == "text_paragraph"
        and block.bbox.norm999[0] >= right - 5
        and abs(block.bbox.norm999[1] - top) < 8
        and abs(block.bbox.norm999[3] - bottom) < 8
    ]
    return sorted(row, key=lambda block: block.bbox.norm999[0])


def _distance(caption: Block, target: Block) -> float | None:
    """Returns grid units; None where they are too far apart or side by side."""
    left, top, right, bottom = caption.bbox.norm999
    x0, y0, x1, y1 = target.bbox.norm999
    if min(right, x1) - max(left, x0) <= 0:
        return None
    gap = max(0, top - y1, y0 - bottom)
    if gap > MAX_DISTANCE:
        return None
    key = caption_key(caption.text)
    kind = _native_kind(caption) or (key[0] if key else "")
    is_table = target.category == "table"
    other = OTHER_KIND if kind and (kind == "table") != is_table else 0
    wrong_side = BELOW["table" if is_table else "figure"] * (1 if top >= y1 - 10 else -1)
    return gap + other + wrong_side


def _native_kind(caption: Block) -> str:
    if caption.native_label.startswith("table"):
        return "table"
    return "figure" if caption.native_label.startswith(("image", "figure", "chart")) else ""


def _footnote(note: Block, targets: Sequence[Block]) -> list[Relation]:
    """Links a footnote to the nearest picture or table above it."""
    x0, top, x1, _ = note.bbox.norm999
    above = [
        (top - block.bbox.norm999[3], block)
        for block in targets
        if -10 <= top - block.bbox.norm999[3] <= MAX_DISTANCE
        and min(x1, block.bbox.norm999[2]) > max(x0, block.bbox.norm999[0])
    ]
    if not above:
        return []
    _, target = min(above, key=lambda pair: pair[0])
    target.footnote_ids.append(note.id)
    return [Relation(type="footnote_of", source=note.id, target=target.id)]

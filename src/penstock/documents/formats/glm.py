r"""Regions of a document in the GLM-OCR SDK's result format: its JSON rows and its Markdown.

    for page in written(page_blocks(blocks_of(item.regions, item.width, item.height)) for item in items):
        page.rows, page.markdown, page.pictures

Made after SDK 0.1.5 and equal to it on the same regions, but for three things. A block is never written
twice (the SDK joins one to two hyphens); a formula that begins with \theta keeps it (the SDK takes its \t
for a tab); and whether a joined word is a word is always decided by its letters, as the SDK does where the
wordfreq package is missing. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.box import Box
from penstock.documents.formats.glm_content import formatted, formula_number
from penstock.region import FORMULA_LABELS, MARGIN_LABELS, Region

PICTURES = "imgs"  # the folder beside the Markdown
ALIGNED = 10  # of the 1000 units of a page: how far the left edges of one list's items may differ

_GROUPS = {
    "image": ("chart", "image"),
    "table": ("table",),
    "formula": tuple(FORMULA_LABELS),
    "text": (
        "abstract", "algorithm", "content", "doc_title", "figure_title", "formula_number", "paragraph_title",
        "reference_content", "seal", "text", "vertical_text", "vision_footnote",
    ),
}  # fmt: skip
_GROUP_OF = {label: group for group, labels in _GROUPS.items() for label in labels}
_WORD = re.compile(r"[a-z][a-z'-]{2,30}")
_BULLET = "- "


@dataclass(frozen=True, slots=True)
class GlmBlock:
    """One region on the SDK's grid. `label` is its group, or its own where it has none."""

    label: str
    native_label: str
    content: str | None
    bbox: tuple[int, int, int, int]
    crop_path: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page's rows and Markdown, and its pictures as names in PICTURES with the crops they show."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    markdown: str = ""
    pictures: dict[str, str] = field(default_factory=dict)


def blocks_of(regions: Iterable[Region], width: int, height: int, *, margins: bool = False) -> list[GlmBlock]:
    """Returns the regions in reading order, as recognised. `margins` keeps headers, footers and the like."""
    return [
        _block_of(region, width, height)
        for region in sorted(regions, key=lambda region: region.index)
        if margins or region.label not in MARGIN_LABELS
    ]


def page_blocks(blocks: Iterable[GlmBlock]) -> list[GlmBlock]:
    """Returns what a page shows: contents formatted, empty blocks gone, what belongs together joined."""
    dressed = (_dressed(block) for block in blocks)
    shown = [block for block in dressed if block.label == "image" or (block.content or "").strip()]
    return _with_missing_bullets(_hyphens_joined(_numbers_merged(shown)))


def written(pages: Iterable[Sequence[GlmBlock]]) -> Iterator[WrittenPage]:
    """Rows and Markdown of one document's pages; pictures are counted through all of them."""
    num_pictures = 0
    for number, blocks in enumerate(pages):
        page = _written_page(number, blocks, num_pictures)
        num_pictures += len(page.pictures)
        yield page


def grid(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    """Pixels on the 0..1000 grid as the SDK counts them: cut off, not rounded."""
    x0, y0, x1, y1 = box
    return int(x0 / width * 1000), int(y0 / height * 1000), int(x1 / width * 1000), int(y1 / height * 1000)


def _block_of(region: Region, width: int, height: int) -> GlmBlock:
    content = region.content or None  # an empty answer is no answer: no bare "#", no empty formula
    label = _GROUP_OF.get(region.label, region.label)
    if region.crop_path and content is None:
        label = "image"  # a seal or a header's logo that was kept and not read
    bbox = grid(region.box, width, height)
    return GlmBlock(label, region.label, content, bbox, region.crop_path)


def _dressed(block: GlmBlock) -> GlmBlock:
    if block.content is None:
        return block
    return replace(block, content=formatted(block.content, block.label, block.native_label))


def _numbers_merged(blocks: Sequence[GlmBlock]) -> list[GlmBlock]:
    """Makes the number next to a formula its tag. Leaves out a number alone."""
    merged = []
    waiting = iter(range(len(blocks)))
    for i in waiting:
        block = blocks[i]
        after = blocks[i + 1] if i + 1 < len(blocks) else None
        if after is not None and {_role(block), _role(after)} == {"formula", "number"}:
            formula, number = (block, after) if _role(block) == "formula" else (after, block)
            merged.append(_tagged(formula, number))
            next(waiting)
        elif _role(block) != "number":
            merged.append(block)
    return merged


def _role(block: GlmBlock) -> str:
    if block.native_label == "formula_number" and block.content is not None:
        return "number"
    return "formula" if block.label == "formula" else ""


def _tagged(formula: GlmBlock, number: GlmBlock) -> GlmBlock:
    assert formula.content is not None and number.content is not None
    body = formula.content.removesuffix("\n$$")
    return replace(formula, content=f"{body} \\tag{{{formula_number(number.content)}}}\n$$")


def _hyphens_joined(blocks: Sequence[GlmBlock]) -> list[GlmBlock]:
    """Joins a text that ends in a hyphen to the next in small letters, if that makes a word."""
    following = _next_small(blocks)
    taken: set[int] = set()
    joined = []
    for i, block in enumerate(blocks):
        if i in taken:
            continue
        j = following[i]
        text = _joined(block, blocks[j]) if j is not None and j not in taken else None
        if text is not None and j is not None:
            taken.add(j)
            block = replace(block, content=text)
        joined.append(block)
    return joined


def _next_small(blocks: Sequence[GlmBlock]) -> list[int | None]:
    """For each block, the next text that begins with a small letter."""
    following: list[int | None] = [None] * len(blocks)
    small = None
    for i in reversed(range(len(blocks))):
        following[i] = small
        if blocks[i].label == "text" and (blocks[i].content or "").lstrip()[:1].islower():
            small = i
    return following


def _joined(block: GlmBlock, after: GlmBlock) -> str | None:
    text = (block.content or "").rstrip()
    if block.label != "text" or not text.endswith("-"):
        return None
    rest = (after.content or "").lstrip()
    before = text[:-1].rsplit(maxsplit=1)
    if not before or not _is_word(before[-1] + rest.split(maxsplit=1)[0]):
        return None
    return text[:-1] + rest


def _is_word(joined: str) -> bool:
    word = joined.lower()
    return _WORD.fullmatch(word) is not None and "--" not in word and "''" not in word


def _with_missing_bullets(blocks: list[GlmBlock]) -> list[GlmBlock]:
    """Makes a paragraph between two items of a list, at their left edge, an item too."""
    for i in range(1, len(blocks) - 1):
        before, block, after = blocks[i - 1 : i + 2]
        if not _is_item(block) and _lists(before, block) and _lists(after, block):
            blocks[i] = replace(block, content=_BULLET + (block.content or ""))
    return blocks


def _is_item(block: GlmBlock) -> bool:
    return (block.content or "").startswith(_BULLET)


def _lists(item: GlmBlock, block: GlmBlock) -> bool:
    """Returns whether `item` is a list's item and `block` a paragraph at its left edge."""
    both_text = item.native_label == block.native_label == "text"
    return both_text and _is_item(item) and abs(item.bbox[0] - block.bbox[0]) <= ALIGNED


def _written_page(number: int, blocks: Sequence[GlmBlock], num_pictures: int) -> WrittenPage:
    page = WrittenPage()
    parts = []
    for index, block in enumerate(blocks):
        row = _row(index, block)
        page.rows.append(row)
        if block.label != "image":
            parts.append(block.content or "")
        elif block.crop_path:
            count = num_pictures + len(page.pictures)
            name = f"cropped_page{number}_idx{count}.jpg"
            row["image_path"] = f"{PICTURES}/{name}"
            page.pictures[name] = block.crop_path
            parts.append(f"![Image {number}-{count}]({PICTURES}/{name})")
    return replace(page, markdown="\n\n".join(parts))


def _row(index: int, block: GlmBlock) -> dict[str, Any]:
    x0, y0, x1, y1 = block.bbox
    return {
        "index": index,
        "label": block.label,
        "bbox_2d": [x0, y0, x1, y1],
        "polygon": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]],
        "content": block.content,
        "native_label": block.native_label,
    }

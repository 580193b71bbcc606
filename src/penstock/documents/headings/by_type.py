"""Finds headings by their type, where a layout model called them text or a running header.

A heading is set larger or bolder than the page's running text. Lines of such type at the start or in the
middle of a text region are cut out of it. What begins with a bullet, or is a sentence in the body's own
type, is no heading whatever the model says. For words of a text layer; lines read by OCR tell no type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import groupby, pairwise

from penstock.box import Box, enclosing
from penstock.documents.layout.labels import (
    CAPTION,
    HEADING_SIZE,
    MAX_CAPTION,
    NOTE_SIZE,
    NUMBERED,
    SECTION_NAME,
    PageFacts,
    heading_by_type,
)
from penstock.documents.text.blocks import Fragment, TextBlock, body_type, fragment, text_block
from penstock.documents.text.code import is_code
from penstock.documents.text.lines import around, rows_of_words
from penstock.region import HEADING_LABELS, Region, Word

MAY_HEAD = frozenset({"text", "header", "reference_content"})  # what the model calls headings that it misses
SMALL_BODY = 1 / 60  # of the page's height: larger type is a title, however common
LARGE_HEADER = 1.15  # times the body's type: running headers are smaller
ENOUGH = 300  # letters outside of tables that tell the body's type; fewer may be headings alone
BOLD_BODY = 0.4  # of a page's letters: where so many are bold, bold tells nothing
NEXT_LINE = 0.5  # of the size: white between two parts of one heading
SAME_SIZE = 0.04  # share by which sizes differ within one type
BULLET = re.compile(r"^[•‣◦▪■□◆◇○●▶►➢✓✔※∙◾▷·]|^[-–—*]\s")

WithWords = tuple[Region, tuple[Word, ...]]  # a region and the words of the layer that it holds


def corrected_headings(
    regions: Sequence[WithWords], unlined: Set[str], width: float, height: float
) -> list[WithWords]:
    """Returns the regions with their words, headings cut out of the text where they stand in it.

    The words of `unlined` regions do not say what type the page is set in, unless there are few others.
    """
    words = [word for region, own in regions if region.label not in unlined for word in own]
    if sum(len(word.text) for word in words) < ENOUGH:
        words = [word for _, own in regions for word in own]
    facts, bold_tells = page_facts(words, width, height), not is_mostly_bold(words)
    return joined_headings([part for each in regions for part in _parts(*each, facts, bold_tells)])


def joined_headings(parts: Sequence[WithWords]) -> list[WithWords]:
    """Returns the parts, a heading that a network saw line by line as one."""
    found: list[WithWords] = []
    for region, words in parts:
        if found and _goes_on(found[-1], (region, words)):
            above, own = found[-1]
            box = enclosing([above.box, region.box])
            found[-1] = (replace(above, box=box, crop=None), (*own, *words))
        else:
            found.append((region, words))
    return found


def _goes_on(above: WithWords, below: WithWords) -> bool:
    """Whether a heading is the next line of the one before: in its type, right under it, with no number."""
    if not {above[0].label, below[0].label} <= HEADING_LABELS or not (above[1] and below[1]):
        return False
    last, first = fragment(rows_of_words(above[1])[-1]), fragment(rows_of_words(below[1])[0])
    alike = abs(last.size - first.size) <= SAME_SIZE * first.size and last.font == first.font
    white = max(first.box[0] - last.box[2], last.box[0] - first.box[2], first.box[1] - last.box[3])
    follows = first.box[1] >= last.box[1] and white < NEXT_LINE * first.size
    return alike and follows and NUMBERED.match(first.text) is None


def _parts(region: Region, words: tuple[Word, ...], page: PageFacts, bold_tells: bool) -> list[WithWords]:
    region = replace(region, label=label_by_type(region, words, page, bold_tells))
    parts = split_by_type(words, page, bold_tells) if region.label == "text" else []
    if len(parts) < 2 or region.content is not None:
        return [(region, words)]
    return [_part(region, own, heads) for heads, own in parts]


def _part(region: Region, words: Sequence[Word], heads: bool) -> WithWords:
    label = "paragraph_title" if heads else region.label
    return replace(region, label=label, box=box_of_part(region.box, words), crop=None), tuple(words)


def page_facts(words: Sequence[Word], width: float, height: float) -> PageFacts:
    """The page's body type."""
    size, font = body_type(words)
    return PageFacts(
        width=width, height=height, body=min(size or height / 80, SMALL_BODY * height), font=font
    )


def is_mostly_bold(words: Sequence[Word]) -> bool:
    total = sum(len(word.text) for word in words)
    return sum(len(word.text) for word in words if word.bold) > BOLD_BODY * total


def label_by_type(region: Region, words: Sequence[Word], page: PageFacts, bold_tells: bool) -> str:
    """The region's label, corrected by its words: a heading that the model missed, or one that is none."""
    if not words:
        return region.label
    block = text_block([fragment(row) for row in rows_of_words(words)])
    if region.label in MAY_HEAD and is_code(words, len(block.lines)):
        return "algorithm"
    if region.label in HEADING_LABELS:
        return "text" if _is_no_heading(block, page) else region.label
    if region.label not in MAY_HEAD or not is_heading(block, page, bold_tells):
        return region.label
    # the bold name of a chapter may run at the top of every page
    if region.label == "header" and block.size < LARGE_HEADER * page.body:
        return region.label
    return "paragraph_title"


def is_heading(block: TextBlock, page: PageFacts, bold_tells: bool) -> bool:
    text = block.text
    if BULLET.match(text) or "://" in text or (CAPTION.match(text) and len(text) <= MAX_CAPTION):
        return False
    told = block if bold_tells else replace(block, bold=False)
    return heading_by_type(told, text.rstrip("?!"), page) is not None


def _is_no_heading(block: TextBlock, page: PageFacts) -> bool:
    """Whether the model took an item of a list, or a line in the body's own type, for a heading.

    Such a line is a heading only if its words say so: a number, the name of a section, capitals.
    """
    text = block.text
    if BULLET.match(text):
        return True
    plain = not block.bold and block.size <= (1 + SAME_SIZE) * page.body and block.font == page.font
    small = block.size < NOTE_SIZE * page.body
    return (plain or small) and not (NUMBERED.match(text) or SECTION_NAME.match(text) or text.isupper())


def split_by_type(words: Sequence[Word], page: PageFacts, bold_tells: bool) -> list[tuple[bool, list[Word]]]:
    """Returns the words of a text region as runs of lines, and of each whether it is a heading.

    One run where no heading stands in the region.
    """
    lines = [fragment(row) for row in rows_of_words(words)]
    runs = [list(run) for _, run in groupby(lines, key=lambda line: _style(line, page, bold_tells))]
    told = [
        is_heading(text_block(run), page, bold_tells) and _stands_out(run, page, bold_tells) for run in runs
    ]
    if not any(told) or all(told):
        return [(False, list(words))]
    found: list[tuple[bool, list[Word]]] = []
    for heads, run in zip(told, runs, strict=True):
        own = [word for line in run for word in line.words]
        if found and not heads and not found[-1][0]:
            found[-1][1].extend(own)
        else:
            found.append((heads, own))
    return found


def _style(line: Fragment, page: PageFacts, bold_tells: bool) -> tuple[bool, bool]:
    return line.size >= HEADING_SIZE * page.body, bold_tells and line.bold


def _stands_out(run: Sequence[Fragment], page: PageFacts, bold_tells: bool) -> bool:
    """Whether lines inside a text region are surely a heading: large or bold, and short of the line's end."""
    large, bold = _style(run[0], page, bold_tells)
    return (large or bold) and len(run) <= 2 and _is_level(run)


def _is_level(run: Sequence[Fragment]) -> bool:
    return all(below.box[1] > above.box[1] for above, below in pairwise(run))


def box_of_part(region: Box, words: Sequence[Word]) -> Box:
    """The part of a region's box that these words take, as wide as the region."""
    _, y0, _, y1 = around(words)
    return (region[0], y0, region[2], y1)

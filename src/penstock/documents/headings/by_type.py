"""Finds headings among the lines of a text layer, whatever region a layout model drew around them.

A heading is cut out of the text that it stands in, and what the model took for one may be text. Its lines are
weighed with those of the whole page (score.py). Lines read by OCR tell no type: by_wording.py is for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import groupby

from penstock.box import Box, Pixels, enclosing
from penstock.documents.headings.score import ALL, TextRun, WeighedLines, bold_share
from penstock.documents.layout.labels import NUMBERED, PageFacts
from penstock.documents.text.blocks import Fragment, body_type, fragment
from penstock.documents.text.code import is_code
from penstock.documents.text.lines import around, rows_of_words
from penstock.documents.text.runs import runs_of
from penstock.region import HEADING_LABELS, Region, Word

# what a layout model may call a heading, or the text that a heading stands in
MAY_HEAD = HEADING_LABELS | {"text", "header", "footer", "reference_content", "figure_title"}
MAY_BE_CODE = frozenset({"text", "header", "reference_content"})
SMALL_BODY = 1 / 60  # of the page's height: larger type is a title, however common
ENOUGH = 300  # letters outside of tables that tell the body's type; fewer may be headings alone
NEXT_LINE = 0.6  # of the size: white between two lines of one heading
SAME_SIZE = 0.04  # share by which sizes differ within one type
NUMBER_REACH = 3.0  # of the size: white between a chapter's number and its name
CHAPTER_NUMBER = re.compile(r"[^\W\d_]{2,}\s+(?:\d{1,3}|[IVX]{1,5}|[A-Z])[.:]?")

WithWords = tuple[Region, tuple[Word, ...]]  # a region and the words of the layer that it holds


def corrected_headings(
    regions: Sequence[WithWords], unlined: Set[str], width: float, height: float, pixels: Pixels | None
) -> list[WithWords]:
    """Returns the regions with their words, headings cut out of the text where they stand in it."""
    texts = [(_as_code(region, words), words) for region, words in regions]
    runs, score = weighed_runs(texts, unlined, width, height, pixels)
    return joined_headings(
        [part for each, own in zip(texts, runs, strict=True) for part in _parts(each, own, score)]
    )


def weighed_runs(
    regions: Sequence[WithWords], unlined: Set[str], width: float, height: float, pixels: Pixels | None
) -> tuple[list[tuple[TextRun, ...]], WeighedLines]:
    """Returns each region's runs of lines that may be headings, and what weighs them with the whole page.

    The words of `unlined` regions do not say what type the page is set in, unless there are few others.
    """
    words = [word for region, own in regions if region.label not in unlined for word in own]
    if sum(len(word.text) for word in words) < ENOUGH:
        words = [word for _, own in regions for word in own]
    runs = [_runs(region, own) if region.label in MAY_HEAD else () for region, own in regions]
    others = [region.box for region, _ in regions if region.label in unlined]
    facts = page_facts(words, width, height)
    return runs, WeighedLines([run for own in runs for run in own], others, facts, pixels)


def page_facts(words: Sequence[Word], width: float, height: float) -> PageFacts:
    """The page's body type."""
    size, font = body_type(words)
    return PageFacts(
        width=width, height=height, body=min(size or height / 80, SMALL_BODY * height), font=font
    )


def _as_code(region: Region, words: Sequence[Word]) -> Region:
    is_typed = region.label in MAY_BE_CODE and bool(words) and is_code(words, len(rows_of_words(words)))
    return replace(region, label="algorithm") if is_typed else region


def _runs(region: Region, words: Sequence[Word]) -> tuple[TextRun, ...]:
    lines = [fragment(row) for row in rows_of_words(words)]
    return tuple(TextRun(tuple(run), region.label) for run in runs_of(lines, _is_next))


def _is_next(run: Sequence[Fragment], line: Fragment) -> bool:
    """Whether a line goes on in the type of the lines above it."""
    return _follows(run[-1], line) and _is_bold(run[-1]) == _is_bold(line)


def _follows(last: Fragment, line: Fragment) -> bool:
    """Whether a line stands right under another of its size, with no number of its own."""
    alike = abs(last.size - line.size) <= SAME_SIZE * line.size
    white = max(line.box[0] - last.box[2], last.box[0] - line.box[2], line.box[1] - last.box[3])
    is_under = line.box[1] >= last.box[1] and white < NEXT_LINE * line.size
    return alike and is_under and NUMBERED.match(line.text) is None


def _is_bold(line: Fragment) -> bool:
    return bold_share(line.words) >= ALL


def _parts(whole: WithWords, runs: Sequence[TextRun], score: WeighedLines) -> list[WithWords]:
    """Returns the region as runs of headings and of text; each heading is one."""
    region, words = whole
    told = [score.is_heading(run) for run in runs]
    if region.content is not None or not any(told) or (all(told) and len(told) == 1):
        return [(_labelled(region, any(told), bool(runs)), words)]
    found: list[WithWords] = []
    for heads, group in groupby(zip(told, runs, strict=True), key=lambda pair: pair[0]):
        own = [run.words for _, run in group]
        for part in own if heads else [[word for run in own for word in run]]:
            box = box_of_part(region.box, part)
            found.append((replace(_labelled(region, heads, True), box=box, crop=None), tuple(part)))
    return found


def _labelled(region: Region, heads: bool, is_weighed: bool) -> Region:
    if not is_weighed or heads == (region.label in HEADING_LABELS):
        return region
    label = "paragraph_title" if heads else "text"
    return replace(region, label=label) if heads or region.label in HEADING_LABELS else region


def joined_headings(parts: Sequence[WithWords]) -> list[WithWords]:
    """Returns the parts, the lines of a heading as one, a chapter's number with its name."""
    heads = [part for part in parts if part[0].label in HEADING_LABELS and part[1]]
    heads.sort(key=lambda part: part[0].box[1])
    whole: dict[int, list[WithWords]] = {}  # by the first of them
    for part in heads:
        above = next((own for own in whole.values() if _goes_on(own[-1], part)), None)
        if above is None:
            whole[id(part)] = [part]
        else:
            above.append(part)
    later = {id(part) for own in whole.values() for part in own[1:]}
    return [_joined(whole.get(id(part), [part])) for part in parts if id(part) not in later]


def _joined(parts: Sequence[WithWords]) -> WithWords:
    if len(parts) == 1:
        return parts[0]
    box = enclosing([region.box for region, _ in parts])
    label = "doc_title" if any(region.label == "doc_title" for region, _ in parts) else "paragraph_title"
    words = tuple(word for _, own in parts for word in own)
    return replace(parts[0][0], label=label, box=box, crop=None), words


def _goes_on(above: WithWords, below: WithWords) -> bool:
    """Whether a heading is the next line of another, or the name of a chapter of which that is the number."""
    rows = rows_of_words(above[1])
    last, first = fragment(rows[-1]), fragment(rows_of_words(below[1])[0])
    if len(rows) == 1 and CHAPTER_NUMBER.fullmatch(last.text):
        is_near = 0 <= first.box[1] - last.box[3] < NUMBER_REACH * first.size
        return is_near and first.box[0] < last.box[2] and last.box[0] < first.box[2]
    return _follows(last, first) and last.font == first.font


def box_of_part(region: Box, words: Sequence[Word]) -> Box:
    """The part of a region's box that these words take, as wide as the region."""
    _, y0, _, y1 = around(words)
    return (region[0], y0, region[2], y1)

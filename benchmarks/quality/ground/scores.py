"""Scores one page by what is known of it, and a source by its pages.

    text      edit distance of blocks by OmniDocBench v1.5's rules, of typewriting the whole page's
    letters   part of the true pairs of letters that were read, in any order
    known     part of the pairs of letters read that the page's source holds
    tables    TEDS by the same rules, of all pages and by the rules that a page draws
    false tables  pages without a table on which one was found
    headings  F1 and precision over a source's pages: texts that are at least 0.8 alike
    order     edit distance of the reading order; formulas: edit distance of displayed LaTeX
    korean    character error rate of whole pages without spaces
    turned    pages of which half of the letters at least were read; values: those that occur in the text
    boxes     F1 of blocks at an overlap of 0.5, whatever their labels

A source's score is the mean over its pages, but that headings are counted over all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from rapidfuzz import fuzz

from benchmarks.quality.ground.sample import Sample, Truth
from benchmarks.quality.ground.table_rules import ACROSS, BARE, RULED, kind_of_tables
from penstock.box import Box
from penstock.page import Page
from penstock.scripts import has_hangul
from penstock_eval.benchmarks.omnidocbench import page_values
from penstock_eval.benchmarks.pages import composed, plain_text
from penstock_eval.metrics.invented import letters_of
from penstock_eval.metrics.pipe_tables import with_html_tables
from penstock_eval.metrics.text import korean_error_rates, normalised_edit
from penstock_eval.omnidocbench.page import score_page
from penstock_eval.omnidocbench.protocols import V1_5
from penstock_eval.omnidocbench.truth import TruePage

LESS_IS_BETTER = frozenset({"text", "order", "formulas", "korean", "false tables"})
SCORES = (
    "text", "letters", "known", "tables", RULED, ACROSS, BARE, "false tables", "headings",
    "heading precision", "order", "formulas", "korean", "turned", "values", "boxes",
)  # fmt: skip
Thing = TypeVar("Thing")
ALIKE = 80.0  # of 100: below it a heading is another heading
UPRIGHT = 0.5
OVERLAP = 0.5
_TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
_ESCAPED = re.compile(r"\\([^\w\s])")
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)  # in which # begins a remark
# letters that older print has, as they are read today
_MODERN = {"ſ": "s", "ꝛ": "r", "aͤ": "ä", "oͤ": "ö", "uͤ": "ü", "ꝑ": "p"}
_OFFICIAL = {"text_edit": "text", "table_teds": "tables", "formula_edit": "formulas"}


@dataclass(frozen=True, slots=True)
class Headings:
    """How many headings were found, of those read and of those there are."""

    matched: int
    read: int
    true: int


@dataclass(frozen=True, slots=True)
class Scored:
    sample: Sample
    values: dict[str, float]
    headings: Headings | None = None


def score(sample: Sample, page: Page | None) -> Scored:
    """Scores a page; one that could not be read counts as empty."""
    truth, markdown = sample.truth(), modern(with_tables_spelled(page.markdown) if page else "")
    values = _of_blocks(truth, markdown) | _of_letters(truth, markdown)
    if "tables" in values and (kind := kind_of_tables(sample)):
        values[kind] = values["tables"]
    if truth.values:
        values["values"] = _values_found(truth.values, markdown)
    if truth.boxes:
        values["boxes"] = _boxes_found(truth.boxes, [r.box for r in page.regions] if page else [])
    found = None if truth.headings is None else count_headings(truth.headings, markdown)
    return Scored(sample, values, found)


def with_tables_spelled(markdown: str) -> str:
    """Returns Markdown with pipe tables as HTML: the official reading of pipes loses cells and marks."""
    spelled = with_html_tables(markdown)
    return spelled if spelled == markdown else _TABLE.sub(_without_escapes, spelled)


def _without_escapes(found: re.Match[str]) -> str:
    return _ESCAPED.sub(r"\1", found[0])


def modern(text: str) -> str:
    for old, new in _MODERN.items():
        text = text.replace(old, new)
    return text


def _of_blocks(truth: Truth, markdown: str) -> dict[str, float]:
    if not truth.elements:
        return {}
    elements = tuple(replace(e, text=modern(e.text)) for e in truth.elements)
    scored = page_values(score_page(TruePage("", elements, ()), markdown, V1_5, table_deadline_s=20.0))
    values = {ours: scored[name] for name, ours in _OFFICIAL.items() if name in scored}
    if not any(e.text for e in elements):  # what is left are formulas that were read as text
        values.pop("text", None)
    if truth.ordered and "order_edit" in scored:
        values["order"] = scored["order_edit"]
    if truth.complete and not any(e.html for e in elements):
        values["false tables"] = float("<table" in markdown)
    text = " ".join(e.text for e in elements)
    if has_hangul(text):
        truths, said = [composed(text)], [composed(plain_text(markdown))]
        values["korean"] = min(1.0, korean_error_rates(truths, said)["cer_without_spaces"])
    return values


def _of_letters(truth: Truth, markdown: str) -> dict[str, float]:
    values: dict[str, float] = {}
    said = letters_of(plain_text(markdown))
    if truth.text:
        values["text"] = normalised_edit(letters_of(modern(truth.text)), said)
    if truth.letters:
        values["letters"] = _held(letters_of(modern(truth.letters)), said)
    if truth.source_text:
        values["known"] = _held(said, letters_of(truth.source_text)) if said else 0.0
    if truth.upright:
        values["turned"] = float(_held(letters_of(truth.upright), said) >= UPRIGHT)
    return values


def _held(wanted: str, held: str) -> float:
    """Returns the part of the pairs of letters of `wanted` that `held` has."""
    pairs = Counter(pairwise(wanted))
    return (pairs & Counter(pairwise(held))).total() / max(1, pairs.total())


def _values_found(values: Sequence[str], markdown: str) -> float:
    """Amounts count with a comma or a point, with and without marks of thousands."""
    said = _folded(plain_text(markdown))
    return sum(_folded(value) in said for value in values) / len(values)


def _folded(text: str) -> str:
    return re.sub(r"[\s.,'|\u00a0\u202f]+", "", text).casefold()


def count_headings(truth: Sequence[str], markdown: str) -> Headings:
    wanted = [letters_of(modern(text)) for text in truth]
    given = [text for heading in _HEADING.findall(_CODE.sub("", markdown)) if (text := letters_of(heading))]
    return Headings(_matched(wanted, given, fuzz.ratio, ALIKE), len(given), len(wanted))


def _boxes_found(truth: Sequence[Box], found: Sequence[Box]) -> float:
    return 2 * _matched(truth, found, overlap, OVERLAP) / (len(truth) + len(found))


def _matched(
    truth: Sequence[Thing], found: Sequence[Thing], alike: Callable[[Thing, Thing], float], enough: float
) -> int:
    """Returns how many are matched one to one, the most alike first."""
    pairs = [(alike(a, b), i, j) for i, a in enumerate(truth) for j, b in enumerate(found)]
    lefts: set[int] = set()
    rights: set[int] = set()
    for ratio, i, j in sorted(pairs, reverse=True):
        if ratio >= enough and i not in lefts and j not in rights:
            lefts.add(i)
            rights.add(j)
    return len(lefts)


def overlap(first: Box, second: Box) -> float:
    """Returns intersection over union."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(0.0, width) * max(0.0, height)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (first, second))
    return shared / (areas - shared) if areas > shared else 0.0


def source_score(name: str, pages: Sequence[Scored]) -> float | None:
    """Returns the score of a source's pages; None where none of them has it."""
    if name in ("headings", "heading precision"):
        return _headings_score(name, [page.headings for page in pages if page.headings])
    values = [page.values[name] for page in pages if name in page.values]
    return float(np.mean(values)) if values else None


def _headings_score(name: str, counts: Sequence[Headings]) -> float | None:
    matched, read, true = (sum(getattr(c, part) for c in counts) for part in ("matched", "read", "true"))
    if not true or (name == "heading precision" and not read):
        return None
    return matched / read if name == "heading precision" else 2 * matched / (read + true)


def mean_score(name: str, by_source: Sequence[Sequence[Scored]]) -> float | None:
    """Returns the mean over sources, each of which counts alike."""
    values = [value for pages in by_source if (value := source_score(name, pages)) is not None]
    return float(np.mean(values)) if values else None

"""TEDS and TEDS-S: tree edit distance similarity of HTML tables (Zhong et al. 2020, PubTabNet).

TEDS = 1 - distance / max(nodes), where nodes are all elements below `<table>`, inline tags inside
cells included. Cells compare by tag, spans, and the normalised edit distance of their tokens (a tag
is one token, a character is one token). TEDS-S ignores what cells hold.

Both sides must be whole documents (`<html><body><table>`), as the official metric demands; `document`
wraps a bare table. A pair that cannot be compared, or not before its deadline, scores 0.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

import numpy as np
from lxml import etree
from lxml import html as lxml_html
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from penstock.errors import DeadlinePassed
from penstock_eval.metrics.text import collapse_spaces
from penstock_eval.metrics.tree import Floats, Ints, TreeShape, tree_distance, tree_shape

DEADLINE_S = 120.0  # OmniDocBench v1.6 scores 0 after this
MAX_PAIRS = 60_000_000  # two tables of 7,000 cells: half a gigabyte of distances
_BREAK = re.compile(r"<br\s*/?>")
TAG_TOKENS = 0xF0000  # first private-use code point: a tag becomes one character nobody writes


@dataclass(frozen=True, slots=True)
class TableTree:
    """A table as the metric sees it: one label and one content string for each node, in postorder."""

    shape: TreeShape
    labels: tuple[tuple[str, int, int], ...]  # tag, colspan, rowspan (0 where the tag is not td)
    contents: tuple[str, ...]
    size: int  # elements below <table>


class TagTokens:
    """Gives every tag a character of its own. One alphabet serves both sides of a comparison."""

    def __init__(self) -> None:
        self._characters: dict[str, str] = {}

    def __getitem__(self, tag: str) -> str:
        if tag not in self._characters:
            self._characters[tag] = chr(TAG_TOKENS + len(self._characters))
        return self._characters[tag]

    def whole(self, content: str) -> str:
        """A cell's content as it is compared."""
        return content


class SpelledTags(TagTokens):
    """DP-Bench's reading: a tag counts letter by letter, breaks and runs of white space are one space."""

    def __getitem__(self, tag: str) -> str:
        return tag

    def whole(self, content: str) -> str:
        return collapse_spaces(_BREAK.sub("\n", unescape(content)))


@dataclass(frozen=True, slots=True)
class TedsScore:
    """Similarities from 0 to 1. `note` says why a pair could not be compared and scores 0."""

    teds: float
    structure: float
    note: str = ""


def teds_both(
    predicted: str, truth: str, deadline_s: float = DEADLINE_S, *, spelled: bool = False
) -> TedsScore:
    """Returns TEDS and TEDS-S of two documents. `spelled` reads tables as DP-Bench does, `<th>` as `<td>`."""
    if not predicted or not truth:
        return TedsScore(0.0, 0.0, "one side has no table")
    tokens = SpelledTags() if spelled else TagTokens()
    try:
        ours = read_table(predicted, tokens, header_cells=spelled)
        theirs = read_table(truth, tokens, header_cells=spelled)
    except (etree.LxmlError, ValueError) as exc:
        return TedsScore(0.0, 0.0, f"not a table: {exc}")
    return compare_tables(ours, theirs, deadline_s)


def compare_tables(ours: TableTree, theirs: TableTree, deadline_s: float = DEADLINE_S) -> TedsScore:
    """Returns TEDS and TEDS-S of two trees that were read with the same tokens."""
    most = max(ours.size, theirs.size)
    if most == 0:
        return TedsScore(0.0, 0.0, "empty tables")
    if len(ours.labels) * len(theirs.labels) > MAX_PAIRS:
        return TedsScore(0.0, 0.0, f"too large to compare: {ours.size} and {theirs.size} nodes")
    same_labels = ours.labels == theirs.labels and np.array_equal(ours.shape.leftmost, theirs.shape.leftmost)
    if same_labels and ours.contents == theirs.contents:
        return TedsScore(1.0, 1.0)
    started = time.monotonic()
    apart = _different_labels(ours, theirs)
    try:
        structure = 0.0 if same_labels else tree_distance(ours.shape, theirs.shape, apart.copy(), deadline_s)
        rename = _with_contents(apart, ours, theirs)
        left_s = deadline_s - (time.monotonic() - started)
        content = tree_distance(ours.shape, theirs.shape, rename, left_s)
    except DeadlinePassed:
        return TedsScore(0.0, 0.0, f"comparing the tables took longer than {deadline_s:g} s")
    return TedsScore(1.0 - content / most, 1.0 - structure / most)


def document(table: str) -> str:
    """Wraps a bare `<table>` in the whole document that the metric expects."""
    return f"<html><body>{table}</body></html>"


def read_table(source: str, tokens: TagTokens, *, header_cells: bool = False) -> TableTree:
    """Returns the tree of the document's first table. Raises ValueError if there is none."""
    parser = lxml_html.HTMLParser(remove_comments=True, encoding="utf-8")
    root = lxml_html.fromstring(source, parser=parser)
    found = root.xpath("body/table")
    if not isinstance(found, list) or not found:
        raise ValueError("no <table> directly in <body>")
    table = found[0]
    assert isinstance(table, etree._Element)
    if header_cells:
        for cell in list(table.iter("th")):
            cell.tag = "td"
    size = sum(1 for _ in table.iter(etree.Element)) - 1
    elements: list[etree._Element] = [table]
    children: list[list[int]] = []
    for element in elements:  # grows while it is walked: breadth first, no recursion to overflow
        below = [] if element.tag == "td" else [e for e in element if isinstance(e.tag, str)]
        children.append(list(range(len(elements), len(elements) + len(below))))
        elements.extend(below)
    outline, order = tree_shape(children)
    labels = tuple(_label(elements[node]) for node in order)
    contents = tuple(_content(elements[node], tokens) for node in order)
    return TableTree(outline, labels, contents, size)


def _label(element: etree._Element) -> tuple[str, int, int]:
    tag = str(element.tag)
    if tag != "td":
        return tag, 0, 0
    return tag, int(element.get("colspan", "1")), int(element.get("rowspan", "1"))


def _content(element: etree._Element, tokens: TagTokens) -> str:
    """What a cell holds, between its own tags; nothing for other elements."""
    if element.tag != "td":
        return ""
    return tokens.whole((element.text or "") + "".join(_inner(element, tokens)))


def _inner(cell: etree._Element, tokens: TagTokens) -> Iterator[str]:
    for event, element in etree.iterwalk(cell, events=("start", "end")):
        if element is cell or not isinstance(element.tag, str):
            continue
        if event == "start":
            yield tokens[f"<{element.tag}>"] + (element.text or "")
            continue
        if element.tag != "unk":  # the metric's own name for a token it does not know
            yield tokens[f"</{element.tag}>"]
        if element.tag != "td":
            yield element.tail or ""


def _different_labels(ours: TableTree, theirs: TableTree) -> Floats:
    number: dict[tuple[str, int, int], int] = {}
    left = np.array([number.setdefault(label, len(number)) for label in ours.labels])
    right = np.array([number.setdefault(label, len(number)) for label in theirs.labels])
    different: Floats = (left[:, None] != right[None, :]).astype(np.float64)
    return different


def _with_contents(apart: Floats, ours: TableTree, theirs: TableTree) -> Floats:
    """Rename costs: 1 where labels differ, else the distance of the contents. Changes `apart`."""
    texts, left = _distinct(ours.contents)
    others, right = _distinct(theirs.contents)
    distances = process.cdist(
        texts, others, scorer=Levenshtein.normalized_distance, dtype=np.float64, workers=-1
    )
    np.maximum(apart, distances[left][:, right], out=apart)
    return apart


def _distinct(contents: tuple[str, ...]) -> tuple[list[str], Ints]:
    """Returns each content once, and its number for every node: tables repeat contents."""
    number: dict[str, int] = {}
    which = np.array([number.setdefault(content, len(number)) for content in contents], dtype=np.int64)
    return list(number), which

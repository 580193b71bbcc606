"""MHS and MHS-S: whether two Markdown documents have the same sections in the same order.

The rule of the DP-Bench harness (opendataloader-bench): a document is a flat list of headings, of
whatever level, each holding one block of all the text under it; text before the first heading is a
block of its own. MHS = 1 - tree edit distance / nodes of the larger tree; MHS-S looks at the tree
alone. A truth without headings has no score; a prediction without any scores 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from penstock_eval.metrics.text import collapse_spaces
from penstock_eval.metrics.tree import Floats, tree_distance, tree_shape

_HEADING = re.compile(r"^#{1,6}\s+(.*)$")


@dataclass(frozen=True, slots=True)
class HeadingTree:
    """A document's headings and blocks; node 0 is the document itself."""

    tags: tuple[str, ...]
    texts: tuple[str, ...]
    children: tuple[tuple[int, ...], ...]

    @property
    def has_headings(self) -> bool:
        return "heading" in self.tags


@dataclass(frozen=True, slots=True)
class HeadingScore:
    mhs: float
    structure: float


def heading_similarity(truth: str, predicted: str) -> HeadingScore | None:
    """Returns MHS and MHS-S of two Markdown texts with HTML tables; None if the truth has no headings."""
    theirs = heading_tree(truth)
    if not theirs.has_headings:
        return None
    ours = heading_tree(predicted)
    if not ours.has_headings:
        return HeadingScore(0.0, 0.0)
    most = max(len(theirs.tags), len(ours.tags))
    text = _distance(theirs, ours, with_text=True) / most
    structure = _distance(theirs, ours, with_text=False) / most
    return HeadingScore(min(1.0, max(0.0, 1.0 - text)), min(1.0, max(0.0, 1.0 - structure)))


def heading_tree(markdown: str) -> HeadingTree:
    tags, texts = ["document"], [""]
    children: list[list[int]] = [[]]
    holder = 0
    block: list[str] = []

    def close_block() -> None:
        text = collapse_spaces(" ".join(block))
        block.clear()
        if text:
            add("content", text, holder)

    def add(tag: str, text: str, parent: int) -> int:
        tags.append(tag)
        texts.append(text)
        children.append([])
        children[parent].append(len(tags) - 1)
        return len(tags) - 1

    for line in markdown.splitlines():
        heading = _HEADING.match(line)
        if heading:
            close_block()
            holder = add("heading", collapse_spaces(heading[1]), 0)
        else:
            block.append(line)
    close_block()
    return HeadingTree(tuple(tags), tuple(texts), tuple(tuple(c) for c in children))


def _distance(first: HeadingTree, second: HeadingTree, *, with_text: bool) -> float:
    left, left_order = tree_shape(first.children)
    right, right_order = tree_shape(second.children)
    tags = np.array([first.tags[i] for i in left_order])
    others = np.array([second.tags[i] for i in right_order])
    rename: Floats = (tags[:, None] != others[None, :]).astype(np.float64)
    if with_text:
        texts = [first.texts[i] for i in left_order]
        other_texts = [second.texts[i] for i in right_order]
        apart = process.cdist(texts, other_texts, scorer=Levenshtein.normalized_distance, dtype=np.float64)
        rename = np.maximum(rename, apart)
    return tree_distance(left, right, rename)

"""Compares two outlines, headings or items of a list, as trees: what stands below what, and what it says.

1 - tree edit distance / nodes of the larger tree. Levels count by what holds what, so an outline that begins
at level 2 is the same as one that begins at 1. Renaming costs the normalised edit distance of the texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from penstock_eval.metrics.tree import tree_distance, tree_shape

Outline = Sequence[tuple[int, str]]  # level and text, in order


def outline_similarity(truth: Outline, predicted: Outline) -> float | None:
    """Returns 0 to 1; None if the truth has no entry."""
    if not truth:
        return None
    if not predicted:
        return 0.0
    (ours, our_texts), (theirs, their_texts) = _tree(predicted), _tree(truth)
    left, left_order = tree_shape(ours)
    right, right_order = tree_shape(theirs)
    rename = process.cdist(
        [our_texts[node] for node in left_order],
        [their_texts[node] for node in right_order],
        scorer=Levenshtein.normalized_distance,
    ).astype("float64")
    most = max(len(truth), len(predicted))
    return min(1.0, max(0.0, 1.0 - tree_distance(left, right, rename) / most))


def _tree(outline: Outline) -> tuple[list[list[int]], list[str]]:
    """Returns the children of each node, and its text; node 0 holds the outline."""
    children: list[list[int]] = [[]]
    open_at = [(-1, 0)]  # levels and nodes, from the root to the entry before
    for number, (level, _) in enumerate(outline, start=1):
        while open_at[-1][0] >= level:
            open_at.pop()
        children.append([])
        children[open_at[-1][1]].append(number)
        open_at.append((level, number))
    return children, ["", *(text for _, text in outline)]

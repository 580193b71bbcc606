"""Is the page read in the right order? Edit distance between two lists of block numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise

from penstock.evaluate.metrics.text import normalised_edit


def reading_order_edit(truth: Sequence[Hashable], predicted: Sequence[Hashable]) -> float:
    """OmniDocBench's rule: Levenshtein over the longer list, 0 when the order is the same."""
    return normalised_edit(truth, predicted)


def adjacency_kept(truth: Sequence[Hashable], predicted: Sequence[Hashable]) -> float:
    """The part of the truth's neighbours that are still neighbours, in order.

    Two columns read in the wrong order keep almost all their neighbours but have a large edit
    distance; shuffled lines lose both. Beside the official score, it tells these apart.
    """
    pairs = list(pairwise(truth))
    if not pairs:
        return 1.0
    kept = set(pairwise(predicted))
    return sum(pair in kept for pair in pairs) / len(pairs)

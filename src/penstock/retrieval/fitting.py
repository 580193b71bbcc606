"""Tells whether any page answers a question at all, by the best that each kind of source found.

Vectors always find a nearest page, and a word of a question stands somewhere. What the best page has in
common with the question is compared with what questions with an answer had: a threshold of an embedder that
was measured (benchmarks/quality/nothing_fits.py). Of others nothing is known, and every page found counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from penstock.retrieval.hits import SOURCES
from penstock.retrieval.ranking import Ranked

K1 = 1.2  # of BM25, as lancedb has it
# Of each embedder the least sum of both: 0.03 below what refuses no question of the tune half, as those
# have words of their pages. A larger weight of the words would refuse more, and also questions that share
# none with their page, such as those in another language.
LEAST: Mapping[str, float] = MappingProxyType({"use": 0.36})


@dataclass(frozen=True, slots=True)
class Evidence:
    """The greatest cosine of a page, and what the best page has of the score of all words of the question."""

    found: bool
    likeness: float | None
    words: float

    def fits(self, embedder: str) -> bool:
        """Whether a page answers the question, as far as that is known of the embedder."""
        if self.likeness is None or embedder not in LEAST:
            return self.found
        return self.likeness + self.words >= LEAST[embedder]


def evidence_of(rankings: Mapping[str, Ranked], num_words: int, num_rows: Mapping[str, int]) -> Evidence:
    """Returns what rankings hold for a question of so many words, in tables of so many rows."""
    likeness: list[float] = []
    words = [0.0]
    for name, places in rankings.items():
        table, column = SOURCES[name]
        best = max((match.value for match in places.values()), default=0.0)
        if column != "words":
            likeness.append(best)
        elif num_words:
            rarest = math.log(1 + (num_rows[table] + 0.5) / 0.5)  # of a word that no row has
            words.append(best / (num_words * (K1 + 1) * rarest))
    return Evidence(any(rankings.values()), max(likeness, default=None), max(words))

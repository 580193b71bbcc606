"""How much care the built-in readers take: three rungs of a ladder, from quick to careful.

What each costs and loses is measured by benchmarks/cpu/bench_parse.py and written down in docs/log.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effort = Literal["fast", "balanced", "best"]


SMALL_FINDER, TINY_FINDER, TINY_READER = "ppocrv6-det-small", "ppocrv6-det-tiny", "ppocrv6-rec-tiny"
WHOLE_FINDER = "ppocrv6-det-small-int8"  # small in whole numbers, which the package has


@dataclass(frozen=True, slots=True)
class EffortSettings:
    """What a rung sets.

    `finder` finds lines, `glancer` tells how they run; `trimmed` leaves out a page's blank margins. `quick`
    reads lines first; None reads all of them with care at once. A line is read again with care where `quick`
    is less sure than `sure`, and a page from its first line on where it is less sure than `page_sure` of more
    than a quarter of its samples.
    """

    finder: str
    glancer: str
    quick: str | None = None
    sure: float = 0.0
    page_sure: float = 0.0
    trimmed: bool = False


# On 2,060 lines of 27 pages tiny and small differ in 6 % of the characters, in 0.3 % where tiny is surer
# than 0.96. 4 lines in 10 are below, most on newspapers, handwriting and receipts; of a clean scan 1 in 20.
# At 0.95 receipts lose 3 of 100 words, at 0.96 1; so they are read with care at once: of 12 receipts each has
# two of six samples below 0.957, of clean scans of print one at most is below 0.965.
# Tiny finds 98 of 100 lines that small finds. The other two are cells that it joins and words in charts that
# it takes for one: with it the text distance of 18 OmniDocBench pages is 0.135 instead of 0.099. Without its
# margins small takes a fifth less time, and loses 0.5 points on those pages, all of them on one of formulas.
# In whole numbers of 8 bits it takes two fifths of the time and finds 99 of 100 lines where it found them.
EFFORT_SETTINGS: dict[Effort, EffortSettings] = {
    "fast": EffortSettings(WHOLE_FINDER, TINY_FINDER, TINY_READER, sure=0.85, page_sure=0.7, trimmed=True),
    "balanced": EffortSettings(SMALL_FINDER, TINY_FINDER, TINY_READER, sure=0.96, page_sure=0.96),
    "best": EffortSettings(SMALL_FINDER, SMALL_FINDER),
}
EFFORTS: tuple[Effort, ...] = tuple(EFFORT_SETTINGS)

"""One page to score: where it is, which document it is of, how its truth is read.

A document belongs to one half for good: the sha1 of its stem is even (tune) or odd (check). So no page of a
document that a rule was chosen by is ever among those that judge it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Literal

from penstock.box import Box
from penstock_eval.omnidocbench.truth import TrueElement

Half = Literal["tune", "check"]
HALVES: tuple[Half, Half] = ("tune", "check")


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a page. What is None or empty is not scored.

    `elements` are blocks in OmniDocBench's terms, `ordered` if their order is known; `headings` are all of
    the page's. `text` is the whole page, of which every letter and no other should be read; `source_text`
    holds at least what the page shows. `values` must occur in what is read, `boxes` are of blocks, in the
    picture's own pixels.
    """

    elements: tuple[TrueElement, ...] = ()
    ordered: bool = True
    complete: bool = False  # whether the page holds no table but those of the elements
    headings: tuple[str, ...] | None = None
    text: str = ""
    letters: str = ""  # those that should be read, in any order
    source_text: str = ""
    values: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    upright: str = ""  # the text of a page that was turned


@dataclass(frozen=True, slots=True)
class Sample:
    """One page of `source`: a picture, or page `part` (from 0) of a PDF."""

    source: str
    document: str
    path: Path
    part: int | None
    truth: Callable[[], Truth]
    turned: int = 0  # degrees by which its picture is turned before it is read

    @property
    def key(self) -> str:
        page = "" if self.part is None else f".p{self.part + 1:02d}"
        return f"{self.path.stem}{page}{f'.turned{self.turned}' if self.turned else ''}"

    @property
    def half(self) -> Half:
        return half_of(self.document)


def half_of(document: str) -> Half:
    return HALVES[_number(document) % 2]


def chosen(samples: Iterable[Sample], pages: int) -> list[Sample]:
    """Returns up to `pages` of each half: the same ones each time, of as many documents as there are."""
    ranked: list[tuple[int, int, Sample]] = []
    by_document: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_document[sample.document].append(sample)
    for document, own in by_document.items():
        own.sort(key=lambda sample: _number(sample.key))
        ranked += [(round_, _number(document), sample) for round_, sample in enumerate(own)]
    ranked.sort(key=lambda row: row[:2])
    return [sample for half in HALVES for sample in [s for *_, s in ranked if s.half == half][:pages]]


def _number(text: str) -> int:
    return int(sha1(text.encode()).hexdigest(), 16)

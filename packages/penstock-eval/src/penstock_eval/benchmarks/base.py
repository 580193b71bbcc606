"""What a benchmark is: it reads samples from a public data set's own files and scores one at a time.

It says what it asks: whole pages, or a text, a table, a formula, an answer or fields of one picture.
A benchmark is a small frozen dataclass that pickles, so that samples can be scored in processes.
`score` is pure: the same sample and prediction give the same scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from penstock.region import AskedTask, Asking
from penstock_eval.method import GIVEN, Method
from penstock_eval.results import SampleResult

Asks = Literal["page"] | AskedTask
HubFiles = tuple[str, tuple[str, ...]]  # a data set's name on the Hub, and patterns of the files to take


@dataclass(frozen=True, slots=True)
class Sample:
    """One thing to score. Only the benchmark reads `truth`; `image` is the picture's path, "" without one."""

    id: str
    truth: Any
    image: str = ""
    slices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one sample, and the truth and prediction that a report shows beside them."""

    values: dict[str, float]
    truth: str = ""
    prediction: str = ""
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """Base of all benchmarks. `metrics` says for each score whether higher is better.

    `method` is how the predictions were made: it changes what the scores are called.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    layout: ClassVar[str]  # the files it reads, in words
    hub: ClassVar[HubFiles | None] = None  # where the data set is published
    metrics: ClassVar[dict[str, bool]]
    asks: ClassVar[Asks] = "page"  # what a recipe has to make of each picture

    method: Method = field(default=GIVEN, kw_only=True)

    def asking(self, sample: Sample) -> Asking | None:
        """Returns what is asked about a sample's picture; None where it is read as a page."""
        return None if self.asks == "page" else Asking(task=self.asks)

    @property
    def missing_is_empty(self) -> bool:
        """Whether a sample without a prediction scores as an empty one; else it is left out."""
        return True

    @property
    def protocol(self) -> str:
        """The rules it scores by. Every result names them; only results of the same rules are compared."""
        return self.name

    def samples(self, folder: Path) -> list[Sample]:
        raise TypeError(f"benchmark {self.name!r} does not define samples()")

    def score(self, sample: Sample, prediction: str) -> Scores:
        raise TypeError(f"benchmark {self.name!r} does not define score()")

    def not_computed(self) -> dict[str, str]:
        """Returns the scores that this run leaves out, each with what it needs."""
        return {}

    def extra(self, results: Sequence[SampleResult]) -> dict[str, float]:
        """Returns figures that are not means over samples: pooled rates, totals, overall scores."""
        return {}

    def worst(self) -> dict[str, float]:
        """Returns the scores of a sample that could not be scored in time."""
        return {metric: 0.0 if higher else 1.0 for metric, higher in self.metrics.items()}

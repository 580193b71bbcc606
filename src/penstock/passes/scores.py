"""Scores as a run shows and uploads them. The distribution penstock-eval makes them, if it is installed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from penstock.errors import BadInput
from penstock.extras import from_extra

if TYPE_CHECKING:  # scoring processes start often, and need no pyarrow
    from penstock.sources.queries import Query
    from penstock.store.out import Out

FOLDER = "retrieval"  # in OUT: a folder for each source that was scored
SUMMARY = "summary.json"
PROVIDED = "penstock.evaluation"  # the group of penstock-eval's entry points


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `count` samples with the ends of its 95 % percentile bootstrap interval."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in numbers. `scores` are means over samples with 95 % intervals; `extra` are pooled sums.

    `method` says how the predictions were made, `not_computed` which scores are left out and what they need.
    """

    benchmark: str
    protocol: str
    count: int
    scores: dict[str, Interval]
    extra: dict[str, float]
    slices: dict[str, dict[str, Interval]]
    warnings: tuple[str, ...] = ()
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    method: str = ""
    not_computed: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)


def evaluation(function: str) -> Callable[..., Any]:
    """Returns a function of penstock-eval. Raises MissingModel with the install line without it."""
    return cast(Callable[..., Any], from_extra("eval", "Evaluation", PROVIDED, function))


def evaluate_search(out: Out, queries: Sequence[Query]) -> dict[str, Summary]:
    """Scores every source that OUT has, and returns the summaries by source."""
    score: Callable[[Out, Sequence[Query]], dict[str, Summary]] = evaluation("search")
    return score(out, queries)


def read_summary(path: Path) -> dict[str, Any]:
    file = path / SUMMARY if path.is_dir() else path
    try:
        values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise BadInput(f"There is no {file}.", "Give a folder that `penstock eval score` wrote.") from exc
    except (OSError, ValueError) as exc:
        raise BadInput(f"{file} cannot be read as a summary ({exc}).") from exc
    return values

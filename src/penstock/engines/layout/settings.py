"""The settings of a layout network as people write them: one value for all classes, values by class, or both.

    0.3                    every class
    text=0.4,table=0.5     these two; the others keep their own
    0.3,table=0.5          both

Imports no numpy: a plan is built from these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

from penstock.choices import Merge, Precision, check_choice
from penstock.errors import UsageError
from penstock.region import LABELS

T = TypeVar("T")
# as typed on a command line, or as a program has it
Threshold = float | str | Mapping[str, float]
MergeMode = str | Mapping[str, Merge]
Unclip = float | str | tuple[float, float] | Mapping[str, float | tuple[float, float]]

MERGES: tuple[Merge, ...] = ("large", "small", "union")
PRECISIONS: tuple[Precision, ...] = ("fp32", "fp16", "bf16")
MAX_UNCLIP = 3.0  # a box three times as wide as its block is a mistake in typing


@dataclass(frozen=True, slots=True)
class ByClass(Generic[T]):
    """A value for all classes, None where each keeps its own, and those of single classes."""

    all: T | None = None
    by_class: Mapping[str, T] = field(default_factory=dict)


def thresholds(given: Threshold, labels: Collection[str] = LABELS) -> ByClass[float]:
    """Returns the least scores at which a find counts."""
    return _read("--layout-threshold", given, _score, labels)


def merge_modes(given: MergeMode) -> ByClass[Merge]:
    """Returns which of two boxes stays when one lies inside the other."""
    return _read("--layout-merge", given, _merge, LABELS)


def unclips(given: Unclip) -> ByClass[tuple[float, float]]:
    """Returns the factors by which boxes grow in width and in height."""
    return _read("--layout-unclip", given, _factors, LABELS)


def precision(given: str) -> Precision:
    check_choice("--layout-precision", given, PRECISIONS)
    return cast(Precision, given)


def _read(option: str, given: object, value: Callable[[object], T], labels: Collection[str]) -> ByClass[T]:
    try:
        if isinstance(given, str):
            return _typed(given, value, labels)
        if isinstance(given, Mapping):
            return ByClass(None, {_class(name, labels): value(each) for name, each in given.items()})
        return ByClass(value(given))
    except (TypeError, ValueError) as exc:
        raise UsageError(f"{option} {given}: {exc}.", _ADVICE[option]) from exc


def _typed(text: str, value: Callable[[object], T], labels: Collection[str]) -> ByClass[T]:
    everywhere: T | None = None
    by_class: dict[str, T] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, equals, said = word.partition("=")
        if equals:
            by_class[_class(name.strip(), labels)] = value(said.strip())
        elif everywhere is None:
            everywhere = value(word)
        else:
            raise ValueError(f"{word} is a second value for all classes")
    return ByClass(everywhere, by_class)


_ADVICE = {
    "--layout-threshold": "Write a score from 0 to 1: 0.3, or by class: text=0.4,table=0.5.",
    "--layout-merge": "Write large, small or union, or by class: large,reference=small.",
    "--layout-unclip": "Write a factor: 1.02, or width x height: 1.1x1.0, or by class: table=1.05.",
}


def _class(name: str, labels: Collection[str]) -> str:
    if name not in labels:
        raise ValueError(f"there is no class {name!r}; there are {', '.join(sorted(labels))}")
    return name


def _score(said: object) -> float:
    score = _number(said)
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"{score:g} is not from 0 to 1")
    return score


def _merge(said: object) -> Merge:
    for known in MERGES:
        if said == known:
            return known
    raise ValueError(f"{said} is no way to merge")


def _factors(said: object) -> tuple[float, float]:
    parts = said.split("x") if isinstance(said, str) else said if isinstance(said, tuple | list) else [said]
    if len(parts) not in (1, 2):
        raise ValueError(f"{said} is not one factor or two")
    wide, high = (_factor(part) for part in (parts[0], parts[-1]))
    return wide, high


def _factor(said: object) -> float:
    factor = _number(said)
    if not 0.0 < factor <= MAX_UNCLIP:
        raise ValueError(f"{factor:g} is not above 0 and at most {MAX_UNCLIP:g}")
    return factor


def _number(said: object) -> float:
    if not isinstance(said, str | int | float):
        raise TypeError(f"{said!r} is not a number")
    try:
        return float(said)
    except ValueError:
        raise ValueError(f"{said!r} is not a number") from None

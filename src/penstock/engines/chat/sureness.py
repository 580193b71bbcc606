"""How sure a model was of its answer, from the probabilities of its tokens: mean, least, and by line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Token = tuple[str, float]  # its text and its logarithm of probability
MIN_LOGPROB = -20.0  # servers write -inf, or -9999, for what cannot be


@dataclass(frozen=True, slots=True)
class Sureness:
    """Probabilities of tokens: their geometric mean, the least of all, and the mean of each line."""

    mean: float
    least: float
    lines: tuple[float, ...] = ()


def tokens_of(choice: Mapping[str, Any]) -> list[Token]:
    """Returns the tokens of a choice with their logprobs; none where the server does not tell them."""
    told = choice.get("logprobs")
    rows = told.get("content") if isinstance(told, dict) else None
    found: list[Token] = []
    for row in rows if isinstance(rows, list) else ():
        text, logprob = (row.get("token"), row.get("logprob")) if isinstance(row, dict) else (None, None)
        if isinstance(text, str) and isinstance(logprob, int | float) and not math.isnan(logprob):
            found.append((text, min(0.0, max(MIN_LOGPROB, logprob))))
    return found


def sureness_of(tokens: Sequence[Token]) -> Sureness | None:
    """Returns how sure the model was; None where nothing is known."""
    if not tokens:
        return None
    lines: list[list[float]] = [[]]
    for text, logprob in tokens:
        lines[-1].append(logprob)
        if "\n" in text:
            lines.append([])
    every = [logprob for line in lines for logprob in line]
    return Sureness(_mean(every), math.exp(min(every)), tuple(_mean(line) for line in lines if line))


def _mean(logprobs: Sequence[float]) -> float:
    return math.exp(sum(logprobs) / len(logprobs))

"""The signals of a region, from the lines that networks read in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.documents.confidence.calibration import likely_right, likely_right_words
from penstock.documents.confidence.comparison import agreement, digits_agreed, plain
from penstock.region import Line, Signals, TextLine


def as_line(read: TextLine) -> Line:
    """Returns a line as its page keeps it, with how surely it and its words were read."""
    differs = read.other and plain(read.other) != plain(read.text)
    other = read.other if differs else ""
    sure, words = likely_right(read), likely_right_words(read)
    return Line(text=read.text, box=read.box, confidence=sure, other=other, words=words)


def signals_of(lines: Sequence[TextLine]) -> Signals | None:
    """Returns what networks say of the lines that they read; None of a text that the file itself gave."""
    if not lines:
        return None
    looked = [line for line in lines if line.other]
    digits = [(line, found) for line in looked if (found := digits_agreed(line.text, line.other)) is not None]
    return Signals(
        network=_mean((line.confidence, len(line.text)) for line in lines),
        weakest=min(line.confidence for line in lines),
        agreement=_mean((agreement(line.text, line.other), len(line.text)) for line in looked),
        digits=_mean((found, len(line.text)) for line, found in digits),
    )


def mean_confidence(lines: Sequence[Line]) -> float | None:
    """Returns the mean over the characters that were read from a picture; None where there are none."""
    return _mean((line.confidence, len(line.text)) for line in lines if line.confidence is not None)


def _mean(weighed: Iterable[tuple[float, int]]) -> float | None:
    rows = list(weighed)
    total = sum(weight for _, weight in rows)
    return sum(value * weight for value, weight in rows) / total if total else None

"""What signals are worth: the part of a text's characters that is likely right, by fitted weights.

A reader's weights stand for its features in their order: logistic regression of right characters on tune
halves of pages with a truth. benchmarks/quality/confidence.py fits and tests them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from statistics import fmean
from types import MappingProxyType

from penstock.documents.confidence.comparison import agreement
from penstock.region import TextLine

SURE, UNSURE = 0.9995, 0.02  # beyond these a network's certainty says nothing more

LINE_FEATURES = ("one", "mean", "least", "looked twice", "disagreement", "short")
LINES: Mapping[str, Sequence[float]] = MappingProxyType({
    "ppocr": (3.0537, 0.0858, 0.315, -0.753, -1.006, -2.3638),
    "hangul": (1.2044, 0.3482, 0.2865, 0.3807, -0.1153, 0.2489),
    "scripts": (0.9232, 0.3463, -0.0302, 0.0, 0.0, 0.1494),
})  # fmt: skip

# of an answer of a served model: one, logit of its tokens' mean probability, whether that is known, whether a
# second reader read it, what of the letters, the numbers and the kinds of letters that one read otherwise,
# and whether something went wrong. benchmarks/quality/stored_answers.py fits the second reader's weights:
# beside the letters, their kinds say nothing more. No stored answers have probabilities: these count as they
# are, and the other weights are set by hand.
ANSWERS: Sequence[float] = (2.0, 1.0, -2.0, 1.0988, -4.8464, -1.964, 0.0, -4.0)


def line_features(line: TextLine) -> list[float]:
    """Returns the features of a line in the order of `LINE_FEATURES`."""
    apart = 1.0 - agreement(line.text, line.other) if line.other else 0.0
    short = 1.0 / max(1, len(line.text))
    return [1.0, logit(line.confidence), logit(line.least), float(bool(line.other)), apart, short]


def likely_right(line: TextLine) -> float:
    """Returns the part of the line's characters that is likely right."""
    weights = LINES.get(line.reader, LINES["ppocr"])
    return weighed(weights, line_features(line))


def likely_right_words(line: TextLine) -> tuple[float, ...]:
    """Returns the same of each word; nothing where the certainty of its letters is not known."""
    words = line.text.split()
    if not line.sures or len(line.sures) != sum(map(len, words)):
        return ()
    sures = iter(line.sures)
    parts = (tuple(islice(sures, len(word))) for word in words)
    return tuple(likely_right(replace(line, confidence=fmean(part), sures=part)) for part in parts)


def weighed(weights: Sequence[float], features: Sequence[float]) -> float:
    total = sum(weight * feature for weight, feature in zip(weights, features, strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def logit(sure: float) -> float:
    kept = min(SURE, max(UNSURE, sure))
    return math.log(kept / (1.0 - kept))

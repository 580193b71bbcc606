"""How surely a served model read a region: its tokens, a second reader of the picture, what went wrong."""

from __future__ import annotations

import re

from penstock.documents.confidence.calibration import ANSWERS, logit, weighed
from penstock.documents.confidence.comparison import agreement, digits_agreed, plain, script_agreed
from penstock.region import Signals

MARKS = {"repetition": "repeated", "length": "cut off"}  # by what ended the answer
REFUSED = "refused"
MAX_REFUSAL = 400  # characters: a page that quotes such words is longer
_REFUSAL = re.compile(
    r"\W*(I('m| am) (sorry|unable)|sorry, |I (cannot|can't|can not)|as an AI\b|죄송|抱歉|很抱歉)",
    re.IGNORECASE,
)


def answer_signals(text: str, finish_reason: str, other: str | None = None, reader: str = "") -> Signals:
    """Returns the signals of an answer. `other` is what `reader` read of the same picture, where one did."""
    marks = [MARKS[finish_reason]] if finish_reason in MARKS else []
    if len(text) <= MAX_REFUSAL and _REFUSAL.match(text):
        marks.append(REFUSED)
    known = other is not None and bool(plain(other) or plain(text))
    return Signals(
        agreement=agreement(text, other or "") if known else None,
        digits=digits_agreed(text, other or "") if known else None,
        script=script_agreed(text, other or "") if known else None,
        marks=tuple(marks),
        other=(other or "") if known and plain(other or "") != plain(text) else "",
        other_reader=reader if known else "",
    )


def answer_confidence(signals: Signals) -> float | None:
    """Returns the part of the answer's characters that is likely right; None where nothing is known."""
    if signals.probability is None and signals.agreement is None and not signals.marks:
        return None
    known = signals.agreement is not None
    features = [
        1.0,
        0.0 if signals.probability is None else logit(signals.probability),
        float(signals.probability is not None),
        float(known),
        1.0 - (signals.agreement if signals.agreement is not None else 1.0),
        1.0 - (signals.digits if signals.digits is not None else 1.0),
        1.0 - (signals.script if signals.script is not None else 1.0),
        float(bool(signals.marks)),
    ]
    return weighed(ANSWERS, features)

"""OCRBench's answer rule: the answer must occur in the prediction (Liu et al. 2024)."""

from __future__ import annotations

MATH_DATASET = "HME100k"  # the one data set where spaces are ignored and case counts


def contains_answer(answers: object, predicted: str, dataset: str = "") -> bool:
    """Whether the answer, or one of a list of answers, occurs in the prediction.

    Text: lower case, outer spaces stripped, newlines are spaces. Handwritten mathematics: newlines
    become spaces, all spaces are dropped, case counts.
    """
    accepted = answers if isinstance(answers, (list, tuple)) else [answers]
    fold = _math if dataset == MATH_DATASET else _text
    said = fold(predicted)
    return any(fold(str(answer)) in said for answer in accepted)


def _text(text: str) -> str:
    return text.lower().strip().replace("\n", " ")


def _math(text: str) -> str:
    return text.strip().replace("\n", " ").replace(" ", "")

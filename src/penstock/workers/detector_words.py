"""The words that detectors know, for the labels that people ask for."""

from __future__ import annotations

from penstock.engines.segment.segmenter import CLOSED, COARSE, LABELS
from penstock.errors import UsageError
from penstock.photos.furniture import UNKNOWN, Furniture


def detector_words(engine: str, labels: tuple[str, ...], furniture: str | None = None) -> dict[str, str]:
    """The words a detector is asked for, each with the label its things get. Raises UsageError."""
    table = Furniture.open(furniture)
    if engine in CLOSED:  # it says "couch" where "sofa" or "소파" is wanted
        kept = {word: label for label in labels for word in table.words(label)}
        for coarse, kinds in COARSE.items():  # an armchair is seen as a chair
            for label in labels:
                if table.find(label).name in kinds:
                    kept.setdefault(coarse, label)
        return kept or {word: word for name in table.kinds if name != UNKNOWN for word in table.words(name)}
    if engine == "saliency":
        return {label: label for label in labels}
    words = {label: table.english(label) for label in labels or LABELS}
    for label, word in words.items():
        if word is None:
            raise UsageError(
                f"The detector {engine} reads English, and no English word for {label!r} is known.",
                "Write it in English, or add it to the synonyms in the table of --furniture.",
            )
    return {word: label for label, word in words.items() if word is not None}

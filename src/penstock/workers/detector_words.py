"""The words that detectors know, for the labels that people ask for."""

from __future__ import annotations

from penstock.engines.segment.segmenter import CLASSES, CLOSED, COARSE, LABELS
from penstock.errors import UsageError
from penstock.photos.furniture import UNKNOWN, Furniture


def detector_words(engine: str, labels: tuple[str, ...], furniture: str | None = None) -> dict[str, str]:
    """Returns the words a detector looks for, each with the label its things get.

    Raises UsageError for a label that the detector or the furniture table cannot know.
    """
    table = Furniture.open(furniture)
    if engine in CLOSED:  # it says "couch" where "sofa" or "소파" is wanted
        return _closed_words(engine, labels, table) or {
            word: word for name in table.kinds if name != UNKNOWN for word in table.words(name)
        }
    for label in labels:
        _check_spelling(engine, label, table)
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


def _closed_words(engine: str, labels: tuple[str, ...], table: Furniture) -> dict[str, str]:
    """Returns the words of a detector with a fixed vocabulary that stand for the labels."""
    exact = {label: table.words(label) for label in labels}
    coarse = {label: _coarse_words(table.find(label).name) for label in labels}
    seen = set(CLASSES.values())
    for label in labels:
        if engine == "nanodet" and not seen & {*exact[label], *coarse[label]}:
            _refuse(f"The detector nanodet cannot see {label!r}.", label, table, sorted(seen))
    kept = {word: label for label in labels for word in exact[label]}
    for label in labels:
        kept = {**dict.fromkeys(coarse[label], label), **kept}
    return kept


def _coarse_words(kind: str) -> list[str]:
    """Returns wider words for a kind: an armchair is seen as a chair."""
    return [coarse for coarse, kinds in COARSE.items() if kind in kinds]


MISSPELLED = 0.85  # likeness: "soffa" is 0.89 of sofa, "surfboard" 0.71 of cupboard


def _check_spelling(engine: str, label: str, table: Furniture) -> None:
    """Raises UsageError for a label that is not in the table, where it is misspelled or only a table helps.

    Detectors that read words find a guitar, too, which no table of furniture has.
    """
    if not table.knows(label) and (engine == "saliency" or table.near(label, MISSPELLED)):
        _refuse(f"No furniture is called {label!r}.", label, table, [])


def _refuse(message: str, label: str, table: Furniture, known: list[str]) -> None:
    near = [] if table.knows(label) else table.near(label)
    if near:
        raise UsageError(message, f"Near names: {', '.join(near)}.")
    if known:
        raise UsageError(message, f"It sees: {', '.join(known)}. Draw a --box around other things.")
    raise UsageError(message, "Draw a --box with this label, or add it to a --furniture table.")

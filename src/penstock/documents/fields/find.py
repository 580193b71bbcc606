"""Finds a field's value by rules: a PDF form's own field, or a label and what stands behind or under it.

Every place where one of a field's labels stands is looked at, and what fits the field's type near it gets a
score: how sure the label is, how near the value stands, how well it fits. The best is taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.documents.fields.candidates import FieldCandidate, candidates, is_identifier, is_money
from penstock.documents.fields.extraction import FoundBy, FoundField
from penstock.documents.fields.labels import CONCEPTS, beginnings_pattern, label_pattern, plain
from penstock.documents.fields.page_rows import DocumentText, VisualRow
from penstock.documents.fields.schema import Field
from penstock.documents.fields.values import Habit

MIN_SCORE = 0.3
BEHIND, OTHER_PIECE, BELOW = 1.0, 0.95, 0.7
BELOW_ROWS = 3  # how many rows under a label are looked at
BELOW_HEIGHTS = 3.5  # and how far, in heights of the label's row
COLUMN_HEIGHTS = 10  # so far from where its label begins, a value under it counts for a half
LABEL_STEP = 0.006  # what each label that is less sure than the one before loses
OTHER_THAN = 0.35  # of a score is left where the row speaks of something else
WITHOUT_LABEL = 0.4  # score of a value that only one place of the document can be
LATE, EARLY = 0.03, 0.15  # sums come after what they are made of, all else stands in the head of a paper
NEAR = 25  # letters before and behind a label where words may change its meaning
_INCLUDING = re.compile(r"(?:incl|inkl|including|inclusive|einschl|ttc)\w{0,8}\.?\s?(?:\d+ ?%\s?)?$")
_AFTER_LABEL = " \t:;.#=-–_|)]>*"
_EVERY_LABEL = label_pattern(
    label for concept in CONCEPTS for label in concept.labels if len(plain(label)) > 3
)
_DATE_LABEL = label_pattern(
    label
    for concept in CONCEPTS
    for label in concept.labels
    if concept.name.endswith("date") and len(plain(label)) > 3
)


@dataclass(frozen=True, slots=True)
class _ScoredPlace:
    """Something that may be the value, at its place in a row."""

    row: VisualRow
    candidate: FieldCandidate
    label: str
    score: float
    by: FoundBy = "label"


@dataclass(frozen=True)
class RuleFinder:
    """Finds fields in one document."""

    text: DocumentText
    habit: Habit

    def find(self, field: Field) -> FoundField | None:
        """Returns the best value of a field that is one value, None where nothing fits."""
        if held := self._in_form(field):
            return held
        labels = _FieldLabels(field)
        places = [*self._labelled(field, labels), *self._unlabelled(field)]
        best = max(places, key=lambda place: place.score, default=None)
        if best is None or best.score < MIN_SCORE:
            return None
        return self.proved(field.path, best)

    def _in_form(self, field: Field) -> FoundField | None:
        """Returns what a PDF form holds under one of the field's names, the surest first."""
        names = [_same_words(name) for name in (field.name, *field.labels)]
        ranked = sorted(
            (names.index(called), place)
            for place, (_, one) in enumerate(self.text.form)
            for called in {_same_words(one.label), _same_words(one.name.rpartition(".")[2])}
            if called and called in names
        )
        for _, place in ranked:
            page, one = self.text.form[place]
            piece, value = self.text.holding(page, one), self._typed(field, one.text)
            if piece is not None and value is not None:
                locators = (str(self.text.address(piece, one.text)),)
                return FoundField(
                    path=field.path,
                    value=value,
                    text=one.text,
                    locators=locators,
                    by="field",
                    label=one.label,
                )
        return None

    def _typed(self, field: Field, text: str) -> Any:
        if field.kind == "text" and not field.choices and not field.pattern:
            return " ".join(text.split())
        fitting = next(candidates(field, text, 0, len(text), self.habit), None)
        return None if fitting is None else fitting.value

    def proved(self, path: str, place: _ScoredPlace) -> FoundField:
        """Returns the value with the address of its words."""
        row, candidate = place.row, place.candidate
        return FoundField(
            path=path, value=candidate.value, text=row.text[candidate.start : candidate.end],
            locators=(self.text.address_at(row, candidate.start, candidate.end),), by=place.by,
            label=place.label, score=round(min(1.0, place.score), 3),
        )  # fmt: skip

    def _labelled(self, field: Field, labels: _FieldLabels) -> Iterator[_ScoredPlace]:
        for index, row in enumerate(self.text.rows):
            place = index / len(self.text.rows)
            lateness = 1 + LATE * place if is_money(field) else 1 - EARLY * place
            for found in labels.pattern.finditer(row.folded):
                trust = labels.trust(found[0]) * _standing(row, found) * lateness
                if labels.mean_other(row, found):
                    trust *= OTHER_THAN
                behind = list(self._behind(field, row, found, trust))
                yield from behind
                if not behind or behind[0].score < trust * BELOW:
                    yield from self._below(field, index, found, trust)

    def _behind(
        self, field: Field, row: VisualRow, label: re.Match[str], trust: float
    ) -> Iterator[_ScoredPlace]:
        start = label.end()
        while start < len(row.text) and row.text[start] in _AFTER_LABEL:
            start += 1
        following = (_DATE_LABEL if field.kind == "date" else _EVERY_LABEL).search(row.folded, start + 1)
        end = following.start() if following else len(row.text)
        own_end = row.end_of_piece(label.start())
        for candidate in candidates(field, row.text, start, end, self.habit):
            nearness = BEHIND if candidate.start <= own_end else OTHER_PIECE
            yield _ScoredPlace(row, candidate, label[0], trust * nearness * candidate.quality)

    def _below(self, field: Field, index: int, label: re.Match[str], trust: float) -> Iterator[_ScoredPlace]:
        """Yields what stands under a label: in the columns of its piece, nearest to where it begins."""
        row = self.text.rows[index]
        piece, offset = row.at(label.start())
        x, at_most = piece.x_at(offset), row.middle + BELOW_HEIGHTS * row.height
        for under in self.text.rows[index + 1 : index + 1 + BELOW_ROWS]:
            if under.page != row.page or under.middle > at_most:
                return
            found = False
            for candidate in candidates(field, under.text, 0, len(under.text), self.habit, in_columns=True):
                holder, place = under.at(candidate.start)
                apart = abs(holder.x_at(place) - x)
                overlaps = holder.box[0] < piece.box[2] and piece.box[0] < holder.box[2]
                if overlaps or apart < 3 * row.height:
                    found = True
                    loss = 1 / (1 + apart / (COLUMN_HEIGHTS * row.height))
                    yield _ScoredPlace(under, candidate, label[0], trust * BELOW * loss * candidate.quality)
            if found:
                return

    def _unlabelled(self, field: Field) -> Iterator[_ScoredPlace]:
        """Yields a value that shows by its form alone what it is, where only one of the document does."""
        if not (field.choices or field.pattern or _shows_itself(field)):
            return
        found = [
            _ScoredPlace(row, candidate, "", WITHOUT_LABEL * candidate.quality, "form")
            for row in self.text.rows
            for candidate in candidates(field, row.text, 0, len(row.text), self.habit)
        ]
        values = Counter(str(place.candidate.value) for place in found)
        if len(values) == 1 or (found and field.kind == "date"):
            yield found[0]
        elif values and is_identifier(field) == "currency":
            yield next(one for one in found if one.candidate.value == values.most_common(1)[0][0])


def _same_words(name: str) -> frozenset[str]:
    """Returns a name without the order of its words: Name_Last is the last name."""
    return frozenset(plain(name).split())


class _FieldLabels:
    """The labels of one field, and how sure each is."""

    def __init__(self, field: Field) -> None:
        self._rank = {
            plain(label).replace(" ", ""): rank for rank, label in reversed(list(enumerate(field.labels)))
        }
        self.pattern = label_pattern(field.labels)
        others = [word for concept in field.concepts for word in concept.other_than]
        own = {plain(label) for label in field.labels}
        self._other = beginnings_pattern(word for word in others if plain(word) not in own)

    def mean_other(self, row: VisualRow, label: re.Match[str]) -> bool:
        """Whether words near a label make it mean something else; "incl. VAT" does not."""
        start, end = max(0, label.start() - NEAR), min(len(row.text), label.end() + NEAR)
        return any(
            not _INCLUDING.search(row.folded, max(0, word.start() - 15), word.start())
            for word in self._other.finditer(row.folded, start, end)
        )

    def trust(self, words: str) -> float:
        """Returns how sure a label is: those that come first are surest, and longer ones than short ones."""
        key = plain(words).replace(" ", "")
        rank = self._rank.get(key, 20)
        return max(0.5, 1 - LABEL_STEP * rank) * (0.9 + 0.1 * min(1.0, len(key) / 10))


def _standing(row: VisualRow, found: re.Match[str]) -> float:
    """Returns more for a label that begins its piece, and for one with a colon: it names, and is no prose."""
    _, offset = row.at(found.start())
    behind = row.text[found.end() : found.end() + 2]
    begins = 1.0 if offset <= 1 else 0.85
    return begins * (1.0 if ":" in behind or found.end() >= len(row.text) else 0.97)


def _is_the_date(field: Field) -> bool:
    """Whether the first date of a document may be meant: its own, or just "date"."""
    return not field.concepts or field.is_a("invoice date")


def _shows_itself(field: Field) -> bool:
    kind = is_identifier(field)
    return (field.kind == "date" and _is_the_date(field)) or kind in ("iban", "vat id", "email", "currency")

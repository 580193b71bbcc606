"""Scores what `penstock extract` found in a run by a truth: precision, recall, and values that no page holds.

A truth has a line a document, as OUT/extracted/NAME.jsonl has: {"document": "a.pdf", "values": {...}}. Fields
that it does not name are not judged; null says that there is none. What no page prints is left out: nobody
could read it. Lists are compared without their order.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from penstock.documents.fields.page_rows import DocumentText
from penstock.documents.fields.values import CURRENCIES, dates, habit_of, numbers
from penstock.errors import BadInput, UsageError
from penstock.exports.extracted import FOLDER
from penstock.passes.scores import SUMMARY, Summary
from penstock.store.out import Out
from penstock_eval.results import SAMPLES, SampleResult, sample_line, summarise, write_text

PROTOCOL = "fields-1"
BETTER = {"precision": True, "recall": True, "invented": False}


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """How many values of a field were given, are wanted, are right, and stand on no page."""

    given: int = 0
    wanted: int = 0
    right: int = 0
    invented: int = 0

    def __add__(self, other: FieldCounts) -> FieldCounts:
        return FieldCounts(
            self.given + other.given, self.wanted + other.wanted, self.right + other.right,
            self.invented + other.invented,
        )  # fmt: skip

    def scores(self) -> dict[str, float]:
        """Returns the shares that there are: who gave nothing has no precision."""
        found = (
            {"precision": self.right / self.given, "invented": self.invented / self.given}
            if self.given
            else {}
        )
        return {**found, "recall": self.right / self.wanted} if self.wanted else found


class PrintedText:
    """Whether a document's text holds a value, by other means than the extraction's own search for proof."""

    def __init__(self, text: DocumentText) -> None:
        rows = [row.text for row in text.rows]
        habit = habit_of(rows)
        self._numbers = {round(float(one.value), 2) for row in rows for one in numbers(row, habit)}
        self._dates = {one.value.isoformat() for row in rows for one in dates(row, habit)}
        self._letters = plain("".join(rows))

    def holds(self, value: Any) -> bool:
        if isinstance(value, int | float):
            return round(float(value), 2) in self._numbers
        signs = (sign for sign, code in CURRENCIES.items() if code == value)
        return value in self._dates or any(plain(one) in self._letters for one in (str(value), *signs))


def plain(text: str) -> str:
    return re.sub(r"[\s#]+", "", text).lower()


def is_same(given: Any, wanted: Any) -> bool:
    return given is not None and _key(given) == _key(wanted)


def _key(value: Any) -> Any:
    return round(float(value), 2) if isinstance(value, int | float) else plain(str(value))


def judged(given: Any, truth: Any, text: PrintedText) -> tuple[dict[str, FieldCounts], int]:
    """Returns the counts by field, and how many values of the truth no page prints."""
    found, wanted = dict(_fields(given)), dict(_fields(truth))
    counts, unprinted = {}, 0
    for field, values in wanted.items():
        own = Counter(map(_key, found.get(field, ())))
        printed = Counter(_key(value) for value in values if text.holds(value))
        unprinted += len(values) - printed.total()
        if printed or not values:
            invented = sum(not text.holds(value) for value in found.get(field, ()))
            counts[field] = FieldCounts(own.total(), printed.total(), (own & printed).total(), invented)
    return counts, unprinted


def evaluate_fields(out: Out, name: str, truth: Path, folder: Path) -> Summary:
    """Scores OUT/extracted/NAME.jsonl and writes samples.jsonl and summary.json.

    A sample is a field of a document, so that a field counts alike however many values it has; `extra` counts
    values.
    """
    file = out / FOLDER / f"{name}.jsonl"
    if not file.is_file():
        raise UsageError(
            f"{out} has nothing that was extracted as {name!r}.", "Run: penstock extract OUT --schema FILE"
        )
    given, wanted = _rows(file), _rows(truth)
    results: list[SampleResult] = []
    totals, unprinted = FieldCounts(), 0
    for document, pages in groupby(out.read_pages(), key=lambda page: page.document):
        if document in wanted:
            text = PrintedText(DocumentText.of(pages))
            counts, left = judged(given.get(document), wanted[document], text)
            unprinted += left
            totals = sum(counts.values(), totals)
            results += [_result(document, field, count) for field, count in counts.items()]
    if not results:
        raise UsageError(f"{truth} names no document of {out} with values that it prints.")
    warnings = [f"{unprinted} values of the truth stand on no page and are left out."] if unprinted else []
    pooled = {
        **{f"{name} of all values": value for name, value in totals.scores().items()},
        "invented values": float(totals.invented),
    }
    summary = summarise(f"fields of {name}", PROTOCOL, results, BETTER, pooled, warnings)
    write_text(folder / SAMPLES, "".join(map(sample_line, results)), folder)
    write_text(folder / SUMMARY, summary.as_json(), folder)
    return summary


def _result(document: str, field: str, count: FieldCounts) -> SampleResult:
    return SampleResult(id=f"{document} {field}", scores=count.scores(), slices=(f"field:{field}",))


def _rows(file: Path) -> dict[str, Any]:
    """Returns the values by document. Raises BadInput that names the line which is none."""
    found = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            found[str(row["document"])] = row["values"]
        except (ValueError, TypeError, KeyError) as exc:
            raise BadInput(
                f"{file}, line {number} has no values of a document.",
                'A line reads like {"document": "a.pdf", "values": {"total": 12.5}}.',
            ) from exc
    return found


def _fields(values: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yields each field by its path without places in lists, and what it has in all of them."""
    found: dict[str, list[Any]] = defaultdict(list)
    waiting = [("", values)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{path}/{name}", inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(path, inner) for inner in value]
        else:
            found[path] += [] if value is None else [value]
    yield from found.items()

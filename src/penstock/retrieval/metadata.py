"""What people say of their documents, in files of their own next to them, to search by.

    report.pdf.json      {"client": "Acme", "date": "2024-03-01", "tags": ["water", "power"]}
    metadata.jsonl       {"file_name": "report.pdf", "client": "Acme"}, a line a document of its folder

Both may be there; the file of a document's own name wins. What `penstock extract` found counts as well, under
the schema's name: `invoice.total`. The files are read when a question has conditions, and never written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from penstock.errors import UsageError
from penstock.retrieval.hits import Filters
from penstock.store.source_order import read_order

OWN, SHARED, FILE_NAME = ".json", "metadata.jsonl", "file_name"
EXTRACTED = "extracted"
MAX_FILE = 64_000_000  # bytes; what is larger is somebody's data, and no metadata
MAX_DEPTH = 4  # of objects within a value
_CONDITION = re.compile(
    r"\s*(?P<name>[^=<>!]{1,200}?)\s*(?P<sign>>=|<=|!=|=|>|<)\s*(?P<value>.*?)\s*", re.DOTALL
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Condition:
    """`client=Acme`, `date>=2024-01-01`, `invoice.total<100`. A list holds what one of its values does."""

    name: str
    sign: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise UsageError(
                f"{text!r} is no condition.", "Write client=Acme, date>=2024-01-01 or total<100."
            )
        return cls(found["name"], found["sign"], found["value"])

    def holds(self, values: Iterable[Any]) -> bool:
        """Whether one of the values fits; for != whether none is the value."""
        if self.sign == "!=":
            return not any(_compared(value, self.value) == 0 for value in values)
        order = [one for value in values if (one := _compared(value, self.value)) is not None]
        return any(_fits(self.sign, one) for one in order)


def resolved(out: Path, filters: Filters) -> Filters | None:
    """Returns the filters with their conditions as documents; None where no document passes."""
    if not filters.where:
        return filters
    found = documents_where(out, filters.where)
    chosen = tuple(name for name in found if not filters.documents or name in filters.documents)
    return replace(filters, documents=chosen, where=()) if chosen else None


def documents_where(out: Path, conditions: Sequence[str]) -> tuple[str, ...]:
    """Returns the documents of a run for which all conditions hold."""
    asked = [Condition.parse(text) for text in conditions]
    extracted = _extracted(out)
    shared = lru_cache(maxsize=None)(_shared)
    return tuple(
        document
        for document, files in read_order(out).items()
        if _all_hold(asked, {**extracted.get(document, {}), **_of_files(files, shared)})
    )


def _all_hold(conditions: Sequence[Condition], values: Mapping[str, Any]) -> bool:
    return all(one.holds(_at(values, one.name)) for one in conditions)


def _at(values: Any, name: str) -> Iterator[Any]:
    """Yields what stands at a name: as it is written, or step by step at its dots."""
    if not isinstance(values, Mapping):
        return
    for key, value in values.items():
        if key == name:
            yield from _plain_values(value, MAX_DEPTH)
        elif isinstance(key, str) and name.startswith(f"{key}."):
            yield from _at(value, name[len(key) + 1 :])


def _plain_values(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, list) and depth:
        for one in value:
            yield from _plain_values(one, depth - 1)
    elif isinstance(value, str | int | float):
        yield value


def _compared(value: Any, wanted: str) -> int | None:
    """Returns -1, 0 or 1: numbers as numbers, other things as words, so that dates of ISO come in order."""
    said = str(value).lower() if isinstance(value, bool) else str(value)
    if _NUMBER.fullmatch(said) and _NUMBER.fullmatch(wanted):
        left, right = float(said), float(wanted)
        return (left > right) - (left < right)
    first, second = said.casefold(), wanted.casefold()
    return (first > second) - (first < second)


def _fits(sign: str, order: int) -> bool:
    return {"=": order == 0, ">": order > 0, "<": order < 0, ">=": order >= 0, "<=": order <= 0}[sign]


def _of_files(files: Iterable[str], shared: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for uri in files:
        path = Path(uri)
        found |= {**shared(path.parent).get(path.name, {}), **_own(path)}
    return found


def _own(path: Path) -> Mapping[str, Any]:
    return next(_objects(path.with_name(path.name + OWN), whole=True), {})


def _shared(folder: Path) -> dict[str, Mapping[str, Any]]:
    return {str(row.get(FILE_NAME)): row for row in _objects(folder / SHARED)}


def _extracted(out: Path) -> dict[str, dict[str, Any]]:
    """Returns what was extracted, by document and schema."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((out / EXTRACTED).glob("*.jsonl")):
        for row in _objects(path):
            found.setdefault(str(row.get("document")), {})[path.stem] = row.get("values")
    return found


def _objects(path: Path, whole: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yields the objects of a file, of each line or of all of it; nothing where there is none."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE:
            return
        data = path.read_bytes()
        texts = [data] if whole else [line for line in data.splitlines() if line.strip()]
        rows = [json.loads(text) for text in texts]
    except OSError as exc:
        raise UsageError(f"{path} cannot be read: {exc.strerror}.") from exc
    except (ValueError, RecursionError) as exc:
        raise UsageError(f"{path} is not JSON: {exc}.", "Mend it, or take it away.") from exc
    yield from (row for row in rows if isinstance(row, dict))

"""Questions with the pages that answer them: KoPub's QA table, or a file of one's own.

Parquet, Arrow, JSON lines, JSON, or plain text with a question a line. `ground_truth` holds rows of the
corpus (numbers, as KoPub has them) or page ids.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import UsageError

TEXT_NAMES = ("query", "question", "text")
ID_NAMES = ("id", "query_id", "query-id", "_id", "qid")
TRUTH_NAMES = ("ground_truth", "relevant", "page_ids", "pages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """`relevant` are page ids, or row numbers as text; see `resolved`."""

    id: str
    text: str
    type: str = ""
    domain: str = ""
    answer: str = ""
    relevant: tuple[str | int, ...] = ()

    def resolved(self, page_ids: Sequence[str]) -> set[str]:
        """Returns the relevant pages' ids: a number is a row of the corpus, other text is an id."""
        known = set(page_ids)
        found: set[str] = set()
        for value in self.relevant:
            if isinstance(value, str) and value in known:
                found.add(value)
            elif str(value).isdecimal() and int(value) < len(page_ids):
                found.add(page_ids[int(value)])
        return found


def read_queries(path: Path) -> list[Query]:
    """Returns all questions of a file. Raises UsageError if it holds none."""
    if not path.is_file():
        raise UsageError(f"There is no file of queries at {path}.")
    rows = _rows(path)
    queries = [_query(number, row, path) for number, row in enumerate(rows)]
    if not queries:
        raise UsageError(f"{path} holds no queries.")
    if len({query.id for query in queries}) != len(queries):
        raise UsageError(f"Two queries of {path} have the same id.", "Give each its own, or none at all.")
    return queries


def _rows(path: Path) -> list[Any]:
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".arrow"):
        return _table_rows(path)
    try:
        text = path.read_text("utf-8-sig")
        if suffix == ".json":
            return _json_rows(json.loads(text))
        if suffix == ".jsonl":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
    except UnicodeDecodeError as exc:
        raise UsageError(f"{path} is not text in UTF-8.", "Save it as UTF-8, or as Parquet.") from exc
    except ValueError as exc:
        raise UsageError(f"{path} is not {suffix[1:].upper()}: {exc}.") from exc
    return [line.strip() for line in text.splitlines() if line.strip()]


def _json_rows(value: Any) -> list[Any]:
    """A list of rows, rows by name, or one row alone."""
    if isinstance(value, dict):
        return [value] if _first(value, TEXT_NAMES) is not None else list(value.values())
    return value if isinstance(value, list) else [value]


def _table_rows(path: Path) -> list[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.suffix.lower() == ".parquet":
            table = pq.read_table(path)
        else:
            with pa.memory_map(str(path)) as file:
                is_file = file.read(6) == b"ARROW1"
                file.seek(0)
                table = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file).read_all()
    except (pa.ArrowException, OSError) as exc:
        raise UsageError(f"{path} cannot be read: {exc}.") from exc
    rows: list[Any] = table.to_pylist()
    return rows


def _query(number: int, row: Any, path: Path) -> Query:
    row = row if isinstance(row, dict) else {"query": row}
    text = _first(row, TEXT_NAMES)
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"{path}, row {number + 1} has no query.", f"Call the column {TEXT_NAMES[0]!r}.")
    truth = _first(row, TRUTH_NAMES)
    own = _first(row, ID_NAMES)
    return Query(
        id=f"q{number:05d}" if own is None else str(own),
        text=text.strip(),
        type=str(row.get("type") or ""),
        domain=str(row.get("domain") or ""),
        answer=str(row.get("answer") or ""),
        relevant=_truth(truth, f"{path}, row {number + 1}"),
    )


def _truth(value: Any, where: str) -> tuple[str | int, ...]:
    if value is None:
        return ()
    if isinstance(value, str) and value.startswith("["):  # a list that went through CSV
        try:
            value = json.loads(value)
        except ValueError as exc:
            raise UsageError(f"{where}: {value!r} is not a list of pages.", "Write it like [3, 17].") from exc
    many = value if isinstance(value, (list, tuple)) else [value]
    return tuple(one if isinstance(one, int) else str(one) for one in many)


def _first(row: dict[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)

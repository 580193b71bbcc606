"""Finds the columns and ids of Arrow and Parquet files. Runs in the child that probe.py starts."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.sources.probe_questions import Columns, FindColumns, ReadIds, TableQuestion
from penstock.sources.tables import ColumnReader, find_columns

IDS_AT_ONCE = 4096


class TableAnswers:
    """Answers FindColumns and ReadIds. Keeps the last table open: its ids are asked for in order."""

    def __init__(self) -> None:
        self._rows: tuple[tuple[str, str | None], ColumnReader] | None = None

    def __call__(self, question: TableQuestion) -> Columns | Sequence[str | None]:
        if isinstance(question, FindColumns):
            return find_columns(question.path, question.image, question.own_id)
        return self._ids(question)

    def _ids(self, question: ReadIds) -> Sequence[str | None]:
        rows = self._open_rows(question.path, question.column)
        if question.column is None:
            return [None] * rows.count(question.start, IDS_AT_ONCE)
        values = rows.read(question.start, IDS_AT_ONCE)
        return [None if value is None else str(value) for value in values]

    def _open_rows(self, path: str, column: str | None) -> ColumnReader:
        if self._rows is None or self._rows[0] != (path, column):
            self.close()
            self._rows = ((path, column), ColumnReader(path, column))
        return self._rows[1]

    def close(self) -> None:
        if self._rows is not None:
            self._rows[1].close()
            self._rows = None

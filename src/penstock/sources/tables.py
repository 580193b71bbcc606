"""Reads one column of one Arrow or Parquet file, row by row, memory-mapped.

Read rows in rising order: a reader keeps its place, and going back starts over. An Arrow batch costs its
metadata only; of a Parquet file the current row group is decoded a few rows at a time. Parses foreign
bytes: call it in a process that can be killed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from penstock.errors import BadInput, first_line
from penstock.sources.formats import SUFFIXES, NoPictures, sniff_picture
from penstock.sources.probe_questions import Columns

if TYPE_CHECKING:
    from typing import Self

# decoded at once; a picture may have 100 MB, and 16 equal ones only one of them on disk
PARQUET_PICTURES, PARQUET_VALUES = 1, 256
PROBE_ROWS = 64  # looked at for a value; a column empty for longer is passed by
ID_COLUMNS = ("id", "page_id", "image_id", "_id", "corpus_id", "corpus-id", "uid", "uuid", "key", "__key__")
IMAGE_COLUMNS = ("image", "page_image", "img", "picture", "page")
MAX_REASON_CHARS = 200  # of Arrow's own words
BROKEN = (pa.ArrowException, OSError, ValueError, EOFError)


class ColumnReader:
    """The values of one column, by row. Close it, or use it in a `with`."""

    def __init__(self, path: str, column: str | None = None) -> None:
        try:
            self._map = pa.memory_map(path)
        except BROKEN as exc:
            raise BadInput("the table is gone or may not be read.") from exc
        self._column = column
        self._chunks: Iterator[tuple[int, pa.Array]] = iter(())
        self._first, self._values = 0, None
        try:
            head = bytes(self._map.read(8))
            self._parquet = pa.parquet.ParquetFile(self._map) if head.startswith(b"PAR1") else None
            self._is_stream = not head.startswith(b"ARROW1")
            self._starts = _group_starts(self._parquet) if self._parquet else []
            if self._starts and self._starts[-1] > Path(path).stat().st_size:
                raise ValueError(f"it claims {self._starts[-1]:,} rows, more than it has bytes")
            self.schema = self._parquet.schema_arrow if self._parquet else self._open_arrow(None).schema
        except BROKEN as exc:
            self._map.close()
            raise BadInput(f"the table is damaged ({first_line(exc)[:MAX_REASON_CHARS]}).") from exc

    @property
    def is_parquet(self) -> bool:
        return self._parquet is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._values, self._chunks = None, iter(())
        self._map.close()

    def read(self, start: int, count: int) -> list[Any]:
        """Returns `count` values from row `start` on as Python objects; fewer at the end of the table."""
        values: list[Any] = []
        try:
            while len(values) < count and self._seek(start + len(values)):
                assert self._values is not None
                offset = start + len(values) - self._first
                part = self._values.slice(offset, count - len(values))
                values.extend(part.to_pylist())
        except MemoryError as exc:
            raise BadInput("the row needs more memory than a process that reads files may use.") from exc
        except BROKEN as exc:
            raise BadInput(
                f"the table is damaged at row {start + len(values)} ({first_line(exc)[:MAX_REASON_CHARS]})."
            ) from exc
        return values

    def count(self, start: int, count: int) -> int:
        """Counts the rows from `start` on, up to `count`, without reading their values."""
        if self._parquet is not None:
            return max(0, min(count, self._starts[-1] - start))
        if not self._seek(start):
            return 0
        assert self._values is not None
        return int(min(count, self._first + len(self._values) - start))

    def _seek(self, row: int) -> bool:
        """Moves to the chunk that holds `row`. Returns False if the table ends before it."""
        if self._values is None or row < self._first or self._is_far(row):
            self._chunks = self._chunks_from(row)
            self._first, self._values = 0, None
        while self._values is None or row >= self._first + len(self._values):
            chunk = next(self._chunks, None)
            if chunk is None:
                self._values = None
                return False
            self._first, self._values = chunk
        return True

    def _is_far(self, row: int) -> bool:
        """Whether opening at the row's own row group beats decoding up to it."""
        return self._parquet is not None and self._group_of(row)[0] > self._group_of(self._first)[0]

    def _chunks_from(self, row: int) -> Iterator[tuple[int, pa.Array]]:
        if self._parquet is not None:
            group, first = self._group_of(row)
            groups = list(range(group, self._parquet.num_row_groups))
            batches = self._parquet.iter_batches(
                self._rows_at_once(), groups, [self._column] if self._column else None, use_threads=False
            )
        else:
            first, batches = 0, self._arrow_batches()
        for batch in batches:
            yield (
                first,
                batch.column(0 if self._column is None else batch.schema.get_field_index(self._column)),
            )
            first += batch.num_rows

    def _rows_at_once(self) -> int:
        index = self.schema.get_field_index(self._column or "")
        pictures = index >= 0 and _may_hold_pictures(self.schema.field(index).type)
        return PARQUET_PICTURES if pictures else PARQUET_VALUES

    def _group_of(self, row: int) -> tuple[int, int]:
        """The row group that holds `row`, and its first row; past the end, one after the last."""
        group = bisect_right(self._starts, row) - 1
        return group, self._starts[group]

    def _arrow_batches(self) -> Iterator[pa.RecordBatch]:
        reader = self._open_arrow(self._column)
        if self._is_stream:
            yield from reader
            return
        for index in range(reader.num_record_batches):
            yield reader.get_batch(index)

    def _open_arrow(self, column: str | None) -> Any:
        """Opens `column` only, from the start of the file: a stream cannot be opened twice."""
        self._map.seek(0)
        fields = [] if column is None else [self.schema.get_field_index(column)]
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        opener = pa.ipc.open_stream if self._is_stream else pa.ipc.open_file
        return opener(self._map, options=options)


def _group_starts(file: Any) -> list[int]:
    """First rows of a Parquet file's row groups, and the number of all rows."""
    sizes = (file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))
    return list(accumulate(sizes, initial=0))


def find_columns(path: str, image: str | None = None, own_id: str | None = None) -> Columns:
    """Returns the named columns, or finds them: the first with pictures, the first with an id's name."""
    with ColumnReader(path) as rows:
        schema, is_parquet = rows.schema, rows.is_parquet
    has = f"It has: {', '.join(schema.names)}."
    if image is not None and image not in schema.names:
        raise NoPictures(f"the table has no column '{image}'.", has)
    image = image or _find_pictures(path, schema)
    if own_id is not None and own_id not in schema.names:
        raise BadInput(f"the table has no column '{own_id}'.", has)
    return Columns(image, own_id or _find_ids(schema), is_parquet)


def picture_bytes(value: Any, folder: Path) -> bytes:
    """Returns a cell's encoded picture: bytes, or {bytes, path} with a path inside the dataset's folder."""
    if isinstance(value, dict):
        path = value.get("path")
        value = value.get("bytes") or (_read_beside(folder, path) if path else None)
    if not isinstance(value, bytes) or not value:
        raise BadInput("the row has no picture.")
    return value


def _read_beside(folder: Path, path: str) -> bytes:
    whole = (folder / path).resolve()
    if not whole.is_relative_to(folder.resolve()):
        advice = "Move it into the dataset's folder."
        raise BadInput(f"the row names a picture outside its dataset ('{path}').", advice)
    try:
        return whole.read_bytes()
    except OSError as exc:
        raise BadInput(f"the row's picture '{path}' cannot be read: {exc.strerror}.") from exc


def _find_pictures(path: str, schema: pa.Schema) -> str:
    names: list[str] = [field.name for field in schema if _may_hold_pictures(field.type)]
    for name in sorted(names, key=lambda name: name not in IMAGE_COLUMNS):
        if _is_picture(_first_value(path, name)):
            return name
    raise NoPictures("the table has no column of pictures.", "Name one with --image-column.")


def _first_value(path: str, column: str) -> Any:
    """Returns the first cell that is not empty. Reads one by one: each may have megabytes."""
    with ColumnReader(path, column) as rows:
        cells = (rows.read(row, 1) for row in range(PROBE_ROWS))
        return next((cell[0] for cell in cells if cell and cell[0] is not None), None)


def _may_hold_pictures(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return bool(kind.get_field_index("bytes") >= 0)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_picture(value: Any) -> bool:
    if isinstance(value, dict):
        path = value.get("path")
        if not value.get("bytes"):
            return isinstance(path, str) and path.lower().endswith(SUFFIXES)
        value = value["bytes"]
    return isinstance(value, bytes) and sniff_picture(value[:32]) is not None


def _find_ids(schema: pa.Schema) -> str | None:
    return next((name for name in ID_COLUMNS if name in schema.names and _is_id(schema.field(name))), None)


def _is_id(field: pa.Field) -> bool:
    kind = field.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind))

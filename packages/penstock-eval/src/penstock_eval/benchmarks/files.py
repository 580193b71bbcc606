"""Finds a data set's files in a folder, and reads rows from JSON, JSONL or Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from penstock.errors import BadInput, UsageError
from penstock.store.atomic_files import replacing
from penstock_eval.benchmarks.base import Sample

PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
HEAVY_COLUMNS = ("image", "images", "img", "png", "jpg")  # never needed to score
NAMING_COLUMNS = ("image_path", "image", "image_name", "file_name", "filename")
PICTURE_NAME = "picture_name"  # of a row: the picture's own name inside the file
IN_PARQUET = ".parquet::"  # a picture inside a file: FILE.parquet::COLUMN::ROW


def need_folder(folder: Path, layout: str) -> Path:
    if not folder.exists():
        raise UsageError(f"There is no data set at {folder}.", f"It should hold {layout}.")
    return folder


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise BadInput(f"{path} cannot be read as JSON ({exc}).") from exc


def rows(path: Path, *patterns: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of a file, or of all matching files in a folder in the order of their names."""
    for file in files_of(path, *patterns):
        yield from rows_of(file)


def files_of(path: Path, *patterns: str) -> list[Path]:
    """Returns a file, or all matching files in a folder by name. Raises UsageError where there is none."""
    files = [path] if path.is_file() else sorted(f for p in patterns for f in path.rglob(p))
    if not files:
        raise UsageError(f"{path} holds no {' or '.join(patterns)}.")
    return files


def rows_of(file: Path) -> Iterator[dict[str, Any]]:
    if file.suffix == ".parquet":
        yield from _parquet_rows(file)
    elif file.suffix == ".jsonl":
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
            if line.strip():
                yield _object(line, f"{file}, line {number}")
    else:
        content = read_json(file)
        yield from content if isinstance(content, list) else [content]


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as exc:
        raise BadInput(f"{where} is not JSON ({exc}).") from exc
    if not isinstance(value, dict):
        raise BadInput(f"{where} is not a JSON object.")
    return value


def _parquet_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yields rows without their pictures; `picture` is the address that `parquet_picture` takes."""
    import pyarrow.parquet as parquet

    opened = parquet.ParquetFile(file)
    names = opened.schema_arrow.names
    held = next((name for name in HEAVY_COLUMNS if name in names), None)
    light = [name for name in names if name not in HEAVY_COLUMNS]
    light += [f"{held}.path"] if held and _has_path(opened.schema_arrow.field(held).type) else []
    number = 0
    for batch in opened.iter_batches(batch_size=256, columns=light):
        for row in batch.to_pylist():
            yield _with_address(row, held, f"{file}::{held}::{number}") if held else row
            number += 1


def _has_path(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_struct(kind) and kind.get_field_index("path") >= 0)


def _with_address(row: dict[str, Any], held: str, address: str) -> dict[str, Any]:
    """Returns the row with the address of its picture and the name that the picture has in the file."""
    named = row.pop(held, None) or {}
    return {**row, PICTURE_NAME: named.get("path") or "", "picture": address}


def parquet_picture(place: str) -> bytes:
    """Returns the bytes of one picture inside a Parquet file, as data sets of the Hub hold them."""
    name, column, number = place.rsplit("::", 2)
    row = int(number)
    for group, count in enumerate(_group_sizes(name)):
        if row < count:
            value = _group(name, column, group)[row].as_py()
            held = value["bytes"] if isinstance(value, dict) else value
            if isinstance(held, bytes):
                return held
            break
        row -= count
    raise BadInput(f"{place} holds no picture.")


@lru_cache(maxsize=8)
def _group_sizes(name: str) -> list[int]:
    import pyarrow.parquet as parquet

    facts = parquet.read_metadata(name)
    return [facts.row_group(group).num_rows for group in range(facts.num_row_groups)]


@lru_cache(maxsize=1)  # pictures are taken in their order: without it each would read all of its group
def _group(name: str, column: str, group: int) -> Any:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(name) as opened:
        return opened.read_row_group(group, columns=[column]).column(0)


def with_pictures(samples: Sequence[Sample], folder: Path) -> list[Sample]:
    """Returns the samples with every picture a file; writes those inside Parquet to `folder`, once.

    The folder above is OUT.
    """
    found: list[Sample] = []
    for sample in samples:
        if IN_PARQUET not in sample.image:
            found.append(sample)
            continue
        path = folder / f"{sample.id}.png"
        if not path.is_file():
            with replacing(path, folder.parent, sync=False) as file:
                file.write(parquet_picture(sample.image))
        found.append(replace(sample, image=str(path)))
    _group.cache_clear()
    _group_sizes.cache_clear()
    return found


def row_id(row: dict[str, Any], number: int) -> str:
    return str(row.get("id") or f"{number:06d}")


def row_picture(row: dict[str, Any], folder: Path) -> str:
    """Returns the address of a row's picture: inside its Parquet file, or a file that the row names."""
    if row.get("picture"):
        return str(row["picture"])
    root = folder.parent if folder.is_file() else folder
    named = (row[name] for name in NAMING_COLUMNS if isinstance(row.get(name), str))
    return next((found for name in named if (found := picture_for(root, name))), "")


def picture_for(folder: Path, name: str) -> str:
    """Returns the path of a sample's picture, by its own name or with any picture suffix; "" without one."""
    direct = folder / name
    if name and direct.is_file():
        return str(direct)
    return next((str(p) for s in PICTURES if name and (p := folder / f"{name}{s}").is_file()), "")

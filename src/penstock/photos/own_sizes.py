"""Furniture of one's own as a CSV: sizes in metres that replace those of the built-in table, or add to it.

    name,width,depth,height,spread,packing,movable,synonyms
    sofa,2.10,0.95,0.80,0.05,,,
    kimchi_fridge,0.67,0.80,1.80,,,,김치냉장고;kimchi refrigerator

Only the first four columns must be there; of the others a field may be empty.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import UsageError
from penstock.sizes import MB, file_size

MUST, MAY = ("name", "width", "depth", "height"), ("spread", "packing", "movable", "synonyms")
MAX_BYTES = 1 * MB
MAX_LINES = 5_000
MAX_METRES, MAX_SPREAD, MAX_PACKING = 50.0, 2.0, 10.0
MAX_CHARS = 100  # of a name
NO = ("0", "no", "false")


@dataclass(frozen=True, slots=True)
class OwnSize:
    """One row. None: as the class has it, or an unknown class."""

    name: str
    size: tuple[float, float, float]
    spread: float | None
    packing: float | None
    movable: bool | None
    synonyms: tuple[str, ...]


def read_sizes(path: Path) -> list[OwnSize]:
    """Raises UsageError that names the line."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"The furniture table has more than {file_size(MAX_BYTES)}.")
        return list(_rows(path.read_text("utf-8-sig")))
    except (OSError, UnicodeError, csv.Error) as exc:
        raise UsageError(f"The furniture table is no CSV: {exc}.") from exc


def _rows(text: str) -> Iterator[OwnSize]:
    reader = csv.DictReader(text.splitlines(), strict=True)
    names = reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
    if not set(MUST) <= set(names) or set(names) - {*MUST, *MAY} or len(set(names)) < len(names):
        advice = f"Its first line is {','.join((*MUST, *MAY))}; the last four may be left out."
        raise UsageError("The furniture table has other columns than it should.", advice)
    for row in reader:
        if reader.line_num > MAX_LINES:
            raise UsageError(f"The furniture table has more than {MAX_LINES} lines.")
        if None in row or None in row.values():
            raise UsageError(f"Line {reader.line_num} of the furniture table has too many or too few fields.")
        yield _row({name: text.strip() for name, text in row.items()}, reader.line_num)


def _row(row: Mapping[str, str], line: int) -> OwnSize:
    name, movable = row["name"], row.get("movable")
    if not name or len(name) > MAX_CHARS:
        raise UsageError(f"Line {line} of the furniture table has no name, or a long one.")
    width, depth, height = (_number(row, side, line, MAX_METRES) for side in MUST[1:])
    return OwnSize(
        name=name,
        size=(width, depth, height),
        spread=_number(row, "spread", line, MAX_SPREAD) if row.get("spread") else None,
        packing=_number(row, "packing", line, MAX_PACKING) if row.get("packing") else None,
        movable=movable.lower() not in NO if movable else None,
        synonyms=tuple(word for text in row.get("synonyms", "").split(";") if (word := text.strip())),
    )


def _number(row: Mapping[str, str], name: str, line: int, highest: float) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not 0 < value <= highest:
        raise UsageError(
            f"In line {line} of the furniture table {name} is {row[name][:20]!r}.",
            f"Write a number above 0 and up to {highest:g}.",
        )
    return value

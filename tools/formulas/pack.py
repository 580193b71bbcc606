"""Packs layouts and glyph outlines into shards that travel: some hundred bytes a formula.

    python pack.py --layouts train*.jsonl --glyphs train*.json --out shards --name train \\
        --fonts schola=texgyreschola-math.otf bonum=texgyrebonum-math.otf

A shard is an LZMA-compressed .npz: columns for all marks, columns for all rules, labels as token numbers.
`--fonts` adds letters of OpenType fonts; raster.py may draw a formula's letters from those.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from outlines import Contours, extent, of_font, of_path
from vocabulary import encode

MAX_SHARD_BYTES = 45_000_000
MAX_EM = 60.0  # wider formulas cannot be read at any size that we draw
LIMITS_OF_INT16 = 32_000


class Atlas:
    """All glyphs by key (`font:variant-codepoint`), numbered in the order of first use."""

    def __init__(self, paths: dict[str, str]) -> None:
        self._paths = paths
        self.keys: dict[str, int] = {}
        self.contours: list[Contours] = []
        self.extents: list[tuple[int, int, int, int]] = []

    def number(self, key: str) -> int:
        if key not in self.keys:
            self.add(key, of_path(self._paths[key]))
        return self.keys[key]

    def add(self, key: str, contours: Contours) -> None:
        self.keys[key] = len(self.contours)
        self.contours.append(contours)
        self.extents.append(extent(contours) if contours else (0, 0, 0, 0))

    def add_font(self, name: str, file: Path) -> None:
        """Adds a font's letters for every codepoint that the layouts use."""
        codes = {int(key.rpartition("-")[2], 16) for key in self.keys if plain(key)}
        for code, contours in of_font(file, sorted(codes)).items():
            self.add(f"{name}:-{code:X}", contours)


def plain(key: str) -> bool:
    """Whether the key is of a glyph in its natural size: variants such as SO and S3 are of larger ones."""
    variant = key.partition(":")[2].rpartition("-")[0].rpartition("-")[2]
    return (
        not (variant.startswith(("S", "L")) and variant not in ("SC", "S", "SSI", "SSB", "SSR"))
        and variant != "EM"
    )


def rows(files: list[Path]) -> Iterator[list[Any]]:
    for file in files:
        with file.open() as lines:
            yield from (row for line in lines if (row := json.loads(line)))


class Columns:
    """Formulas as columns. `finished` returns the arrays of a shard."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._marks: list[tuple[int, int, int, int]] = []
        self._rules: list[list[int]] = []
        self._scales: dict[tuple[int, int], int] = {}
        self._labels: list[int] = []
        self._ends: list[tuple[int, int, int]] = []
        self._boxes: list[tuple[int, int, int, int]] = []

    def __len__(self) -> int:
        return len(self._ends)

    def add(self, label: str, marks: list[list[Any]], rules: list[list[int]]) -> bool:
        """Adds a formula, unless it is too wide or too tall."""
        own_rules = [rule for rule in rules if rule[2] > 0 and rule[3] > 0]
        own_marks, boxes = [], [(x, y, x + w, y + h) for x, y, w, h in own_rules]
        for key, x, y, sx, sy, *window in marks:
            number = self._atlas.number(key)
            contours = self._atlas.contours[number]
            if not contours:
                continue
            box = placed(self._atlas.extents[number], x, y, sx, sy)
            if window:
                pieces = [overlap(placed(extent([one]), x, y, sx, sy), window) for one in contours]
                own_rules += [[a, b, c - a, d - b] for a, b, c, d in pieces if c > a and d > b]
                boxes += [piece for piece in pieces if piece[2] > piece[0] and piece[3] > piece[1]]
                continue
            scale = self._scales.setdefault((round(sx * 1000), round(sy * 1000)), len(self._scales))
            own_marks.append((number, round(x), round(y), scale))
            boxes.append(box)
        lefts, bottoms, rights, tops = zip(*boxes, strict=True)
        x0, y0, x1, y1 = min(lefts), min(bottoms), max(rights), max(tops)
        if x1 - x0 > MAX_EM * 1000 or max(abs(x0), abs(y0), abs(y1)) > LIMITS_OF_INT16 or x1 > 65_000:
            return False
        # marks keep their order, which is nearly that of reading, so differences stay small
        self._marks += own_marks
        self._rules += own_rules
        self._labels += encode(label.split())[1:-1]
        self._ends.append((len(self._marks), len(self._rules), len(self._labels)))
        self._boxes.append((x0, y0, x1, y1))
        return True

    def finished(self) -> dict[str, NDArray[Any]]:
        marks = np.array(self._marks, np.int32)
        return {
            "glyph": marks[:, 0].astype(np.uint16),
            "dx": np.diff(marks[:, 1], prepend=0).astype(np.int32),
            "y": marks[:, 2].astype(np.int16),
            "scale": marks[:, 3].astype(np.uint16),
            "scales": np.array(list(self._scales), np.int32),
            "rules": np.array(self._rules, np.int32).reshape(-1, 4),
            "labels": np.array(self._labels, np.uint16),
            "ends": np.array(self._ends, np.int64),
            "boxes": np.array(self._boxes, np.int32),
        }


def placed(
    box: tuple[int, int, int, int], x: float, y: float, sx: float, sy: float
) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = box
    return round(x + x0 * sx), round(y + y0 * sy), round(x + x1 * sx), round(y + y1 * sy)


def overlap(box: tuple[int, int, int, int], window: list[int]) -> tuple[int, int, int, int]:
    return max(box[0], window[0]), max(box[1], window[1]), min(box[2], window[2]), min(box[3], window[3])


def atlas_arrays(atlas: Atlas) -> dict[str, NDArray[Any]]:
    contours = [contour for glyph in atlas.contours for contour in glyph]
    return {
        "keys": np.array(list(atlas.keys)),
        "points": np.concatenate(contours),
        "point_ends": np.cumsum([len(contour) for contour in contours]),
        "contour_ends": np.cumsum([len(glyph) for glyph in atlas.contours]),
    }


def write_compressed(file: Path, arrays: dict[str, NDArray[Any]]) -> int:
    raw = io.BytesIO()
    np.savez(raw, **arrays)
    content = lzma.compress(raw.getvalue(), preset=6)
    file.write_bytes(content)
    return len(content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--layouts", nargs="+", type=Path, required=True)
    parser.add_argument("--glyphs", nargs="+", type=Path, required=True)
    parser.add_argument("--fonts", nargs="*", default=[], help="name=file.otf")
    parser.add_argument(
        "--without", type=Path, nargs="*", default=[], help="layouts whose labels are left out"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", required=True)
    options = parser.parse_args()
    paths: dict[str, str] = {}
    for file in options.glyphs:
        paths |= json.loads(file.read_text())
    atlas = Atlas(paths)
    columns = Columns(atlas)
    seen = {label for _, label, _, _ in rows(options.without)}
    left = 0
    for _, label, marks, rules in rows(options.layouts):
        fresh = label not in seen and all(mark[0] in paths for mark in marks)
        left += not (fresh and columns.add(label, marks, rules))
        seen.add(label)
    for named in options.fonts:
        name, _, file_name = named.partition("=")
        atlas.add_font(name, Path(file_name))
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / f"{options.name}.shard"
    size = write_compressed(file, {**columns.finished(), **atlas_arrays(atlas)})
    report = {
        "file": str(file),
        "formulas": len(columns),
        "left_out": left,
        "bytes": size,
        "glyphs": len(atlas.keys),
    }
    report["bytes_a_formula"] = round(size / max(1, len(columns)))
    if size > MAX_SHARD_BYTES:
        report["warning"] = "over 45 MB: give fewer layouts"
    print(json.dumps(report))


if __name__ == "__main__":
    main()

"""Builds `furniture_table.py` from openly licensed figures. Aggregates only, no product's own row.

    python tools/furniture_build.py ikea.csv > src/penstock/photos/furniture_table.py

`ikea.csv` is data/2020/2020-11-03/ikea.csv of rfordatascience/tidytuesday (CC0-1.0). Its tables have
few depths and its beds' depth is a drawer's, so those classes come from the mean sizes VoteNet
publishes for SUN RGB-D (facebookresearch/votenet, MIT). What neither has is ours: usual product sizes.
"""

from __future__ import annotations

import csv
import math
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path

Size = tuple[float, float, float]  # width, depth, height in metres
Product = tuple[str, Size]  # its name, and its size in cm
Row = tuple[str, Size, Size, str]  # class, median, spread of the logarithm, source

# which descriptions belong to a class: the first that fits counts
IKEA: dict[str, tuple[str, str]] = {
    "sofa": (r"^(2|3|4|two|three)-?\s?seat (sofa|section)(?!.?bed)", ""),
    "corner_sofa": (r"corner sofa(?!.?bed)", ""),
    "sofa_bed": (r"sofa.?bed", ""),
    "armchair": (r"^(wing chair|armchair|easy chair|rocking-chair)", ""),
    "chair": (r"^(chair|folding chair)", "Chairs"),
    "stool": (r"^(stool|footstool|pouffe)", ""),
    "bar_stool": (r"bar stool", ""),
    "bookcase": (r"^(bookcase|shelving unit|shelf unit|[23] sections)", "Bookcases & shelving units"),
    "cabinet": (r"^(cabinet|storage combination|glass-door cabinet|cupboard)", "Cabinets & cupboards"),
    "wardrobe": (r"wardrobe", "Wardrobes"),
    "tv_stand": (r"^tv bench", ""),
    "dresser": (r"^chest of", ""),
    "nightstand": (r"bedside table", ""),
    "desk": (r"^(desk|corner desk|computer)", ""),
}
MIN_ROWS = 11
MIN_SPREAD = 0.08  # a dozen products of one maker vary less than the world does

SUN_RGBD: dict[str, Size] = {
    "bed": (1.620, 2.114, 0.927),
    "table": (1.280, 0.791, 0.718),
    "bathtub": (1.398, 0.766, 0.473),
    "toilet": (0.454, 0.699, 0.756),
}
SUN_SPREAD: Size = (0.25, 0.20, 0.15)  # only means are published; this is the spread of like classes above

OWN: dict[str, tuple[Size, Size]] = {
    "office_chair": ((0.65, 0.65, 1.10), (0.12, 0.12, 0.15)),
    "coffee_table": ((1.00, 0.60, 0.43), (0.25, 0.20, 0.15)),
    "sideboard": ((1.50, 0.42, 0.80), (0.25, 0.12, 0.15)),
    "mattress": ((1.50, 2.00, 0.25), (0.25, 0.05, 0.25)),
    "refrigerator": ((0.80, 0.75, 1.80), (0.15, 0.12, 0.08)),
    "washing_machine": ((0.60, 0.62, 0.88), (0.06, 0.12, 0.08)),
    "television": ((1.20, 0.10, 0.72), (0.25, 0.50, 0.25)),
    "microwave": ((0.49, 0.40, 0.29), (0.08, 0.12, 0.10)),
    "air_conditioner": ((0.36, 0.36, 1.80), (0.12, 0.12, 0.08)),
    "piano": ((1.50, 0.62, 1.20), (0.05, 0.08, 0.08)),
    "bicycle": ((1.75, 0.60, 1.05), (0.08, 0.15, 0.08)),
    "lamp": ((0.40, 0.40, 1.50), (0.25, 0.25, 0.20)),
    "plant": ((0.60, 0.60, 1.10), (0.35, 0.35, 0.45)),
    "mirror": ((0.60, 0.08, 1.50), (0.30, 0.50, 0.25)),
    "carton": ((0.50, 0.40, 0.40), (0.25, 0.25, 0.25)),
    "clothes_care": ((0.45, 0.6, 1.85), (0.08, 0.08, 0.06)),
    "massage_chair": ((0.78, 1.5, 1.2), (0.12, 0.15, 0.1)),
    "air_purifier": ((0.36, 0.36, 0.7), (0.2, 0.2, 0.3)),
    "dishwasher": ((0.6, 0.6, 0.85), (0.12, 0.06, 0.15)),
    "treadmill": ((0.8, 1.75, 1.35), (0.12, 0.12, 0.12)),
    "bunk_bed": ((1.05, 2.07, 1.65), (0.15, 0.06, 0.1)),
    "grand_piano": ((1.5, 1.7, 1.0), (0.05, 0.2, 0.06)),
    "side_table": ((0.48, 0.45, 0.5), (0.2, 0.2, 0.2)),
    "rug": ((1.7, 2.4, 0.015), (0.3, 0.3, 0.4)),
    "printer": ((0.43, 0.38, 0.25), (0.12, 0.15, 0.3)),
    "door": ((0.85, 0.06, 2.05), (0.08, 0.4, 0.025)),
    "object": ((0.80, 0.55, 0.90), (0.55, 0.45, 0.50)),
}
STANDARD = {"door": "standard"}  # built everywhere alike


def rows(path: Path) -> list[Row]:
    """Every class with median and spread."""
    table = [row for name in IKEA if (row := _ikea_row(name, _ikea_sizes(path)[name]))]
    table += [(name, size, SUN_SPREAD, "sun-rgbd") for name, size in SUN_RGBD.items()]
    return table + [(name, size, spread, STANDARD.get(name, "own")) for name, (size, spread) in OWN.items()]


def _ikea_row(name: str, sizes: set[Product]) -> Row | None:
    if len(sizes) < MIN_ROWS:
        return None
    logs = [[math.log(size[axis] / 100) for _, size in sizes] for axis in range(3)]
    median = tuple(round(math.exp(statistics.median(values)), 3) for values in logs)
    spread = tuple(round(max(MIN_SPREAD, _spread(values)), 3) for values in logs)
    return name, (median[0], median[1], median[2]), (spread[0], spread[1], spread[2]), "ikea"


def _spread(values: list[float]) -> float:
    """Half of what holds the middle 68 %: outliers of a scrape do not move it."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return (cuts[83] - cuts[15]) / 2


def _ikea_sizes(path: Path) -> dict[str, set[Product]]:
    found: dict[str, set[Product]] = defaultdict(set)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                size = (float(row["width"]), float(row["depth"]), float(row["height"]))
            except ValueError:  # "NA": many have no depth
                continue
            name = _class_of(" ".join(row["short_description"].split()).lower(), row["category"])
            if name:
                found[name].add((row["name"], size))
    return found


def _class_of(description: str, category: str) -> str | None:
    for name, (pattern, wanted) in IKEA.items():
        if re.search(pattern, description) and wanted in ("", category):
            return name
    return None


def main() -> None:
    print('"""What furniture measures, by class. Made by furniture_build.py; edit a database, not this."""\n')
    print("from __future__ import annotations\n")
    print("# class, median (width, depth, height) in m, spread of their logarithms, source of the figures")
    print("Size = tuple[float, float, float]")
    print("ROWS: tuple[tuple[str, Size, Size, str], ...] = (")
    for row in rows(Path(sys.argv[1])):
        print(f"    {row!r},".replace("'", '"'))
    print(")")


if __name__ == "__main__":
    main()

"""Builds `furniture_table.py` from openly licensed figures. Aggregates only, no product's own row.

    python tools/furniture_build.py ikea.csv refrigerators.csv > src/penstock/photos/furniture_table.py

`ikea.csv` is data/2020/2020-11-03/ikea.csv of rfordatascience/tidytuesday (CC0-1.0). A series counts once,
in however many sizes it is sold: one wardrobe system has a third of the catalogue's wardrobes. Its tables
have few depths and its beds' depth is a drawer's, so those classes come from the mean sizes VoteNet publishes
for SUN RGB-D (facebookresearch/votenet, MIT). `refrigerators.csv` is "ENERGY STAR Certified Residential
Refrigerators" of the US EPA (data.energystar.gov, p5st-her9, public domain): widths and heights, a brand
counts once. What none has is ours: usual product sizes. Where a side has two sources, the median is the
middle of theirs, and the spread holds what lies within them and between them.

How sides vary together is the catalogue's too: a wide sofa is deep. A dozen products tell little of that, so
a class's correlations are drawn towards those of all classes, which other classes have as they are.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Size = tuple[float, float, float]  # width, depth, height in metres
Product = tuple[str, Size]  # its series, and its size

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
MIN_ROWS = 9
PART = 1 / 3  # of the class's median side: what is smaller is a drawer's or a leg's length, not the product's
MIN_SPREAD = 0.08  # a dozen products of one maker vary less than the world does
AS_MANY = 20  # products that what all classes say of correlations is worth

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
    "television": ((1.20, 0.07, 0.72), (0.25, 0.40, 0.25)),  # flat ones, without their foot
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
    "object": ((0.80, 0.55, 0.90), (0.55, 0.45, 0.50)),
}
STANDARD: dict[str, tuple[Size, Size]] = {  # built everywhere alike, so that no side tells of another
    "door": ((0.85, 0.06, 2.05), (0.08, 0.4, 0.025)),
    "a4_sheet": ((0.297, 0.21, 0.002), (0.02, 0.02, 0.5)),
}
ALONE: Size = (0.0, 0.0, 0.0)
INCH = 0.0254  # m


@dataclass(frozen=True, slots=True)
class Row:
    """A class: medians, spreads of logarithms, correlations of width and depth, width and height, both."""

    name: str
    size: Size
    spread: Size
    together: Size
    source: str

    def __str__(self) -> str:
        values = (self.name, *map(_rounded, (self.size, self.spread, self.together)), self.source)
        return repr(values).replace("'", '"')


def rows(ikea: Path, refrigerators: Path) -> list[Row]:
    """Every class with medians, spreads and correlations."""
    products = {name: _whole(found) for name, found in _ikea_sizes(ikea).items()}
    catalogue = {name: products[name] for name in IKEA if len(products.get(name, ())) >= MIN_ROWS}
    usual = _usual_correlations(list(catalogue.values()))
    table = [_ikea_row(name, found, usual) for name, found in catalogue.items()]
    table += [Row(name, size, SUN_SPREAD, usual, "sun-rgbd") for name, size in SUN_RGBD.items()]
    own = [Row(name, size, spread, usual, "own") for name, (size, spread) in OWN.items()]
    table += [_with_energy_star(row, refrigerators) if row.name == "refrigerator" else row for row in own]
    return table + [Row(name, size, spread, ALONE, "standard") for name, (size, spread) in STANDARD.items()]


def _whole(products: set[Product]) -> list[Product]:
    """Those whose sides are all the product's, in a fixed order."""
    least = PART * np.median([size for _, size in products], axis=0)
    return sorted(product for product in products if (np.array(product[1]) > least).all())


def _ikea_row(name: str, products: Sequence[Product], usual: Size) -> Row:
    logs, weight = _logs(products), _weights([series for series, _ in products])
    median = np.exp([_quantile(side, weight, 0.5) for side in logs.T])
    spread = [max(MIN_SPREAD, _spread(side, weight)) for side in logs.T]
    together = (len(logs) * _correlations(logs, weight) + AS_MANY * np.array(usual)) / (len(logs) + AS_MANY)
    return Row(name, _size(median), _size(spread), _size(together), "ikea")


def _logs(products: Sequence[Product]) -> Array:
    return np.log([size for _, size in products])


def _weights(makers: Sequence[str]) -> Array:
    """What each product counts: those of one series, or of one brand, count for one together."""
    num = Counter(makers)
    return np.array([1 / num[maker] for maker in makers])


def _usual_correlations(classes: Sequence[Sequence[Product]]) -> Size:
    found = [_correlations(_logs(one), _weights([series for series, _ in one])) for one in classes]
    return _size(np.average(found, axis=0, weights=[len(one) for one in classes]))


def _correlations(logs: Array, weight: Array) -> Array:
    around = np.cov(logs.T, aweights=weight)
    scale = np.sqrt(np.diag(around))
    return np.asarray((around / np.outer(scale, scale))[[0, 0, 1], [1, 2, 2]])


def _spread(values: Array, weight: Array) -> float:
    """Half of what holds the middle 68 %: outliers of a scrape do not move it."""
    return (_quantile(values, weight, 0.84) - _quantile(values, weight, 0.16)) / 2


def _quantile(values: Array, weight: Array, share: float) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weight[order]) - weight[order] / 2
    return float(np.interp(share, reached / weight.sum(), values[order]))


def _with_energy_star(row: Row, path: Path) -> Row:
    """Our row with widths and heights of what is certified; depths are not listed there."""
    sold = _energy_star_sizes(path)
    weight = _weights([brand for brand, *_ in sold])
    size, spread = list(row.size), list(row.spread)
    for axis, values in ((0, [width for _, width, _ in sold]), (2, [height for *_, height in sold])):
        logs = np.log(values)
        ends = np.log(size[axis]), _quantile(logs, weight, 0.5)
        size[axis] = float(np.exp(np.mean(ends)))
        within = (_spread(logs, weight) ** 2 + spread[axis] ** 2) / 2
        spread[axis] = float(np.sqrt(within + np.var(ends)))
    return replace(row, size=_size(size), spread=_size(spread), source="energy-star, own")


def _energy_star_sizes(path: Path) -> list[tuple[str, float, float]]:
    """Brands, widths and heights that are sold; small ones that stand under a table are left out."""
    found = set()
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["Compact"] != "Yes" and row["Width (in)"] and row["Height (in)"]:
                sides = float(row["Width (in)"]) * INCH, float(row["Height (in)"]) * INCH
                found.add((row["Brand Name"], *sides))
    return sorted(found)


def _ikea_sizes(path: Path) -> dict[str, set[Product]]:
    found: dict[str, set[Product]] = defaultdict(set)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                size = _size([float(row[side]) / 100 for side in ("width", "depth", "height")])
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


def _size(values: Sequence[float] | Array) -> Size:
    width, depth, height = (float(value) for value in values)
    return width, depth, height


def _rounded(values: Size) -> Size:
    return _size([round(value, 3) for value in values])


def main() -> None:
    print('"""What furniture measures, by class. Made by furniture_build.py; edit a database, not this."""\n')
    print("from __future__ import annotations\n")
    print("# class, median (width, depth, height) in m, spread of their logarithms, correlations of")
    print("# width and depth, width and height, depth and height, source of the figures")
    print("Size = tuple[float, float, float]")
    print("ROWS: tuple[tuple[str, Size, Size, Size, str], ...] = (")
    for row in rows(Path(sys.argv[1]), Path(sys.argv[2])):
        print(f"    {row},")
    print(")")


if __name__ == "__main__":
    main()

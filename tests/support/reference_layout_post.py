"""The layout rules once more, slowly: plain numbers in plain loops, one rule a function.

Written from the published rules and not from `penstock.engines.layout.clean`, so that the two can
check each other. `python -m tests.support.reference_layout_post --write` makes its golden file anew.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

NAMES = (
    "abstract", "algorithm", "aside_text", "chart", "content", "display_formula", "doc_title", "figure_title",
    "footer", "footer_image", "footnote", "formula_number", "header", "header_image", "image",
    "inline_formula", "number", "paragraph_title", "reference", "reference_content", "seal", "table", "text",
    "vertical_text", "vision_footnote",
)  # fmt: skip
GOLDEN = Path(__file__).parents[1] / "engines" / "layout" / "golden" / "layout_post.json"
GOLDEN_CASES = 2000


@dataclass(frozen=True)
class Row:
    """One box. `number` is its place in the input."""

    number: int
    label: int
    score: float
    box: tuple[float, float, float, float]
    order: int


@dataclass(frozen=True)
class Case:
    """One page of random boxes and the settings to clean it with."""

    width: int
    height: int
    rows: list[Row]
    threshold: float
    class_thresholds: dict[str, float]
    unclip: tuple[float, float]
    unclip_by_class: dict[str, tuple[float, float]]
    merge: dict[str, str]


def clean(case: Case) -> list[Row]:
    """What stays of a page, in reading order."""
    rows = [row for row in case.rows if row.score >= _threshold(case, row)]
    rows = _best_of_duplicates(rows)
    rows = _without_page_sized_images(rows, case.width, case.height)
    rows = _without_nested(rows, case.merge)
    rows = sorted(rows, key=lambda row: row.order)
    grown = [_grown(row, case) for row in rows]
    return [cut for row in grown if (cut := _cut(row, case.width, case.height))]


def _threshold(case: Case, row: Row) -> float:
    return case.class_thresholds.get(NAMES[row.label], case.threshold)


def _best_of_duplicates(rows: list[Row]) -> list[Row]:
    """Greedy, best score first; of equal scores the later row first."""
    waiting = sorted(rows, key=lambda row: (row.score, row.number), reverse=True)
    kept: list[Row] = []
    for row in waiting:
        if not any(_duplicate(better, row) for better in kept):
            kept.append(row)
    return kept


def _duplicate(a: Row, b: Row) -> bool:
    ax0, ay0, ax1, ay1 = a.box
    bx0, by0, bx1, by1 = b.box
    across = max(0, min(ax1, bx1) - max(ax0, bx0) + 1)
    down = max(0, min(ay1, by1) - max(ay0, by0) + 1)
    shared = across * down
    area_a = (ax1 - ax0 + 1) * (ay1 - ay0 + 1)
    area_b = (bx1 - bx0 + 1) * (by1 - by0 + 1)
    return shared / (area_a + area_b - shared) >= (0.6 if a.label == b.label else 0.98)


def _without_page_sized_images(rows: list[Row], width: int, height: int) -> list[Row]:
    if len(rows) <= 1:
        return rows
    share = 0.82 if width > height else 0.93
    small_enough = [row for row in rows if not _is_page(row, width, height, share)]
    return small_enough or rows


def _is_page(row: Row, width: int, height: int, share: float) -> bool:
    if NAMES[row.label] != "image":
        return False
    x0, y0, x1, y1 = max(0, row.box[0]), max(0, row.box[1]), min(width, row.box[2]), min(height, row.box[3])
    return (x1 - x0) * (y1 - y0) > share * (width * height)


def _without_nested(rows: list[Row], merge: dict[str, str]) -> list[Row]:
    """Every class judges the same rows; what any of them drops is gone."""
    dropped: set[int] = set()
    for name, mode in merge.items():
        label = NAMES.index(name)
        if mode == "large":
            dropped |= _inside_class(rows, label)
        if mode == "small":
            dropped |= _around_class(rows, label)
    return [row for row in rows if row.number not in dropped]


def _inside_class(rows: list[Row], label: int) -> set[int]:
    return {
        inner.number for inner in rows for outer in rows if outer.label == label and _inside(inner, outer)
    }


def _around_class(rows: list[Row], label: int) -> set[int]:
    held = [(i, o) for i in rows for o in rows if i.label == label and _inside(i, o)]
    contained = {inner.number for inner, _ in held}
    return {outer.number for _, outer in held} - contained


def _inside(inner: Row, outer: Row) -> bool:
    if inner is outer or NAMES[inner.label] in ("image", "seal", "chart"):
        return False
    x0, y0, x1, y1 = inner.box
    area = (x1 - x0) * (y1 - y0)
    across = max(0, min(x1, outer.box[2]) - max(x0, outer.box[0]))
    down = max(0, min(y1, outer.box[3]) - max(y0, outer.box[1]))
    return area > 0 and across * down / area >= 0.8


def _grown(row: Row, case: Case) -> Row:
    by_width, by_height = case.unclip_by_class.get(NAMES[row.label], case.unclip)
    if (by_width, by_height) == (1.0, 1.0):
        return row
    x0, y0, x1, y1 = row.box
    centre_x, centre_y = x0 + (x1 - x0) / 2, y0 + (y1 - y0) / 2
    half_x, half_y = (x1 - x0) * by_width / 2, (y1 - y0) * by_height / 2
    box = (centre_x - half_x, centre_y - half_y, centre_x + half_x, centre_y + half_y)
    return Row(row.number, row.label, row.score, box, row.order)


def _cut(row: Row, width: int, height: int) -> Row | None:
    x0, x1 = (max(0.0, min(x, width)) for x in (row.box[0], row.box[2]))
    y0, y1 = (max(0.0, min(y, height)) for y in (row.box[1], row.box[3]))
    return Row(row.number, row.label, row.score, (x0, y0, x1, y1), row.order) if x0 < x1 and y0 < y1 else None


def votes_order(logits: list[list[float]]) -> list[int]:
    """Place of each query by its expected number of predecessors."""
    from math import exp

    count = len(logits)

    def before(i: int, j: int) -> float:
        return 1 / (1 + exp(logits[j][i] - logits[i][j]))

    votes = [sum(before(i, j) for i in range(count) if i != j) for j in range(count)]
    ranked = sorted(range(count), key=lambda j: votes[j])
    return [ranked.index(j) for j in range(count)]


def random_case(seed: int, boxes: int | None = None) -> Case:
    """A page in the manner of real ones: columns of blocks, near duplicates, boxes in boxes, strays."""
    dice = random.Random(seed)
    width, height = dice.choice([(2480, 3508), (1654, 2339), (3508, 2480), (800, 800), (300, 4000)])
    count = dice.choice([0, 1, 2, 5, 12, 25, 40]) if boxes is None else boxes
    rows: list[Row] = []
    orders = dice.sample(range(300), min(300, max(1, count)))
    for number in range(count):
        box = _random_box(dice, width, height, [row.box for row in rows])
        label = dice.choice([14, 18, 19, 22, 22, 21, 3, 20, dice.randrange(25)])
        # three decimals, so that equal scores come up; half-pixel boxes, so that equal overlaps do
        rows.append(Row(number, label, round(dice.uniform(0.2, 1), 3), box, orders[number % len(orders)]))
    return Case(width, height, rows, **_random_settings(dice, boxes is None))


def _random_box(
    dice: random.Random, width: int, height: int, others: list[tuple[float, float, float, float]]
) -> tuple[float, float, float, float]:
    kind = dice.random()
    if others and kind < 0.25:  # a near duplicate
        box = tuple(v + dice.choice([0, 0, 0.5, -1, 3, 20]) for v in dice.choice(others))
    elif others and kind < 0.5:  # something inside another
        x0, y0, x1, y1 = dice.choice(others)
        left, top = dice.uniform(x0, x1), dice.uniform(y0, y1)
        box = (left, top, dice.uniform(left, x1 + 10), dice.uniform(top, y1 + 10))
    elif kind < 0.55:  # the page, more or less
        box = tuple(v + dice.uniform(-60, 60) for v in (0, 0, width, height))
    else:
        left, top = dice.uniform(-20, width), dice.uniform(-20, height)
        box = (left, top, left + dice.uniform(4, width / 2), top + dice.uniform(4, height / 4))
    x0, y0, x1, y1 = (round(v * 2) / 2 for v in box)
    return (x0, y0, max(x1, x0 + 0.5), max(y1, y0 + 0.5))


def _random_settings(dice: random.Random, varied: bool) -> dict:
    merge = {name: "small" if name == "reference" else "large" for name in NAMES}
    if not varied or dice.random() < 0.5:
        return {
            "threshold": 0.3,
            "class_thresholds": {},
            "unclip": (1.0, 1.0),
            "unclip_by_class": {},
            "merge": merge,
        }
    modes = {name: dice.choice(["large", "small", "union"]) for name in NAMES}
    return {
        "threshold": dice.choice([0.3, 0.5]),
        "class_thresholds": {dice.choice(NAMES): dice.choice([0.2, 0.4, 0.7]), "text": 0.45},
        "unclip": dice.choice([(1.0, 1.0), (1.02, 1.05), (0.9, 1.25)]),
        "unclip_by_class": dice.choice([{}, {"table": (1.1, 1.1), "text": (1.0, 1.2)}]),
        "merge": dice.choice([merge, modes]),
    }


def golden() -> dict[str, list[list[float]]]:
    """For each seed: number and box of what stays, in order."""
    return {
        str(seed): [[row.number, *row.box] for row in clean(random_case(seed))]
        for seed in range(GOLDEN_CASES)
    }


def main() -> None:
    if sys.argv[1:] != ["--write"]:
        raise SystemExit("usage: python tests/support/reference_layout_post.py --write")
    GOLDEN.parent.mkdir(exist_ok=True)
    lines = [f'"{seed}":{json.dumps(rows, separators=(",", ":"))}' for seed, rows in golden().items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"wrote {GOLDEN_CASES} cases to {GOLDEN}")


if __name__ == "__main__":
    main()

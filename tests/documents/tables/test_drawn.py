"""Grids on pictures that are drawn here; nothing is read."""

from __future__ import annotations

import cv2
import numpy as np

from penstock.box import Pixels
from penstock.documents.tables.drawn import drawings

EM = 20.0


def paper(height: int = 400, width: int = 600) -> Pixels:
    return np.full((height, width, 3), 255, dtype=np.uint8)


def line(page: Pixels, start: tuple[int, int], end: tuple[int, int]) -> None:
    cv2.line(page, start, end, (60, 60, 60), 2)


def grid(page: Pixels, xs: tuple[int, ...], ys: tuple[int, ...], drop: int = 0) -> None:
    """Lines at xs and ys; `drop` is how much lower their right ends are."""
    for y in ys:
        line(page, (xs[0], y), (xs[-1], y + drop))
    for x in xs:
        line(page, (x, ys[0]), (x, ys[-1] + drop))


def test_the_white_between_drawn_lines_are_cells() -> None:
    page = paper()
    grid(page, (100, 220, 340, 460), (100, 140, 180, 220))
    [found] = drawings(page, EM).grids
    assert len(found.cells) == 9
    assert found.closed == (True, True)
    x0, y0, x1, y1 = min(found.cells)
    assert abs(x0 - 100) < 6 and abs(y0 - 100) < 6 and abs(x1 - 220) < 6 and abs(y1 - 140) < 6


def test_a_grid_may_lie_askew() -> None:
    page = paper()
    grid(page, (100, 220, 340, 460), (100, 140, 180, 220), drop=6)
    [found] = drawings(page, EM).grids
    assert len(found.cells) == 9


def test_a_grid_without_lines_at_its_sides_is_open_and_has_all_its_cells() -> None:
    page = paper()
    for y in (100, 140, 180, 220):
        line(page, (80, y), (500, y))
    for x in (220, 340):
        line(page, (x, 100), (x, 220))
    [found] = drawings(page, EM).grids
    assert found.closed == (False, False)
    assert len(found.cells) == 9


def test_letters_and_frames_are_no_grids() -> None:
    page = paper()
    cv2.putText(page, "Letters HHH 田田", (40, 60), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 0, 0), 2)
    cv2.rectangle(page, (40, 100), (560, 380), (0, 0, 0), 2)
    assert drawings(page, EM).grids == ()


def test_a_line_across_that_stands_alone_is_a_rule() -> None:
    page = paper()
    line(page, (50, 200), (550, 200))
    [rule] = drawings(page, EM).rules
    assert rule[0] < 56 and rule[2] > 544 and rule[3] - rule[1] < 8


def test_a_speck_of_a_picture_has_no_drawings() -> None:
    assert drawings(paper(8, 8), EM).grids == ()
    assert drawings(paper(), 0.0).rules == ()

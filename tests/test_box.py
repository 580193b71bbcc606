"""Boxes: areas, overlaps, and the box around others."""

from __future__ import annotations

import pytest

from penstock.box import area, enclosing, iou, moved, shared_area

ONE, OTHER, FAR = (0.0, 0.0, 4.0, 2.0), (2.0, 0.0, 6.0, 2.0), (9.0, 9.0, 10.0, 10.0)


def test_boxes_share_the_area_of_their_overlap() -> None:
    assert (area(ONE), shared_area(ONE, OTHER), shared_area(ONE, FAR)) == (8.0, 4.0, 0.0)
    assert iou(ONE, OTHER) == pytest.approx(4 / 12)


def test_boxes_apart_or_turned_inside_out_have_nothing_in_common() -> None:
    assert iou(ONE, FAR) == 0.0
    assert area((4.0, 0.0, 0.0, 2.0)) == 0.0
    assert iou((1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0)) == 0.0


def test_the_box_around_others_holds_them_all() -> None:
    assert enclosing([ONE, FAR]) == (0.0, 0.0, 10.0, 10.0)
    assert enclosing([ONE]) == ONE


def test_a_moved_box_keeps_its_size() -> None:
    assert moved(ONE, 1.0, -1.0) == (1.0, -1.0, 5.0, 1.0)

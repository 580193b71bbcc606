"""Layout rules: the vectorised form against slow loops, golden pages, and each rule by name."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from penstock.engines.layout.clean import FoundBoxes, Rules, clean
from penstock.region import LABELS
from tests.support import reference_layout_post as reference

LIVE_SEEDS = range(100_000, 101_000)


def found(
    *rows: tuple[str, float, tuple[float, float, float, float]], order: list[int] | None = None
) -> FoundBoxes:
    return FoundBoxes(
        labels=np.array([LABELS.index(label) for label, _, _ in rows], dtype=np.int64),
        scores=np.array([score for _, score, _ in rows], dtype=np.float64),
        boxes=np.array([box for _, _, box in rows], dtype=np.float64).reshape(-1, 4),
        order=np.array(order or range(len(rows)), dtype=np.int64),
        query=np.arange(len(rows)),
    )


def numbers(result: FoundBoxes) -> list[int]:
    return [int(n) for n in result.query]


def of_case(case: reference.Case) -> list[list[float]]:
    """A reference case through the vectorised rules, in the golden file's form."""
    rows = case.rows
    page = FoundBoxes(
        labels=np.array([row.label for row in rows], dtype=np.int64),
        scores=np.array([row.score for row in rows], dtype=np.float64),
        boxes=np.array([row.box for row in rows], dtype=np.float64).reshape(-1, 4),
        order=np.array([row.order for row in rows], dtype=np.int64),
        query=np.arange(len(rows)),
    )
    rules = Rules(
        threshold=case.threshold,
        class_thresholds=case.class_thresholds,
        merge=case.merge,
        unclip=case.unclip,
        unclip_by_class=case.unclip_by_class,
    )
    kept = clean(page, case.width, case.height, rules)
    return [[int(q), *map(float, box)] for q, box in zip(kept.query, kept.boxes, strict=True)]


def test_golden_pages_come_out_as_written() -> None:
    golden = json.loads(reference.GOLDEN.read_text())
    assert len(golden) == reference.GOLDEN_CASES
    for seed, expected in golden.items():
        got = of_case(reference.random_case(int(seed)))
        assert [row[0] for row in got] == [row[0] for row in expected], f"seed {seed}"
        assert np.allclose(got, expected, rtol=0, atol=1e-9), f"seed {seed}"


def test_a_thousand_fresh_pages_equal_the_slow_loops() -> None:
    for seed in LIVE_SEEDS:
        case = reference.random_case(seed)
        expected = [[row.number, *row.box] for row in reference.clean(case)]
        got = of_case(case)
        assert [row[0] for row in got] == [row[0] for row in expected], f"seed {seed}"
        assert np.allclose(got, expected, rtol=0, atol=1e-9), f"seed {seed}"


@pytest.mark.parametrize("boxes", [100, 150, 300])
def test_crowded_pages_equal_the_slow_loops(boxes: int) -> None:
    for seed in range(3):
        case = reference.random_case(seed, boxes)
        assert [row[0] for row in of_case(case)] == [row.number for row in reference.clean(case)]


def test_an_empty_page_stays_empty() -> None:
    assert len(clean(found(), 100, 100)) == 0


def test_a_threshold_by_class_goes_before_the_common_one() -> None:
    rows = found(("text", 0.4, (0, 0, 10, 10)), ("table", 0.4, (50, 50, 80, 80)))
    rules = Rules(threshold=0.3, class_thresholds={"text": 0.5})
    assert numbers(clean(rows, 100, 100, rules)) == [1]
    assert rules.lowest_threshold == 0.3
    assert Rules(class_thresholds={"seal": 0.1}).lowest_threshold == 0.1


def test_a_score_at_the_threshold_stays() -> None:
    assert len(clean(found(("text", 0.3, (0, 0, 10, 10))), 100, 100)) == 1


def test_of_two_equal_boxes_of_a_class_the_surer_stays() -> None:
    rows = found(("text", 0.5, (0, 0, 40, 40)), ("text", 0.9, (1, 0, 40, 40)))
    assert numbers(clean(rows, 100, 100)) == [1]


def test_a_box_that_went_suppresses_nothing() -> None:
    # b goes for a; c overlaps b but not a, so it stays
    rows = found(
        ("text", 0.9, (0, 0, 100, 30)), ("text", 0.8, (0, 7, 100, 37)), ("text", 0.7, (0, 14, 100, 44))
    )
    assert numbers(clean(rows, 200, 200)) == [0, 2]


def test_two_classes_share_a_place_until_they_are_the_same_box() -> None:
    apart = found(("image", 0.9, (0, 0, 100, 100)), ("chart", 0.8, (0, 0, 100, 90)))
    assert numbers(clean(apart, 500, 500)) == [0, 1]
    same = found(("image", 0.9, (0, 0, 200, 200)), ("chart", 0.8, (0, 0, 200, 199)))
    assert numbers(clean(same, 500, 500)) == [0]


def test_an_image_of_the_whole_page_goes_unless_it_is_alone() -> None:
    page = ("image", 0.9, (0.0, 0.0, 100.0, 138.0))
    inside = ("text", 0.8, (10.0, 10.0, 90.0, 40.0))
    assert numbers(clean(found(page, inside), 100, 140)) == [1]
    assert numbers(clean(found(page), 100, 140)) == [0]
    landscape = ("image", 0.9, (0.0, 0.0, 140.0, 84.0))  # 0.84 of the page
    assert numbers(clean(found(landscape, inside), 140, 100)) == [1]


def test_what_lies_inside_a_block_goes_but_pictures_stay() -> None:
    rows = found(
        ("table", 0.9, (0, 0, 100, 100)), ("text", 0.8, (10, 10, 50, 50)), ("seal", 0.7, (60, 60, 90, 90))
    )
    assert numbers(clean(rows, 500, 500)) == [0, 2]


def test_a_list_of_references_holds_its_entries_and_not_the_reverse() -> None:
    inner = found(("reference_content", 0.9, (0, 0, 100, 100)), ("reference", 0.8, (10, 10, 90, 90)))
    # class `reference` is small: what holds one goes; but reference_content is large: what lies in it goes
    assert numbers(clean(inner, 500, 500)) == []
    outer = found(("reference", 0.9, (0, 0, 100, 100)), ("reference_content", 0.8, (10, 10, 90, 40)))
    assert numbers(clean(outer, 500, 500)) == [0, 1]


def test_reading_order_decides_the_order_and_score_the_ties() -> None:
    rows = found(
        ("text", 0.5, (0, 0, 10, 10)), ("text", 0.9, (20, 0, 30, 10)), ("text", 0.7, (40, 0, 50, 10)),
        order=[7, 7, 2],
    )  # fmt: skip
    assert numbers(clean(rows, 100, 100)) == [2, 1, 0]


def test_unclip_grows_about_the_centre_and_the_page_cuts() -> None:
    rows = found(("text", 0.9, (10, 10, 30, 20)), ("table", 0.9, (90, 90, 99, 99)))
    grown = clean(rows, 100, 100, Rules(unclip=(1.5, 2.0), unclip_by_class={"table": (2.0, 1.0)}))
    assert grown.boxes.tolist() == [[5, 5, 35, 25], [85.5, 90, 100, 99]]


def test_a_box_off_the_page_goes() -> None:
    assert len(clean(found(("text", 0.9, (110, 10, 130, 20))), 100, 100)) == 0


def test_an_inside_out_box_breaks_nothing() -> None:
    rows = found(("text", 0.9, (50, 50, 40, 40)), ("text", 0.8, (10, 10, 30, 30)))
    assert numbers(clean(rows, 100, 100)) == [1]


def test_rules_survive_a_trip_to_another_process() -> None:
    rules = Rules(threshold=0.4, class_thresholds={"text": 0.5})
    assert pickle.loads(pickle.dumps(rules)) == rules

"""A line of Korean as our network sees it, and what its answer says."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.engines.ocr.hangul_network import HALF, STEP, decoded, symbols_of
from penstock.engines.ocr.hangul_picture import HEIGHT, prepared

SIGNS = "\ufffd a"
SYLLABLE = len(SIGNS) + 1


def _chances(*steps: tuple[int, int, int, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chances of steps, each with its kind, pair, final consonant and how sure its kind is."""
    kinds = np.zeros((len(steps), SYLLABLE + 1), np.float32)
    pairs, finals = np.zeros((len(steps), 399), np.float32), np.zeros((len(steps), 28), np.float32)
    for row, (kind, pair, final, sure) in enumerate(steps):
        kinds[row, 0], kinds[row, kind] = 1 - sure, sure
        pairs[row, pair], finals[row, final] = 1.0, 1.0
    return kinds, pairs, finals


def test_steps_become_characters_with_the_surest_step_of_each() -> None:
    steps = [(0, 0, 0, 1.0), (SYLLABLE, 0, 0, 0.7), (SYLLABLE, 0, 0, 0.9), (2, 0, 0, 0.8), (3, 0, 0, 1.0)]
    found = decoded(*_chances(*steps), SIGNS)
    assert [(text, step) for text, step, _ in found] == [("가", 2), (" ", 3), ("a", 4)]
    assert found[0][2] == pytest.approx(0.9)


def test_a_repeated_syllable_is_two_where_a_blank_parts_them() -> None:
    ga, blank = (SYLLABLE, 0, 0, 0.9), (0, 0, 0, 0.9)
    assert "".join(text for text, _, _ in decoded(*_chances(ga, blank, ga, ga), SIGNS)) == "가가"


def test_the_last_syllable_has_the_last_pair_and_the_last_final_consonant() -> None:
    assert decoded(*_chances((SYLLABLE, 398, 27, 1.0)), SIGNS)[0][0] == "힣"


def test_a_space_is_told_by_what_follows_it_and_edges_meet_halfway() -> None:
    found = [(" ", 0, 1.0), ("가", 2, 0.9), (" ", 4, 0.9), ("나", 6, 0.8)]
    first, second = symbols_of(found, scale=STEP / 10, height=round(12 / HALF))
    assert (first.text, first.spaced, second.text, second.spaced) == ("가", False, "나", True)
    assert (first.x0, first.x1, second.x0) == (15.0, 35.0, 55.0)


@pytest.mark.parametrize("inverse", [False, True])
def test_a_line_is_cut_close_and_its_neighbours_are_left_out(inverse: bool) -> None:
    grey = np.full((50, 200), 230, np.uint8)
    grey[:4, :150] = 30  # the feet of the line above
    grey[16:40, 10:190] = 30
    ready = prepared(255 - grey if inverse else grey)
    assert ready.ink.shape == (HEIGHT, 232)
    assert ready.scale == pytest.approx(HEIGHT / 28, rel=0.01)
    assert ready.ink[0].max() < 60 and ready.ink[HEIGHT // 2, 100] > 240


def test_a_blank_picture_stays_blank() -> None:
    assert prepared(np.full((40, 90), 200, np.uint8)).ink.max() == 0

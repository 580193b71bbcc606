"""The detector for CPUs: what its numbers mean, and what it does to labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from penstock.engines.segment.nanodet import BINS, SIDE, NanodetSegmenter, decoded
from penstock.engines.segment.segmenter import CLASSES, FoundThing, SegmenterOptions
from penstock.photo import Photo
from penstock.stages.detect import Detect
from penstock.workers import detect
from tests.support.needs import needs_detector


def test_a_cell_tells_a_class_and_how_far_the_four_sides_are() -> None:
    chance = np.zeros((1, 169, 80), np.float32)
    sides = np.zeros((1, 169, 4 * BINS), np.float32)
    cell = 5 * 13 + 7  # row 5, column 7 of a grid of 32 pixels
    chance[0, cell, 57] = 0.9
    for side, cells in enumerate((2, 1, 3, 4)):  # left, top, right, bottom
        sides[0, cell, side * BINS + cells] = 50.0
    score, number, corners = decoded([sides, chance])
    best = int(score.argmax())
    assert (number[best], score[best]) == (57, pytest.approx(0.9))
    assert corners[best] == pytest.approx([(7.5 - 2) * 32, (5.5 - 1) * 32, (7.5 + 3) * 32, (5.5 + 4) * 32])
    assert CLASSES[57] == "couch" and SIDE == 13 * 32


class Seeing:
    """A segmenter that sees the same things in every photo."""

    def __init__(self, *labels: str) -> None:
        self._labels = labels

    def find(self, pictures: Sequence[Any]) -> list[list[FoundThing]]:
        mask = np.zeros((120, 160), bool)
        mask[50:100, 60:100] = True
        return [
            [FoundThing(label, 0.8, (60, 50, 100, 100), mask) for label in self._labels] for _ in pictures
        ]

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("labels", "seen", "named"),
    [
        (("안락의자",), ("chair",), [("안락의자", "nanodet")]),
        (("안락의자",), (), []),  # what stands out is none of the labels: it is left out
        ((), (), [("object", "saliency")]),
    ],
)
def test_a_label_names_only_what_the_detector_sees(
    monkeypatch: pytest.MonkeyPatch,
    labels: tuple[str, ...],
    seen: tuple[str, ...],
    named: list[tuple[str, str]],
) -> None:
    monkeypatch.setattr(detect, "open_segmenter", lambda *_: Seeing(*seen))
    monkeypatch.setattr(detect, "_open_for_boxes", lambda stage: Seeing("object"))
    worker = Detect(engine="nanodet", labels=labels).open()
    pixels = np.full((120, 160, 3), 90, np.uint8)
    photo = Photo(id="p", uri="", document="", pixels=pixels, width=160, height=120)
    found = worker([photo])[0].objects
    assert [(thing.label, thing.finder) for thing in found] == named


@needs_detector
@pytest.mark.slow
def test_furniture_in_real_photos_is_named(shared_data: Path) -> None:
    finder = NanodetSegmenter(SegmenterOptions(tuple(CLASSES.values())))
    seen = {}
    for path in sorted((shared_data / "rooms").glob("*.jpg")):
        picture = cv2.imread(str(path))
        assert picture is not None
        seen[path.stem] = [label for _, label, _ in finder.boxes(np.asarray(picture[..., ::-1], np.uint8))]
    finder.close()
    assert "bed" in seen["pexels-5853819"]
    assert seen["pexels-7303800"].count("chair") >= 2
    assert sum(1 for labels in seen.values() if labels) >= 4

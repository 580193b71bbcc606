"""MobileSAM outlines what colour cannot, where its weights are there."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.lib.scenes import rooms

from penstock.box import Box, Pixels
from penstock.engines.segment.mobile_sam import MobileSam
from penstock.engines.segment.saliency import SaliencySegmenter
from penstock.engines.segment.segmenter import Mask, SegmenterOptions
from penstock.engines.weights.registry import MODELS, look
from penstock.recipes.photos import has_mobile_sam, photos
from tests.support.needs import needs_saliency

GREY: Pixels = np.full((200, 300, 3), 120, np.uint8)  # colour finds no edge in it
BOX = (50.0, 40.0, 250.0, 180.0)


class Outlining(MobileSam):
    """Says what it is given."""

    def __init__(self, rows: slice, columns: slice) -> None:
        self._mask = np.zeros(GREY.shape[:2], bool)
        self._mask[rows, columns] = True

    def outline(self, picture: Pixels, box: Box) -> Mask:
        return self._mask


@needs_saliency
def test_an_outline_that_fails_is_found_by_mobile_sam() -> None:
    finder = SaliencySegmenter(SegmenterOptions(()))
    assert not finder.in_box(GREY, BOX, "chair").outlined
    finder._sam = Outlining(slice(50, 170), slice(60, 240))
    found = finder.in_box(GREY, BOX, "chair")
    assert found.outlined and found.mask.sum() == 120 * 180
    finder._sam = Outlining(slice(100, 130), slice(60, 240))  # a part of what the box is drawn around
    found = finder.in_box(GREY, BOX, "chair")
    assert not found.outlined and found.mask.sum() == 140 * 200
    finder.close()


def test_a_plan_says_whether_outlines_are_mobile_sams() -> None:
    [detect] = [stage for stage in photos(detector="saliency") if stage.name == "detect"]
    assert detect.settings()["outlines"] == ("mobile-sam" if has_mobile_sam() else "colour")


@pytest.mark.slow
@pytest.mark.skipif(
    look(MODELS["mobile-sam"]).state != "ready", reason="run: penstock models fetch mobile-sam"
)
def test_mobile_sam_outlines_drawn_furniture_to_the_pixel() -> None:
    room = rooms.draw(1, 3)
    sam = MobileSam()
    for thing in room.things:
        found = sam.outline(room.pixels, thing.box)
        assert np.count_nonzero(found & thing.mask) > 0.97 * np.count_nonzero(found | thing.mask)

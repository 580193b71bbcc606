"""The built-in segmenter: what stands out, and how sure it is."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from benchmarks.lib.scenes import rooms

from penstock.engines.segment.saliency import SaliencySegmenter
from penstock.engines.segment.segmenter import SegmenterOptions
from tests.support.needs import needs_saliency


@needs_saliency
@pytest.mark.parametrize("shade", [0, 128, 255])
def test_nothing_is_found_where_nothing_is(shade: int) -> None:
    finder = SaliencySegmenter(SegmenterOptions(()))
    assert finder.find([np.full((300, 400, 3), shade, np.uint8)]) == [[]]
    finder.close()


@needs_saliency
def test_what_is_less_sure_than_asked_for_is_dropped_on_the_cpu_too() -> None:
    room = cv2.imdecode(np.frombuffer(rooms.draw(3, width=800, height=600).jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert room is not None
    pixels = np.asarray(room[:, :, ::-1], np.uint8)
    usual, strict = (
        SaliencySegmenter(SegmenterOptions(())),
        SaliencySegmenter(SegmenterOptions((), min_score=1.0)),
    )
    assert usual.find([pixels])[0] and not strict.find([pixels])[0]
    usual.close()
    strict.close()

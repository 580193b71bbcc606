"""Finds the blocks of a page and their reading order with our own layout network.

A student of PP-DocLayoutV3: its 25 labels and its order at a thirtieth of its CPU time. One network finds
boxes, a second one says which of two boxes is read first. How they were made: tools/layout/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.engines.layout.cdla import areas, shared_areas
from penstock.engines.layout.clean import FoundBoxes, Rules, clean
from penstock.engines.layout.doclayout_output import PlacedDetection, placed
from penstock.engines.weights.onnx import Network
from penstock.errors import EngineError
from penstock.region import LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Floats = NDArray[np.float32]
    Indices = NDArray[np.int64]

FOLDER = Path(__file__).parent / "network"
LONG, SHORT = 1024, 768  # sides of the network's input, upright or lying as the page is
STRIDES = (8, 16, 32)  # of its cells, finest first
THRESHOLD = 0.4
COVERED = 0.5  # share of a box that better ones may hold
MAX_CANDIDATES = 600
QUARTERS = (0, 90, 180, 270)  # degrees against the clock, as the network's answers stand


class StudentLayout:
    """The open networks. `detect` may be called from many threads.

    layout = StudentLayout()
    blocks = layout.detect(pixels)
    """

    def __init__(
        self, threads: int = 1, threshold: float | None = None, by_label: Mapping[str, float] | None = None
    ) -> None:
        score = THRESHOLD if threshold is None else threshold
        # `distinct` has judged nested boxes by their scores, so none is merged by its label
        self._rules = Rules(threshold=score, class_thresholds=by_label or {}, merge={})
        self._network = Network(FOLDER / "student.onnx", threads, arena=True)
        self._order = Network(FOLDER / "order.onnx", threads)

    def detect(self, pixels: Pixels) -> list[PlacedDetection]:
        """Returns the page's blocks in reading order."""
        kinds, sides, _ = self._look(pixels)
        height, width = pixels.shape[:2]
        found = found_in(kinds[0], sides[0], (width, height), self._rules.lowest_threshold)
        kept = clean(found, width, height, self._rules)
        return placed(LABELS, kept.take(self._ranked(kept, width, height)), (width, height))

    def quarter(self, pixels: Pixels) -> tuple[int, float]:
        """Returns by how many degrees against the clock a page is turned, and how sure that is."""
        logits = self._look(pixels)[2][0]
        odds = np.exp(logits - logits.max())
        best = int(odds.argmax())
        return QUARTERS[best], float(odds[best] / odds.sum())

    def close(self) -> None:
        self._network.close()
        self._order.close()

    def _look(self, pixels: Pixels) -> list[Floats]:
        height, width = pixels.shape[:2]
        if height < 1 or width < 1:
            raise EngineError(f"Layout needs a picture, not one of {width} x {height} pixels.")
        return self._network(prepare(pixels))

    def _ranked(self, found: FoundBoxes, width: int, height: int) -> Indices:
        """Returns the boxes' places in the order in which they are read."""
        if len(found) < 2:
            return np.arange(len(found))
        boxes = found.boxes / np.array([width, height, width, height])
        blocks = np.concatenate([boxes, found.labels[:, None]], axis=1)[None].astype(np.float32)
        before = self._order(blocks)[0][0]
        votes = (1 / (1 + np.exp(-before))).sum(axis=1)
        return np.argsort(-votes, kind="stable")


def prepare(pixels: Pixels) -> Floats:
    """Returns the picture as the network wants it: 1024 by 768 or lying, planes apart, -0.5 to 0.5."""
    height, width = pixels.shape[:2]
    size = (SHORT, LONG) if height >= width else (LONG, SHORT)
    shrinks = width > size[0] or height > size[1]
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    planes: Floats = np.ascontiguousarray(small.transpose(2, 0, 1)[None], dtype=np.float32)
    planes *= 1 / 255
    planes -= 0.5
    return planes


def found_in(kinds: Floats, sides: Floats, size: tuple[int, int], threshold: float) -> FoundBoxes:
    """Returns the boxes of a page of `size`, best first, each block once, from what cells say."""
    width, height = size
    short, long = (SHORT, LONG) if height >= width else (LONG, SHORT)
    labels = kinds.argmax(axis=1)
    scores = 1 / (1 + np.exp(-kinds[np.arange(len(kinds)), labels]))
    best = np.flatnonzero(scores >= threshold)
    best = best[np.argsort(-scores[best], kind="stable")][:MAX_CANDIDATES]
    middle = centres(short, long)[best]
    boxes = np.concatenate([middle - sides[best, :2], middle + sides[best, 2:]], axis=1)
    boxes = np.clip(boxes, 0, [short, long, short, long]) * np.array([width / short, height / long] * 2)
    keep = distinct(boxes.astype(np.float64))
    kept = best[keep]
    return FoundBoxes(labels[kept], scores[kept].astype(np.float64), boxes[keep], np.arange(len(kept)), kept)


def centres(width: int, height: int) -> Floats:
    """Returns the middle of each cell, as x and y in pixels of the network's input."""
    grids = []
    for stride in STRIDES:
        rows, columns = np.mgrid[: height // stride, : width // stride]
        grids.append(np.stack([columns.ravel(), rows.ravel()], axis=1) * stride + stride / 2)
    return np.concatenate(grids).astype(np.float32)


def distinct(boxes: NDArray[np.float64]) -> list[int]:
    """Returns which boxes to keep of those given best first: none that better ones mostly cover.

    So a block found as a whole and in parts stays in whichever way the network is surer of.
    """
    covered = shared_areas(boxes) / np.maximum(areas(boxes), 1e-9)[:, None]
    keep: list[int] = []
    for number in range(len(boxes)):
        if covered[number, keep].sum() < COVERED:
            keep.append(number)
    return keep

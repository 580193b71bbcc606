"""NanoDet finds things by name on a CPU, 0.15 s of a core a photo; saliency and colour outline them.

It knows the 80 classes of COCO, of which a mover meets a dozen; wardrobes, desks and shelves are not among
them. Each photo is seen twice, whole and stretched to a square: each way finds things the other misses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from penstock.box import iou
from penstock.engines.segment.saliency import SaliencySegmenter
from penstock.engines.segment.segmenter import CLASSES, FoundThing, SegmenterOptions
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network, PackedGraph
from penstock.errors import EngineError

if TYPE_CHECKING:
    from penstock.box import Box, Pixels

    Candidate = tuple[float, str, Box]

SIDE = 416  # pixels, the model's own
MEAN, STD = (103.53, 116.28, 123.675), (57.375, 57.12, 58.395)  # blue, green, red
GREY = 114  # around a photo that is not square
BINS = 11  # a distance is given as a distribution over so many cells
MIN_SURE = 0.5  # below, it sees beds in table tops and birds in lamps, and a bed is three cubic metres
OVERLAP = 0.55  # of two boxes' union: one thing
MAX_THINGS = 20


class NanodetSegmenter:
    """Finds what `wanted.labels` names, in COCO's words."""

    def __init__(self, wanted: SegmenterOptions, threads: int = 1) -> None:
        self._wanted = wanted
        model = PackedGraph(Path(__file__).parent / "network" / "nanodet.bin", weights.path("nanodet"))
        self._network = Network(model, threads, name="nanodet")
        self._outlines = SaliencySegmenter(SegmenterOptions((), with_sam=wanted.with_sam), threads)

    def find(self, pictures: Sequence[Pixels]) -> list[list[FoundThing]]:
        return [self._things(picture) for picture in pictures]

    def close(self) -> None:
        self._network.close()
        self._outlines.close()

    def _things(self, picture: Pixels) -> list[FoundThing]:
        found = []
        for score, label, box in self.boxes(picture):
            try:
                found.append(replace(self._outlines.in_box(picture, box, label), score=score))
            except EngineError:  # a box of a few pixels has no outline
                continue
        return found

    def boxes(self, picture: Pixels) -> list[Candidate]:
        """Score, label and box of each thing, the surest first."""
        height, width = picture.shape[:2]
        fits = min(SIDE / width, SIDE / height)
        ways = [(SIDE / width, SIDE / height), (fits, fits)]
        seen = [one for across, down in ways for one in self._seen(picture, across, down)]
        kept: list[Candidate] = []
        for one in sorted(seen, key=lambda one: -one[0]):
            if len(kept) < MAX_THINGS and all(iou(one[2], other[2]) < OVERLAP for other in kept):
                kept.append(one)
        return kept

    def _seen(self, picture: Pixels, across: float, down: float) -> list[Candidate]:
        height, width = picture.shape[:2]
        scaled = cv2.resize(
            picture, (round(width * across), round(height * down)), interpolation=cv2.INTER_AREA
        )
        square = np.full((SIDE, SIDE, 3), GREY, np.float32)
        square[: scaled.shape[0], : scaled.shape[1]] = scaled
        values = (square[..., ::-1] - np.array(MEAN)) / np.array(STD)
        outputs = self._network(np.ascontiguousarray(values.transpose(2, 0, 1)[None], np.float32))
        score, number, corners = decoded(outputs)
        ends = np.clip(corners / (across, down, across, down), 0, (width, height, width, height))
        return [
            (float(score[n]), CLASSES[int(number[n])], (*(float(v) for v in ends[n]),))  # type: ignore[misc]
            for n in np.flatnonzero(score >= max(MIN_SURE, self._wanted.min_score))
            if CLASSES.get(int(number[n])) in self._wanted.labels
        ]


def decoded(
    outputs: Sequence[NDArray[np.float32]],
) -> tuple[NDArray[np.float32], NDArray[np.intp], NDArray[np.float32]]:
    """Scores, classes and corners in the model's square, of every cell of its three grids."""
    parts = []
    distances = {one.shape[1]: one[0] for one in outputs if one.shape[2] == 4 * BINS}
    for chance in (one[0] for one in outputs if one.shape[2] != 4 * BINS):
        count = len(chance)
        side = round(count**0.5)
        logits = distances[count].reshape(count, 4, BINS)
        share = np.exp(logits - logits.max(axis=2, keepdims=True))
        far = (share * np.arange(BINS)).sum(axis=2) / share.sum(axis=2) * (SIDE / side)
        row, column = np.divmod(np.arange(count), side)
        middle = np.stack([column + 0.5, row + 0.5], axis=1) * (SIDE / side)
        corners = np.concatenate([middle - far[:, :2], middle + far[:, 2:]], axis=1)
        parts.append((chance.max(axis=1), chance.argmax(axis=1), corners.astype(np.float32)))
    score, number, corners = (np.concatenate(one) for one in zip(*parts, strict=True))
    return score, number, corners

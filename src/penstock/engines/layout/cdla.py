"""Finds the blocks of a page with the CDLA layout model (PicoDet, ten classes).

The picture is squeezed to the network's fixed size, a strip on a sheet of paper; boxes come back in
the picture's own pixels. Boxes that would make text be read twice are removed here. Which title is the
document's, and in which order blocks are read, is not decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import cv2
import numpy as np

from penstock.box import Box
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network, PackedGraph
from penstock.errors import EngineError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Floats = NDArray[np.float32]
    Indices = NDArray[np.intp]

Real = TypeVar("Real", np.float32, np.float64)

HEIGHT, WIDTH = 800, 608  # the network's input
STRIDES = (8, 16, 32, 64)  # of its four maps, finest first
BINS = 8  # each side of a box is a distribution over 0..7 strides
MEAN = (0.485, 0.456, 0.406)  # ImageNet's, in the order the model's package applies them: to B, G, R
STD = (0.229, 0.224, 0.225)
# what each of a plane's 256 values becomes: half the time of computing it
NORMALISED = [
    ((np.arange(256) / 255 - mean) / std).astype(np.float32) for mean, std in zip(MEAN, STD, strict=True)
]

# The network's classes in order, and what they are in the one vocabulary.
CLASSES = (
    ("text", "text"),
    ("title", "paragraph_title"),
    ("figure", "image"),
    ("figure_caption", "figure_title"),
    ("table", "table"),
    ("table_caption", "figure_title"),
    ("header", "header"),
    ("footer", "footer"),
    ("reference", "reference_content"),
    ("equation", "display_formula"),
)
FIGURE, TABLE, EQUATION = 2, 4, 9  # where those stand in it
SOLID = (FIGURE, TABLE, EQUATION)
UNREAD = (FIGURE, EQUATION)  # kept as crops: they cannot make text appear twice

# Text from 0.4 on covers 0.486 of the area of OmniDocBench's text blocks (18 pages), from 0.5 on 0.463,
# and no more of it twice. A wrong picture or formula hides text, so those and tables keep the package's 0.5.
MIN_SCORE = np.full(len(CLASSES), 0.4, dtype=np.float32)
MIN_SCORE[list(SOLID)] = 0.5
SAME_IOU = 0.5  # two boxes of one class that share this much are one
TWIN_IOU = 0.7  # of any two classes: the same block under two names
INSIDE = 0.85  # a box this far inside another is read with it
# A table cut out of its page, squeezed to the network's shape, has letters many times as high as wide: of 14
# such pictures 5 were seen to be tables, on a sheet 12.
STRIP = 0.55  # height over width; slides are 0.56 and more
MARGIN = 0.08  # of the sheet, at either side
MIN_SIDE = 4.0  # pixels of the network's input; less is a speck
MAX_CANDIDATES = 500  # of 10,105 cells; a crowded page has about 200


@dataclass(frozen=True, slots=True)
class Detection:
    """One block. `label` is one of region.LABELS, `native_label` the network's own word."""

    label: str
    native_label: str
    box: Box
    score: float


def network() -> PackedGraph:
    """Returns the network, its hard-swishes as onnxruntime fuses them: 67 ms of CPU a page instead of 155."""
    return PackedGraph(Path(__file__).parent / "network" / "layout_cdla.bin", weights.path("layout-cdla"))


class CdlaLayout:
    """The open model. `detect` may be called from many threads.

    layout = CdlaLayout()
    blocks = layout.detect(pixels)
    """

    def __init__(
        self, threads: int = 1, threshold: float | None = None, by_label: Mapping[str, float] | None = None
    ) -> None:
        # one input shape for ever, so the arena stays flat
        self._network = Network(network(), threads, arena=True)
        self._min_score = min_scores(threshold, by_label or {})

    def detect(self, pixels: Pixels) -> list[Detection]:
        """The page's blocks, best first, with duplicates removed."""
        height, width = pixels.shape[:2]
        if height < 1 or width < 1:
            raise EngineError(f"Layout needs a picture, not one of {width} x {height} pixels.")
        sheet, place = on_sheet(pixels)
        boxes, scores, kinds = decode(self._network(prepare(sheet)), self._min_score)
        keep = distinct(boxes, kinds)
        corner = np.array([place[0], place[1]] * 2, dtype=np.float32)
        scale = np.array([width / (place[2] - place[0]), height / (place[3] - place[1])] * 2)
        limits = np.array([width, height] * 2)
        placed = np.clip((boxes - corner) * scale, 0, limits).astype(np.float32)
        return [_detection(placed[i], scores[i], kinds[i]) for i in keep]

    def close(self) -> None:
        self._network.close()


def min_scores(threshold: float | None, by_label: Mapping[str, float]) -> Floats:
    """Returns one bound for each class: that of its label, that for all, or its own."""
    own = MIN_SCORE if threshold is None else np.full(len(CLASSES), threshold)
    scores = [by_label.get(label, score) for (_, label), score in zip(CLASSES, own.tolist(), strict=True)]
    return np.array(scores, dtype=np.float32)


def on_sheet(pixels: Pixels) -> tuple[Pixels, tuple[int, int, int, int]]:
    """What to show the network, and where in its pixels the picture lies there.

    A strip lies in the middle of a white sheet; any other picture is the whole of it.
    """
    height, width = pixels.shape[:2]
    if height >= STRIP * width:
        return pixels, (0, 0, WIDTH, HEIGHT)
    left = round(MARGIN * WIDTH)
    across = WIDTH - 2 * left
    down = max(1, round(height * across / width))
    top = (HEIGHT - down) // 2
    sheet = np.full((HEIGHT, WIDTH, 3), 255, dtype=np.uint8)
    sheet[top : top + down, left : left + across] = cv2.resize(pixels, (across, down))
    return sheet, (left, top, left + across, top + down)


def prepare(pixels: Pixels) -> Floats:
    """The picture as the network wants it: squeezed, planes apart and blue first, normalised."""
    # area averaging finds less: 0.57 of the characters of 18 OmniDocBench pages against 0.60
    small = cv2.resize(pixels, (WIDTH, HEIGHT), interpolation=cv2.INTER_LINEAR)
    planes = np.empty((1, 3, HEIGHT, WIDTH), dtype=np.float32)
    for i, plane in enumerate(reversed(cv2.split(small))):
        cv2.LUT(plane, NORMALISED[i], dst=planes[0, i])
    return planes


def decode(outputs: list[Floats], min_score: Floats = MIN_SCORE) -> tuple[Floats, Floats, Indices]:
    """Boxes in the network's pixels, scores and class numbers of all cells that pass, best first.

    `min_score` holds one bound for each class.
    The outputs are four maps of class scores, then four of box sides, finest map first. Only cells
    that pass are decoded: a hundred of ten thousand.
    """
    found = [
        _decode_map(outputs[i][0], outputs[i + len(STRIDES)][0], stride, min_score)
        for i, stride in enumerate(STRIDES)
    ]
    boxes, scores, kinds = (np.concatenate(parts) for parts in zip(*found, strict=True))
    best = np.argsort(-scores, kind="stable")[:MAX_CANDIDATES]
    return boxes[best], scores[best], kinds[best]


def _decode_map(
    scores: Floats, sides: Floats, stride: int, min_score: Floats
) -> tuple[Floats, Floats, Indices]:
    cells, kinds = np.nonzero(scores > min_score)
    columns = -(-WIDTH // stride)
    centres = np.stack([cells % columns, cells // columns] * 2, axis=1) + 0.5
    reach = _expected(sides[cells].reshape(-1, 4, BINS)) * np.array([-1, -1, 1, 1])
    boxes = (centres + reach) * stride
    boxes = np.clip(boxes, 0, [WIDTH, HEIGHT, WIDTH, HEIGHT]).astype(np.float32)
    return boxes, scores[cells, kinds], kinds


def _expected(logits: Floats) -> Floats:
    """The mean of each distribution over the bins."""
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    mean: Floats = (odds @ np.arange(BINS, dtype=np.float32)) / odds.sum(axis=-1)
    return mean


def distinct(boxes: Floats, kinds: Indices) -> list[int]:
    """Which boxes to keep, best first, so that no text lies in two that would both be read.

    `boxes` come best first. Of one block found twice the better stays, and a box inside a larger one
    is read with it (see `_swallowed`). Boxes that overlap in part all stay: whoever reads the page
    gives each line to one of them.
    """
    own = areas(boxes)
    shared = shared_areas(boxes)
    same = kinds[:, None] == kinds[None, :]
    repeats = shared > np.where(same, SAME_IOU, TWIN_IOU) * (own[:, None] + own[None, :] - shared)
    keep: list[int] = []
    for i in np.flatnonzero(np.minimum(*(boxes[:, 2:] - boxes[:, :2]).T) >= MIN_SIDE):
        if not repeats[i, keep].any():
            keep.append(int(i))
    inside = (shared >= INSIDE * own[:, None]) & (own[:, None] < own[None, :]) & _swallowed(kinds)
    return [i for i in keep if not inside[i, keep].any()]


def _swallowed(kinds: Indices) -> NDArray[np.bool_]:
    """Whether block i is dropped if it lies inside block j.

    A picture or formula in running text stays, and so does text in a picture, which nobody else reads.
    """
    unread = np.isin(kinds, UNREAD)
    solid = np.isin(kinds, SOLID)
    return np.where(unread[:, None], solid[None, :], ~unread[None, :])


def shared_areas(boxes: NDArray[Real]) -> NDArray[Real]:
    """The area that each two boxes have in common."""
    low = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    sides = np.clip(high - low, 0, None)
    area: NDArray[Real] = sides[..., 0] * sides[..., 1]
    return area


def areas(boxes: NDArray[Real]) -> NDArray[Real]:
    area: NDArray[Real] = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return area


def _detection(box: Floats, score: np.float32, kind: np.intp) -> Detection:
    native, label = CLASSES[int(kind)]
    x0, y0, x1, y1 = (float(v) for v in box)
    return Detection(label, native, (x0, y0, x1, y1), float(score))

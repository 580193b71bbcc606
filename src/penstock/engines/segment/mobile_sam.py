"""MobileSAM outlines the thing in a box, where colour and saliency fail.

It is optional: 40.7 MB, and 4.3 s of a core for a photo and 0.2 s for each box of it.
The weights are those that were published; the graphs are ours (`tools/models/mobile_sam_graphs.py`).
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from penstock.engines.segment.segmenter import Mask
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import PackedGraph, open_session
from penstock.errors import EngineError, first_line

if TYPE_CHECKING:
    from penstock.box import Box, Pixels

    Floats = NDArray[np.float32]

NAME = "mobile-sam"
SIDE = 1024  # pixels, the model's own
MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


class MobileSam:
    """Outlines by boxes. Thread-safe; the photo that was seen last is encoded once."""

    def __init__(self, threads: int = 1) -> None:
        folder, published = Path(__file__).parent / "network", weights.path(NAME)
        self._encoder, self._decoder = (
            open_session(PackedGraph(folder / f"sam_{part}.bin", published), threads, name=f"{NAME}'s {part}")
            for part in ("encoder", "decoder")
        )
        self._lock = threading.Lock()
        self._last: tuple[Pixels, Floats] | None = None

    def outline(self, picture: Pixels, box: Box) -> Mask:
        """Returns the pixels of the thing in the box."""
        height, width = picture.shape[:2]
        scale = SIDE / max(height, width)
        corners = np.array([[value * scale for value in box]], np.float32)
        try:
            with self._lock:
                feed = {"embedding": self._embedding(picture), "boxes": corners}
                logits = self._decoder.run(None, feed)[0][0, 0]
        except Exception as exc:  # onnxruntime's exceptions share no base but this
            raise EngineError(f"{NAME} failed on a photo of {width} x {height}: {first_line(exc)}") from exc
        whole = cv2.resize(logits, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
        part = whole[: round(height * scale), : round(width * scale)]
        return np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_LINEAR) > 0)

    def _embedding(self, picture: Pixels) -> Floats:
        if self._last is None or self._last[0] is not picture:
            self._last = picture, self._encoder.run(None, {"image": _prepared(picture)})[0]
        return self._last[1]


def _prepared(picture: Pixels) -> Floats:
    """The picture in a square, at its upper left, as the model wants its numbers."""
    height, width = picture.shape[:2]
    scale = SIDE / max(height, width)
    size = (round(width * scale), round(height * scale))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    square = np.zeros((SIDE, SIDE, 3), np.float32)
    square[: size[1], : size[0]] = (small - np.array(MEAN)) / np.array(STD)
    return np.ascontiguousarray(square.transpose(2, 0, 1)[None])

"""The one thing a photo shows: U2-Netp, 4.6 MB, about a second on one core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network

if TYPE_CHECKING:
    from penstock.box import Pixels

SIDE = 320  # pixels, the model's own
FAINT = 0.3  # answers that stay below are about nothing: blank and noisy pictures give 0.06, rooms 0.85
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet's


class Saliency:
    """Finds what is prominent in a picture. Thread-safe."""

    def __init__(self, threads: int = 1) -> None:
        self._network = Network(weights.path("u2netp"), threads)

    def attention(self, pixels: Pixels) -> NDArray[np.float32]:
        """Returns 0..1 for every pixel of the picture; faint all over where nothing is prominent."""
        height, width = pixels.shape[:2]
        small = cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
        bright = np.asarray(small, np.float32) / max(1.0, float(small.max()))
        scaled = (bright - np.array(MEAN, np.float32)) / np.array(STD, np.float32)
        found = self._network(np.ascontiguousarray(scaled.transpose(2, 0, 1)[None], np.float32))[0][0, 0]
        low, high = float(found.min()), float(found.max())
        even = (found - low) / (high - low) if high > FAINT else found
        return np.asarray(cv2.resize(even, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)

    def close(self) -> None:
        self._network.close()

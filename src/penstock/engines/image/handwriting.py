"""Tells whether a page was written, or written on, by hand. It reads nothing.

OCRsieve's network sees a page at 384 x 512 and knows five kinds: blank, handwritten, typed with notes by
hand, typed, typed and signed.
"""

from __future__ import annotations

import cv2
import numpy as np

from penstock.box import Pixels
from penstock.engines.weights.onnx import open_session
from penstock.engines.weights.registry import path

NAME = "ocrsieve"
SIZE = (384, 512)  # width and height that its network was trained with
TEMPERATURE = 2.55  # of its own calibration
BY_HAND = (1, 2)  # handwritten, typed with notes by hand
SURE = 0.6  # 7 of 8 pages of handwriting had 0.52 to 0.78, typed pages below 0.5 but for one exercise sheet
DOUBTFUL = 0.3


class Handwriting:
    """Thread-safe. Raises MissingModel where its weights are not here and cannot be fetched."""

    def __init__(self) -> None:
        self._session = open_session(path(NAME))
        self._input = self._session.get_inputs()[0].name

    def likelihood(self, pixels: Pixels) -> float:
        """Returns 0 for a typed page and 1 for one that is surely written by hand."""
        grey = cv2.resize(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), SIZE, interpolation=cv2.INTER_AREA)
        plane = (grey.astype(np.float32) / 255.0 - 0.5) / 0.25
        [[kinds]] = self._session.run(None, {self._input: np.repeat(plane[None, None], 3, axis=1)})
        parts = np.exp((kinds - kinds.max()) / TEMPERATURE)
        score = float(parts[list(BY_HAND)].sum() / parts.sum())
        return min(1.0, max(0.0, (score - DOUBTFUL) / (SURE - DOUBTFUL)))

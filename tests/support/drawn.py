"""Pages drawn for the OCR tests: no font file is needed, OpenCV brings its own strokes."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

SENTENCES = (
    "The penstock carries water down to the turbine.",
    "Every page is read once and none is lost.",
    "A run that was killed goes on where it stopped.",
    "Tables keep their rows, formulas keep their crop.",
    "Measure twice, then write down what you have seen.",
    "The store is the ledger and the ledger is the store.",
)


def page(sentences: Sequence[str] = SENTENCES, scale: float = 1.2) -> NDArray[np.uint8]:
    """Black lines on white paper, 60 pixels apart."""
    pixels = np.full((120 + 60 * len(sentences), 1200, 3), 255, dtype=np.uint8)
    for row, sentence in enumerate(sentences):
        at = (60, 100 + 60 * row)
        cv2.putText(pixels, sentence, at, cv2.FONT_HERSHEY_COMPLEX, scale, (0, 0, 0), 2, cv2.LINE_AA)
    return pixels

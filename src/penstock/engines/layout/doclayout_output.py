"""Turns the rows that PP-DocLayoutV3 writes into blocks in pixels of their page.

Needs no torch: arrays in, detections out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.engines.layout.cdla import Detection
from penstock.engines.layout.clean import FoundBoxes
from penstock.engines.layout.polygons import Polygon, outline
from penstock.region import LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PlacedDetection(Detection):
    """A block with its place in reading order, and its outline if the engine makes polygons."""

    order: int = 0
    polygon: Polygon = ()


def found_in(rows: NDArray[np.float32], width: int, height: int, threshold: float) -> FoundBoxes:
    """A page's rows of network output (see doclayout_net) as boxes in its pixels."""
    rows = rows[rows[:, 0] >= threshold]
    boxes = rows[:, 4:] * np.array((width, height, width, height), dtype=np.float32)
    labels, query, order = (rows[:, column].astype(np.int64) for column in (1, 2, 3))
    return FoundBoxes(labels, rows[:, 0].astype(np.float64), boxes.astype(np.float64), order, query)


def placed(
    native: Sequence[str], found: FoundBoxes, size: tuple[int, int], masks: Any = None
) -> list[PlacedDetection]:
    """Cleaned boxes of a page of `size` as detections, with outlines where there are masks."""
    columns = zip(found.labels.tolist(), found.boxes.tolist(), found.scores.tolist(), strict=True)
    return [
        PlacedDetection(
            label=LABELS[label],
            native_label=native[label],
            box=(x0, y0, x1, y1),
            score=score,
            order=order,
            polygon=outline(masks[order], (x0, y0, x1, y1), *size) if masks is not None else (),
        )
        for order, (label, (x0, y0, x1, y1), score) in enumerate(columns)
    ]

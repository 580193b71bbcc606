"""Layout mAP as COCO computes it (Lin et al. 2014): 101 recall points, IoU 0.50 to 0.95 in steps of 0.05.

A class that the truth never shows has no part in the mean; at most 100 boxes a page and class count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]

IOU_THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALL_POINTS = np.linspace(0.0, 1.0, 101)
MAX_BOXES = 100


@dataclass(frozen=True, slots=True)
class Labelled:
    """One box of a page, from the truth or found. `score` orders found boxes."""

    label: str
    box: Box
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class DetectionScore:
    map: float
    map50: float
    map75: float
    by_label: dict[str, float]


def layout_map(truth: Sequence[Sequence[Labelled]], found: Sequence[Sequence[Labelled]]) -> DetectionScore:
    """mAP over pages given in the same order on both sides. NaN when the truth is empty."""
    labels = sorted({box.label for page in truth for box in page})
    if not labels:
        return DetectionScore(float("nan"), float("nan"), float("nan"), {})
    table = np.array([_precisions(label, truth, found) for label in labels])
    return DetectionScore(
        map=float(table.mean()),
        map50=float(table[:, 0].mean()),
        map75=float(table[:, 5].mean()),
        by_label={label: float(row.mean()) for label, row in zip(labels, table, strict=True)},
    )


def overlap(first: Floats, second: Floats) -> Floats:
    """IoU of every box of one array with every box of the other, (n, 4) and (m, 4) to (n, m)."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = np.clip(high - low, 0.0, None).prod(axis=2)
    areas = (first[:, 2:] - first[:, :2]).prod(axis=1)[:, None] + (second[:, 2:] - second[:, :2]).prod(axis=1)
    union = areas - shared
    ratio: Floats = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return ratio


def _precisions(
    label: str, truth: Sequence[Sequence[Labelled]], found: Sequence[Sequence[Labelled]]
) -> Floats:
    """Average precision of one label at each IoU threshold."""
    scores: list[float] = []
    hits: list[Floats] = []
    wanted = 0
    for true_page, found_page in zip(truth, found, strict=True):
        true_boxes = [box.box for box in true_page if box.label == label]
        boxes = sorted((b for b in found_page if b.label == label), key=lambda b: -b.score)[:MAX_BOXES]
        wanted += len(true_boxes)
        scores.extend(box.score for box in boxes)
        hits.append(
            _hits(np.array(true_boxes).reshape(-1, 4), np.array([b.box for b in boxes]).reshape(-1, 4))
        )
    order = np.argsort(-np.array(scores), kind="stable")
    matched = np.concatenate(hits, axis=1)[:, order]
    return np.array([_average_precision(row, wanted) for row in matched])


def _hits(truth: Floats, boxes: Floats) -> Floats:
    """For each threshold and box, 1 when it takes a truth box no better box took."""
    taken = np.zeros((len(IOU_THRESHOLDS), len(truth)), dtype=bool)
    hits = np.zeros((len(IOU_THRESHOLDS), len(boxes)))
    ious = overlap(boxes, truth)
    for column, row in enumerate(ious):
        for level, threshold in enumerate(IOU_THRESHOLDS):
            open_row = np.where(taken[level], -1.0, row)
            best = (
                int(len(row) - 1 - np.argmax(open_row[::-1])) if len(row) else -1
            )  # the last of equals, as COCO
            if best >= 0 and open_row[best] >= min(threshold, 1 - 1e-10):
                taken[level, best] = True
                hits[level, column] = 1.0
    return hits


def _average_precision(hits: Floats, wanted: int) -> float:
    if hits.size == 0:
        return 0.0
    right = np.cumsum(hits)
    recall = right / wanted
    precision = right / np.arange(1, hits.size + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.searchsorted(recall, RECALL_POINTS, side="left")
    return float(np.where(at < hits.size, envelope[np.minimum(at, hits.size - 1)], 0.0).mean())

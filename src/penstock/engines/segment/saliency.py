"""Masks without a detector: the one salient thing, or the thing in a box someone drew.

A box is worth more than any small model: saliency inside it says what is likely the thing, GrabCut
finds the edge by colour. A mask that fills too little of its box was a mistake: MobileSAM outlines the thing
where its weights are there, else the box wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from penstock.engines.segment.mobile_sam import MobileSam
from penstock.engines.segment.segmenter import FoundThing, Mask, SegmenterOptions
from penstock.engines.segment.u2net import Saliency
from penstock.errors import EngineError

if TYPE_CHECKING:
    from penstock.box import Box, Pixels

THRESHOLD = 0.5
SPECK = 0.01  # of the photo: a salient patch that small is a lamp's reflection
MARGIN = 0.12  # of the box, around it: what is there is not the thing
CUT_SIDE = 360  # pixels: GrabCut's time grows with them, edges do not get better beyond
ROUNDS = 4
SPAN = 0.85  # of the box's sides a mask must reach: a box is drawn around the whole thing
SAM_SPAN = 0.6  # the same of MobileSAM, which sees a leg or a leaf that a loose box leaves far from its side
LIKELY = 0.6


class SaliencySegmenter:
    """Finds one thing in a photo and gives it the only label there is, or `object`."""

    def __init__(self, wanted: SegmenterOptions, threads: int = 1) -> None:
        self._saliency = Saliency(threads)
        self._sam = MobileSam(threads) if wanted.with_sam else None
        self._label = wanted.labels[0] if len(wanted.labels) == 1 else "object"
        self._min_score = wanted.min_score

    def find(self, pictures: Sequence[Pixels]) -> list[list[FoundThing]]:
        return [self._one(picture) for picture in pictures]

    def in_box(self, picture: Pixels, box: Box, label: str) -> FoundThing:
        """The thing in a box. Raises EngineError for a box that is not in the picture."""
        height, width = picture.shape[:2]
        x0, y0, x1, y1 = (round(v) for v in box)
        x0, y0, x1, y1 = max(0, x0), max(0, y0), min(width, x1), min(height, y1)
        if x1 - x0 < 8 or y1 - y0 < 8:
            place = "{:g},{:g} to {:g},{:g}".format(*box)
            raise EngineError(
                f"The box {place} of {label} is not in the photo of {width} x {height}.",
                "Boxes are x,y,w,h in pixels of the upright photo.",
            )
        around = _around((x0, y0, x1, y1), width, height)
        cut = picture[around[1] : around[3], around[0] : around[2]]
        inner = (x0 - around[0], y0 - around[1], x1 - around[0], y1 - around[1])
        mask = np.zeros((height, width), bool)
        outline, found = self._outline(cut, inner)
        mask[around[1] : around[3], around[0] : around[2]] = outline
        corners = (float(x0), float(y0), float(x1), float(y1))
        if not found and self._sam is not None:
            seen = self._sam.outline(picture, corners) & mask  # which is the box
            mask, found = (seen, True) if _spans(seen, mask, SAM_SPAN) else (mask, False)
        return FoundThing(label, 1.0, corners, mask, found)

    def close(self) -> None:
        self._saliency.close()

    def _one(self, picture: Pixels) -> list[FoundThing]:
        attention = self._saliency.attention(picture)
        mask = _largest(attention > THRESHOLD)
        if np.count_nonzero(mask) < SPECK * mask.size:
            return []
        score = float(attention[mask].mean())
        if score < self._min_score:
            return []
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        box = (float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1))
        return [FoundThing(self._label, score, box, mask)]

    def _outline(self, cut: Pixels, inner: tuple[int, int, int, int]) -> tuple[Mask, bool]:
        """The thing's outline and True, or the whole box and False where none was found."""
        height, width = cut.shape[:2]
        scale = min(1.0, CUT_SIDE / max(height, width))
        shrunk = cv2.resize(cut, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        small = np.asarray(shrunk, np.uint8)
        box = tuple(round(v * scale) for v in inner)
        inside = np.zeros(small.shape[:2], bool)
        inside[box[1] : box[3], box[0] : box[2]] = True
        attention = self._saliency.attention(small)
        for seeds in (attention > LIKELY, inside):  # saliency first, then colour alone
            mask = _grab(small, inside, seeds & inside)
            if _spans(mask, inside, SPAN):
                break
        else:
            mask = inside
        full = cv2.resize(mask.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
        return np.asarray(full > 0), not (mask == inside).all()


def _around(box: tuple[int, int, int, int], width: int, height: int) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = box
    aside, above = round(MARGIN * (x1 - x0)) + 4, round(MARGIN * (y1 - y0)) + 4
    return max(0, x0 - aside), max(0, y0 - above), min(width, x1 + aside), min(height, y1 + above)


def _grab(picture: Pixels, inside: Mask, seeds: Mask) -> Mask:
    """GrabCut from seeds that are probably the thing; outside the box nothing is."""
    marks = np.where(inside, cv2.GC_PR_BGD, cv2.GC_BGD).astype(np.uint8)
    marks[seeds] = cv2.GC_PR_FGD
    if seeds.sum() < 10 or (marks == cv2.GC_BGD).sum() < 10:
        return inside
    rect = (0, 0, 1, 1)  # not used: the marks say it all
    models = [np.zeros((1, 65)), np.zeros((1, 65))]
    cv2.setRNGSeed(0)  # the same photo always gives the same mask
    cv2.grabCut(picture, marks, rect, models[0], models[1], ROUNDS, cv2.GC_INIT_WITH_MASK)
    return np.asarray(_largest((marks == cv2.GC_FGD) | (marks == cv2.GC_PR_FGD)))


def _spans(mask: Mask, inside: Mask, share: float) -> bool:
    """Whether the mask reaches from side to side of the box, as the thing does."""
    reached = [np.count_nonzero(mask.any(axis=axis)) for axis in (0, 1)]
    wanted = [np.count_nonzero(inside.any(axis=axis)) for axis in (0, 1)]
    return all(got >= share * want for got, want in zip(reached, wanted, strict=True))


def _largest(mask: NDArray[np.bool_]) -> Mask:
    """The largest piece and those a fifth as large: a chair behind a table is in two."""
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    if count < 2:
        return mask
    areas = stats[1:, cv2.CC_STAT_AREA]
    kept: Mask = np.concatenate([[False], areas >= 0.2 * areas.max()])[pieces]
    return kept

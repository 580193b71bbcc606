"""Masks: cleaned, packed as one-bit PNG, and what a mask tells by itself."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from penstock.box import Box
from penstock.errors import BadInput

Mask = NDArray[np.bool_]

SPECK = 0.05  # of the largest piece: smaller pieces are noise
HOLE = 0.02  # of the mask: smaller holes are noise, larger ones are seen through
FRAME = 3  # pixels: as near to the photo's edge as this, a thing goes on outside
ON_FRAME = 0.08  # of the mask's side must lie there: a chair's leg tip does not cut the chair


def pack(mask: Mask) -> bytes:
    """A full-size one-bit PNG: small, and opens everywhere."""
    done, data = cv2.imencode(".png", mask.astype(np.uint8) * 255, [cv2.IMWRITE_PNG_BILEVEL, 1])
    if not done:
        raise BadInput(f"A mask of {mask.shape[1]} x {mask.shape[0]} pixels cannot be written.")
    return data.tobytes()


def unpack(data: bytes) -> Mask:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE)
    if pixels is None:
        raise BadInput("The mask is not a picture.")
    return np.asarray(pixels > 127)


def cleaned(mask: Mask) -> Mask:
    """Without specks and pinholes."""
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    if count < 2:
        return mask
    areas = stats[1:, cv2.CC_STAT_AREA]
    kept = np.concatenate([[False], areas >= SPECK * areas.max()])
    mask = kept[pieces]
    count, holes, stats, _ = cv2.connectedComponentsWithStats((~mask).astype(np.uint8), connectivity=4)
    small = stats[:, cv2.CC_STAT_AREA] < HOLE * np.count_nonzero(mask)
    small[0] = False  # the mask itself
    filled: Mask = mask | small[holes]
    return filled


def box_of(mask: Mask) -> Box | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


def cut_sides(mask: Mask) -> frozenset[str]:
    """The sides of the frame that cut the thing."""
    box = box_of(mask)
    if box is None:
        return frozenset()
    wide, tall = box[2] - box[0], box[3] - box[1]
    edges = {
        "left": (mask[:, :FRAME].any(axis=1), tall),
        "right": (mask[:, -FRAME:].any(axis=1), tall),
        "top": (mask[:FRAME].any(axis=0), wide),
        "bottom": (mask[-FRAME:].any(axis=0), wide),
    }
    return frozenset(side for side, (along, size) in edges.items() if along.sum() > ON_FRAME * size)

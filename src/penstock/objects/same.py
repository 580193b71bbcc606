"""Tells whether things in several photos of one room are the same thing.

By label, colours and size; two things of one photo are never one. Greedy and careful: what is not
clearly the same stays two, and people see both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.objects.masks import Mask

if TYPE_CHECKING:
    from penstock.item import Pixels

ALIKE = 0.60  # of two colour histograms shared; other furniture of the same rooms shares .2 to .5
SIZE_RATIO = 1.8  # of their volumes
BINS = (12, 3, 3)


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing as it was seen in one photo."""

    photo: str
    label: str
    look: tuple[float, ...]
    volume: float


def look_of(pixels: Pixels, mask: Mask) -> tuple[float, ...]:
    """The colours of a thing: a histogram of hue, saturation and value that sums to one."""
    import cv2

    hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)
    histogram = cv2.calcHist(
        [hsv], [0, 1, 2], mask.astype(np.uint8), list(BINS), [0, 180, 0, 256, 0, 256]
    ).ravel()
    total = float(histogram.sum())
    return tuple(round(float(share), 4) for share in histogram / total) if total else ()


def groups(things: Sequence[Seen]) -> list[int]:
    """For each thing the number of the first that is the same; its own where it is new."""
    owner: list[int] = []
    for number, thing in enumerate(things):
        best, likeness = number, ALIKE
        for first in dict.fromkeys(owner):
            members = [n for n in range(number) if owner[n] == first]
            if any(things[n].photo == thing.photo for n in members):
                continue
            alike = max(_likeness(things[n], thing) for n in members)
            if alike > likeness:
                best, likeness = first, alike
        owner.append(best)
    return owner


def _likeness(one: Seen, other: Seen) -> float:
    if one.label != other.label or len(one.look) != len(other.look) or not one.look:
        return 0.0
    ratio = max(one.volume, other.volume) / max(1e-9, min(one.volume, other.volume))
    if ratio > SIZE_RATIO:
        return 0.0
    return float(np.minimum(one.look, other.look).sum())

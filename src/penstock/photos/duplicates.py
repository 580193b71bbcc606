"""Tells whether things in several photos of one room are the same thing.

By label, colours and size; two things of one photo are never one. Greedy and careful: what is not
clearly the same stays two, and people see both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.photos.masks import Mask

if TYPE_CHECKING:
    from penstock.box import Pixels

ALIKE = 0.60  # of two colour histograms shared; other furniture of the same rooms shares .2 to .5
SIZE_RATIO = 1.8  # of their volumes
BINS = (12, 3, 3)


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing as it was seen in one photo."""

    photo: str
    label: str
    colour_histogram: tuple[float, ...]
    volume: float


def colour_histogram(pixels: Pixels, mask: Mask) -> tuple[float, ...]:
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
    owner = list(range(len(things)))
    kinds: dict[tuple[str, int], list[int]] = {}
    for number, thing in enumerate(things):
        if thing.colour_histogram:
            kinds.setdefault((thing.label, len(thing.colour_histogram)), []).append(number)
    for numbers in kinds.values():
        firsts = _firsts([things[number] for number in numbers])
        for number, first in zip(numbers, firsts, strict=True):
            owner[number] = numbers[first]
    return owner


def _firsts(things: Sequence[Seen]) -> list[int]:
    """The same for things of one label: compares each with all before it at once."""
    looks = np.array([thing.colour_histogram for thing in things])
    volumes = np.maximum([thing.volume for thing in things], 1e-9)
    photos = np.unique([thing.photo for thing in things], return_inverse=True)[1]
    firsts = np.arange(len(things))
    for at in range(1, len(things)):
        alike = np.minimum(looks[:at], looks[at]).sum(axis=1)
        ratio = volumes[:at] / volumes[at]
        alike[np.maximum(ratio, 1 / ratio) > SIZE_RATIO] = 0.0
        best = np.zeros(at)  # of each group, at its first member's place
        np.maximum.at(best, firsts[:at], alike)
        best[firsts[:at][photos[:at] == photos[at]]] = 0.0
        if best.max() > ALIKE:
            firsts[at] = int(best.argmax())
    return [int(first) for first in firsts]

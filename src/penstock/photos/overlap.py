"""Settles what several masks claim at once: duplicates go, and a shared pixel gets one owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from penstock.box import Box, area, shared_area
from penstock.photos.masks import Mask, box_of

SAME = 0.7  # of the union shared, same label: one thing found twice
SAME_ANY_LABEL = 0.85  # whatever the labels: a sofa is not also a bed
PART = 0.9  # of a mask inside a larger one of the same label: a part of it
HELD = 0.85  # of a box inside a larger one of the same label, with half of its mask: the same thing again
HALF = 0.5
LEFT = 0.3  # of a mask that must remain after others took theirs


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """One thing that a finder claims to see.

    `number` says which of its claims it is, `outlined` is False where the mask is only a box, and `repeats`
    counts the claims that were dropped because they show the same thing.
    """

    label: str
    score: float
    mask: Mask
    number: int = 0
    outlined: bool = True
    repeats: int = 0


def settle(claims: Sequence[Claim], by_user: bool = False) -> list[Claim]:
    """Returns the claims that stand, outlined and sure ones first, no pixel in two of them.

    Boxes that a user drew one inside the other stay two things: the user saw the photo.
    """
    standing: list[Claim] = []
    for claim in sorted(claims, key=lambda claim: (not claim.outlined, -claim.score)):
        if not claim.mask.any():
            continue
        same = next((n for n, one in enumerate(standing) if _is_same(claim, one, by_user)), None)
        if same is None:
            standing.append(claim)
        else:
            standing[same] = replace(standing[same], repeats=standing[same].repeats + 1)
    return _shared_out(standing)


def _is_same(one: Claim, other: Claim, by_user: bool) -> bool:
    """Returns whether `one` shows the thing that `other`, which is kept, shows already."""
    both = np.count_nonzero(one.mask & other.mask)
    if not both:
        return False
    areas = [np.count_nonzero(claim.mask) for claim in (one, other)]
    shared = both / (sum(areas) - both)
    alike = one.label == other.label
    if shared > SAME_ANY_LABEL or (alike and (shared > SAME or both / areas[0] > PART)):
        return True
    if by_user:
        return False
    # an outline that failed is a box: one over half of the photo would take whatever stands in it
    is_half_a_room = not one.outlined and areas[0] > HALF * one.mask.size and both / areas[1] > HALF
    return bool(is_half_a_room or (alike and _holds(one, other, both / min(areas))))


def _holds(one: Claim, other: Claim, inside: float) -> bool:
    """Returns whether one claim's box holds the other's; `inside` is the share of the smaller mask."""
    if inside > PART:
        return True
    boxes = [box for claim in (one, other) if (box := box_of(claim.mask)) is not None]
    return inside > HALF and _inside(boxes[0], boxes[1]) > HELD


def _inside(one: Box, other: Box) -> float:
    """The share of the smaller box that lies in the other."""
    return shared_area(one, other) / min(area(one), area(other))


def _shared_out(claims: list[Claim]) -> list[Claim]:
    """Gives a pixel in two masks to the smaller thing, which is in front or on top."""
    taken = np.zeros(claims[0].mask.shape, bool) if claims else np.zeros((0, 0), bool)
    owned: dict[int, Mask] = {}
    for number in sorted(range(len(claims)), key=lambda n: np.count_nonzero(claims[n].mask)):
        mine = claims[number].mask & ~taken
        if np.count_nonzero(mine) >= LEFT * np.count_nonzero(claims[number].mask):
            owned[number] = mine
            taken |= mine
    return [replace(claim, mask=owned[n]) for n, claim in enumerate(claims) if n in owned]

"""Settles what several masks claim at once: duplicates go, and a shared pixel gets one owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from penstock.photos.masks import Mask

SAME = 0.7  # of the union shared, same label: one thing found twice
SAME_ANY_LABEL = 0.85  # whatever the labels: a sofa is not also a bed
PART = 0.9  # of a mask inside a larger one of the same label: a part of it
LEFT = 0.3  # of a mask that must remain after others took theirs


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """One thing that a finder claims to see. `number` says which of its claims it is."""

    label: str
    score: float
    mask: Mask
    number: int = 0


def settle(claims: Sequence[Claim]) -> list[Claim]:
    """Claims that stand, best first, no pixel in two of them."""
    standing: list[Claim] = []
    for claim in sorted(claims, key=lambda claim: -claim.score):
        if claim.mask.any() and not any(_is_same(claim, other) for other in standing):
            standing.append(claim)
    return _shared_out(standing)


def _is_same(one: Claim, other: Claim) -> bool:
    both = np.count_nonzero(one.mask & other.mask)
    if not both:
        return False
    either = np.count_nonzero(one.mask | other.mask)
    inside = both / np.count_nonzero(one.mask)
    alike = one.label == other.label
    shared = both / either
    return bool(shared > SAME_ANY_LABEL or (alike and (shared > SAME or inside > PART)))


def _shared_out(claims: list[Claim]) -> list[Claim]:
    """A pixel in two masks goes to the smaller thing, which stands in front or lies on top."""
    taken = np.zeros(claims[0].mask.shape, bool) if claims else np.zeros((0, 0), bool)
    owned: dict[int, Mask] = {}
    for number in sorted(range(len(claims)), key=lambda n: np.count_nonzero(claims[n].mask)):
        mine = claims[number].mask & ~taken
        if np.count_nonzero(mine) >= LEFT * np.count_nonzero(claims[number].mask):
            owned[number] = mine
            taken |= mine
    return [replace(claim, mask=owned[n]) for n, claim in enumerate(claims) if n in owned]

"""How long the answer about a crop is: drawn from its size, so that everyone asks for the same work.

A module of its own: the SDK's environment has nothing of ours.
"""

from __future__ import annotations

import random


def length_of(width: int, height: int) -> int:
    """Tokens of the answer about a crop of this size: exponential about 100."""
    drawn = random.Random(width * 10_007 + height).expovariate(1 / 100)
    return min(600, max(8, int(drawn)))

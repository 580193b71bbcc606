"""Finds texts that are nearly the same, by MinHash of their runs of characters.

Characters, not words, so that Korean, Japanese and Chinese are compared as English is. A text's signature is
the least of each hash over its runs, so that of a document is the least of those of its pages.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

RUN = 8  # characters
# two texts that share 72 % of their runs meet in a band half of the time, 85 % nearly always
BANDS, ROWS = 14, 8
HASHES = BANDS * ROWS
CHUNK = 4096  # runs that are hashed at once: 4 MB
EMPTY = np.iinfo(np.uint64).max
Signature = NDArray[np.uint64]
_RANDOM = np.random.default_rng(20261119)  # the same in every run: signatures are compared
_FACTORS = _RANDOM.integers(1, EMPTY, (2, HASHES), np.uint64) | np.uint64(1)
_POWERS = np.array([pow(0x100000001B3, place, 1 << 64) for place in range(RUN)], np.uint64)


def signature(texts: Iterable[str]) -> Signature:
    """Returns the signature of the texts of one document."""
    least = np.full(HASHES, EMPTY, np.uint64)
    for text in texts:
        runs = _runs(text)
        for start in range(0, len(runs), CHUNK):
            least = np.minimum(least, _hashed(runs[start : start + CHUNK]).min(axis=0))
    return least


def similarity(one: Signature, other: Signature) -> float:
    """Returns about which share of their runs both texts have."""
    return float(np.mean(one == other))


class NearTexts:
    """Remembers signatures: some 3 kB a text."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._bands: dict[tuple[int, bytes], str] = {}
        self._signatures: dict[str, Signature] = {}

    def nearest(self, name: str, found: Signature) -> tuple[str, float] | None:
        """Returns the earlier text that is nearest, and how near, if that is enough. Remembers this one."""
        if (found == EMPTY).all():
            return None
        keys = [(band, part.tobytes()) for band, part in enumerate(found.reshape(BANDS, ROWS))]
        met = dict.fromkeys(self._bands[key] for key in keys if key in self._bands)
        rated = [(similarity(found, self._signatures[other]), other) for other in met]
        for key in keys:
            self._bands.setdefault(key, name)
        self._signatures[name] = found
        nearest = max(rated, key=lambda pair: pair[0], default=None)
        return (nearest[1], nearest[0]) if nearest is not None and nearest[0] >= self._least else None


def _runs(text: str) -> NDArray[np.uint64]:
    """Returns a hash of each different run of characters, without regard to case and spaces."""
    letters = "".join(text.casefold().split())
    codes = np.frombuffer(letters.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    if len(codes) < RUN:
        return np.zeros(0, np.uint64)
    return np.unique(np.lib.stride_tricks.sliding_window_view(codes, RUN) @ _POWERS)


def _hashed(runs: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns all hashes of each run: the high bits of products are as good as random."""
    mixed: NDArray[np.uint64] = runs[:, None] * _FACTORS[0] + _FACTORS[1]
    return mixed ^ (mixed >> np.uint64(32))

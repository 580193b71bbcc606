"""What the benchmark of rooms says of chance: ranges that hold, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.lib.room_scores import Scored, chance


def scored(room: int, held: bool) -> Scored:
    return Scored(room, (), 1.0, 0.8, 1.2, 1.0 if held else 2.0)


def test_of_alone_standing_totals_chance_is_wilsons_interval() -> None:
    """40 of 50: 0.6696 to 0.8876 by the published formula."""
    low, high = chance([scored(n, n < 40) for n in range(50)])
    assert (low, high) == (pytest.approx(0.670, abs=0.002), pytest.approx(0.888, abs=0.002))


def test_things_of_one_room_that_fail_together_count_for_fewer() -> None:
    together = [scored(n // 5, n // 5 < 40) for n in range(250)]  # all five of a room, or none
    apart = [scored(n // 5, n % 5 != 0) for n in range(250)]  # one in each room
    wide, narrow = (np.ptp(chance(things)) for things in (together, apart))
    alone = np.ptp(chance([scored(n, n < 200) for n in range(250)]))
    assert wide > 2 * alone
    assert narrow == pytest.approx(alone)  # never surer than if each stood alone

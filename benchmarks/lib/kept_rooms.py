"""Measured rooms, cast once and kept in a folder: two estimators are compared in less time."""

from __future__ import annotations

import pickle
from pathlib import Path

from benchmarks.lib.scenes.measured_rooms import MeasuredRoom, measured_room


def kept_room(seed: int, num_things: int, folder: Path | None = None) -> MeasuredRoom:
    """The room of this seed: from `folder` where it lies there, else cast, and written there."""
    if folder is None:
        return measured_room(seed, num_things)
    path = folder / f"room-{seed}-{num_things}.pickle"
    if path.exists():
        room: MeasuredRoom = pickle.loads(path.read_bytes())  # our own, of an earlier run
        return room
    room = measured_room(seed, num_things)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(room))
    return room

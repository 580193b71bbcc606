"""A stand-in for SAM-3D whose calls end only when as many are under way as the pool has processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from penstock.engines.mesh.request import MeshOptions, MeshReply, MeshRequest
from penstock.processes.child_main import beat
from penstock.testing.fake_mesh import FakeSam3d, FakeScript
from tests.support.waiting import HANGS_S


def mesh_in_rounds(folder: Path, size: int) -> MeshOptions:
    """Calls come in rounds of `size`; none of a round ends before its last has begun.

    `folder` gets a file for each call, named by its number, with the process that took it.
    """
    return MeshOptions(opener=partial(_open, str(folder), size))


def _open(folder: str, size: int, _: MeshOptions) -> Callable[[MeshRequest], MeshReply]:
    answer = FakeSam3d(FakeScript())

    def answer_together(request: MeshRequest) -> MeshReply:
        number = _next_number(Path(folder))
        last = Path(folder) / str(-(-number // size) * size)
        end = time.monotonic() + HANGS_S
        while not last.exists() and time.monotonic() < end:
            beat()
            time.sleep(0.01)
        assert last.exists(), f"call {number} was left alone in its round"
        return answer(request)

    return answer_together


def _next_number(folder: Path) -> int:
    for number in count(1):
        try:
            with (folder / str(number)).open("x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            continue
        return number
    raise AssertionError

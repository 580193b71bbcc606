"""A stand-in for SAM-3D that obeys its contract, faults included: for tests and for trying the pool.

It prints where the real one prints, beats while it works, and gives a box in the unit cube with a
scale, so a reader that ignores the scale is found out.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from penstock.engines.mesh.request import MeshOptions, MeshReply, MeshRequest, OutOfMemory
from penstock.errors import EngineError
from penstock.processes.child_main import beat

NUM = 6_000
SCALE = 2.0
STEP_S = 0.1


@dataclass(frozen=True, slots=True)
class FakeScript:
    """How the stand-in behaves, by the thing's key ("photo/index")."""

    seconds: float = 0.0
    hangs: tuple[str, ...] = ()
    dies: tuple[str, ...] = ()  # kills its process, every time
    raises: tuple[str, ...] = ()
    short_of_memory: tuple[str, ...] = ()  # until the setting is `stage1`
    size: tuple[float, float, float] = (0.9, 0.5, 0.7)  # of the local cloud


def fake_mesh(script: FakeScript, **options: Any) -> MeshOptions:
    """Options under which the stand-in answers in place of SAM-3D."""
    return MeshOptions(opener=partial(_open, script), **options)


def _open(script: FakeScript, _: MeshOptions) -> FakeSam3d:
    return FakeSam3d(script)


class FakeSam3d:
    def __init__(self, script: FakeScript) -> None:
        self._script = script
        # prints to standard output, as the real one does
        print("[SPARSE] Backend: spconv, Attention: flash_attn", flush=True)

    def __call__(self, request: MeshRequest) -> MeshReply:
        script = self._script
        sys.stdout.write("[SPARSE][CONV] spconv algo: auto\n\x00\x01{not json\n")
        sys.stdout.flush()
        self._misbehave(request)
        self._work(script.seconds)
        metric = _sees_points(request) and not request.empty_room
        np.save(request.result, _box(script.size))
        return MeshReply(request.result, SCALE, metric, request.setting)

    def _misbehave(self, request: MeshRequest) -> None:
        script, key = self._script, request.key
        if key in script.dies:
            os.kill(os.getpid(), signal.SIGABRT)
        if key in script.hangs:
            time.sleep(3600)  # without a beat, like a kernel that never returns
        if key in script.raises:
            raise EngineError(f"{key} was asked to fail.")
        if key in script.short_of_memory and request.setting != "stage1":
            raise OutOfMemory(f"CUDA out of memory at {request.setting}.")

    def _work(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            beat()
            time.sleep(min(STEP_S, left))


def _sees_points(request: MeshRequest) -> bool:
    """Whether there is a pointmap. Raises EngineError for one that is not the photo's or not in its axes."""
    if not Path(request.pointmap).is_file():
        return False
    points, image = np.load(request.pointmap), np.load(request.image, mmap_mode="r")
    left, right, top, bottom = points[:, 0, 0], points[:, -1, 0], points[0, :, 1], points[-1, :, 1]
    if points.shape != image.shape or not (left.mean() > right.mean() and top.mean() > bottom.mean()):
        raise EngineError(f"The pointmap of {request.key} is not the photo's with x left and y up.")
    return True


def _box(size: tuple[float, float, float]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    random = np.random.default_rng(0)
    side = np.array(size)
    points = (random.random((NUM, 3)) - 0.5) * side
    axis = random.choice(3, NUM, p=(1 / side) / (1 / side).sum())
    points[np.arange(NUM), axis] = np.where(random.random(NUM) < 0.5, 0.5, -0.5) * side[axis]
    table = np.zeros((NUM, 14), np.float32)
    table[:, 0:3] = points
    table[:, 3:6] = 0.005
    table[:, 6] = 0.95
    table[:, 7:10] = 0.5
    table[:, 10] = 1.0
    return table

"""One thing in a photo to a cloud of Gaussians: what is asked of SAM-3D, and what comes back.

SAM-3D needs a torch of its own, so it runs in its own interpreter and process; this file is the
contract both sides import, and nothing heavy. Pictures, pointmaps and clouds travel as .npy files in a
folder both see, small things in the request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from penstock.errors import EngineError

Setting = Literal["gaussian", "gaussian_4", "stage1"]
HOW_IT_RUNS = frozenset(
    {
        "python", "config", "compile", "open_s", "deadline_s", "silence_s", "recycle_after",
        "recycle_growth_mb", "opener",
    }
)  # fmt: skip
COMPILE_S = 3600.0  # 13 to 20 minutes were seen, on a machine that did nothing else
# what a thing that did not fit into memory is tried with next
SMALLER: dict[Setting, Setting] = {"gaussian": "gaussian_4", "gaussian_4": "stage1"}


class OutOfMemory(EngineError):
    """The GPU was too small for this setting; a smaller one may do."""


class GpuLost(OutOfMemory):
    """A kernel failed and took the process's GPU with it; a fresh process may do a smaller setting."""

    ends_process = True


@dataclass(frozen=True, slots=True)
class MeshOptions:
    """How SAM-3D is run. Options that cost much and add nothing to a volume are off.

    `python` is the interpreter of its environment, `config` its pipeline.yaml. `moge` names metric
    depth weights (MoGe-2) its environment can load; without, and without a depth map, SAM-3D uses its own
    depth model, which knows no metres, or with `floor_depth` an empty room's depth, and the scale is set
    by the photo's geometry.
    """

    python: str = ""
    config: str = ""
    moge: str = ""
    floor_depth: bool = False  # the last resort: no depth model is asked at all
    setting: Setting = "gaussian_4"
    stage1_steps: int | None = None  # None: the model's own, 25
    stage2_steps: int | None = None
    seed: int = 42
    with_mesh: bool = False  # a GLB as well as the cloud
    with_texture: bool = False  # 30 to 60 s an object
    with_mesh_postprocess: bool = False  # 20 to 40 s an object
    with_layout_postprocess: bool = False  # 2 to 5 s an object
    compile: bool = False  # 10 to 20 minutes at start, no gain seen
    open_s: float = 900.0  # for weights, and for the first thing, on which it warms up
    deadline_s: float = 600.0
    silence_s: float = 120.0
    recycle_after: int = 200
    recycle_growth_mb: float = 8000.0
    # in place of SAM-3D itself: called in each member's process; see testing/fake_mesh.py
    opener: Callable[[MeshOptions], Callable[[MeshRequest], MeshReply]] | None = None

    @property
    def opening_s(self) -> float:
        """What loading may take, and compilation where it is asked for."""
        return max(self.open_s, COMPILE_S) if self.compile else self.open_s

    def results(self) -> dict[str, Any]:
        """What changes results: for the fingerprint of a plan."""
        names = [field.name for field in fields(self) if field.name not in HOW_IT_RUNS]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class MeshRequest:
    key: str  # "photo/index"
    image: str  # .npy, (height, width, 3) uint8 RGB
    mask: bytes = field(repr=False)  # one-bit PNG of the same size
    pointmap: str  # .npy, (height, width, 3) float32 in PyTorch3D's axes; may not exist yet
    empty_room: bool  # the pointmap is a bare floor's: it has directions but measured nothing
    setting: Setting
    result: str  # where to write the cloud


@dataclass(frozen=True, slots=True)
class MeshReply:
    """The cloud is (num, 14) float32: place, sigma, opacity, colour, rotation; in the model's unit cube.

    `scale` takes it to metres where `metric`; else to the photo's own unit. `rotation` (w, x, y, z) and
    `position` place it before the camera, in the pointmap's axes: x left, y up, z forward.
    """

    cloud: str
    scale: float
    metric: bool
    setting: Setting
    glb: str = ""
    rotation: tuple[float, float, float, float] | None = None
    position: tuple[float, float, float] | None = None

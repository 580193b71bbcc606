"""What SAM-3D's adapter calls of torch, hydra, omegaconf, MoGe and sam3d_objects, as published.

Signatures and faults are from the published code and its issues, not from our adapter; numpy does the work.
`environment` makes an environment of its own with it: an interpreter with numpy, Pillow, these and nothing of
ours. The pipeline notes every call in `calls.jsonl` beside its pipeline.yaml, refuses what the real one
refuses, and fails at the settings and calls that `faults` of the yaml names.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import venv
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

SHIMS = {
    "torch/__init__.py": "from sam3d_stand_in import Tensor, cuda, from_numpy, inference_mode",
    "torch/nn/modules/module.py": "from sam3d_stand_in import register_module_forward_pre_hook",
    "hydra/utils.py": "from sam3d_stand_in import instantiate",
    "omegaconf/__init__.py": "from sam3d_stand_in import OmegaConf",
    "moge/model/v2.py": "from sam3d_stand_in import MoGeModel",
    "sam3d_objects/pipeline/inference_pipeline_pointmap.py": "from sam3d_stand_in import Pipeline",
}
TARGET = "sam3d_objects.pipeline.inference_pipeline_pointmap.Pipeline"
FORMATS = {"mesh", "gaussian", "gaussian_4"}
BOX = (0.5, 0.4, 1.0)  # of the shape in its cube: width, depth, height
TURN = (0.8, 0.0, 0.6, 0.0)


def environment(folder: Path) -> str:
    """Makes the environment and returns its interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python3*/site-packages"))
    for package in ("numpy", "pillow"):
        for top in {Path(file).parts[0] for file in files(package) or ()}:
            here = Path(np.__file__).parents[1] / top
            if here.is_dir() and top not in ("..", "__pycache__"):
                (site / top).symlink_to(here)
    (site / "sam3d_stand_in.py").write_bytes(Path(__file__).read_bytes())
    for name, text in SHIMS.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    return str(folder / "bin" / "python")


def config(folder: Path, **faults: str) -> Path:
    """A pipeline.yaml (JSON is YAML) whose pipeline fails at these settings with these words."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pipeline.yaml"
    settings = {"_target_": TARGET, "slat_decoder_gs_4_config_path": "x", "slat_decoder_gs_4_ckpt_path": "x"}
    path.write_text(json.dumps({**settings, "faults": faults}))
    return path


def calls(path: Path) -> list[dict[str, Any]]:
    """What a pipeline of this yaml was asked."""
    log = path.with_name("calls.jsonl")
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


class Tensor:
    """As much of a tensor as the adapter touches."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, np.float32) if not isinstance(values, np.ndarray) else values

    def numpy(self) -> np.ndarray[Any, Any]:
        return self.values

    def _same(self) -> Tensor:
        return self

    detach = cpu = cuda = _same

    def float(self) -> Tensor:
        return Tensor(self.values.astype(np.float32))

    def reshape(self, *shape: int) -> Tensor:
        return Tensor(self.values.reshape(*shape))

    def permute(self, *axes: int) -> Tensor:
        return Tensor(self.values.transpose(*axes))

    def __getitem__(self, at: Any) -> Any:
        return self.values[at]

    def __truediv__(self, by: Any) -> Tensor:
        return Tensor(self.values / by)

    def __rmul__(self, by: Any) -> Tensor:
        return Tensor(by * self.values)

    def __radd__(self, by: Any) -> Tensor:
        return Tensor(by + self.values)


def from_numpy(values: np.ndarray[Any, Any]) -> Tensor:
    return Tensor(values)


class OutOfMemoryError(RuntimeError):
    """torch's own."""


cuda = SimpleNamespace(
    OutOfMemoryError=OutOfMemoryError, empty_cache=lambda: None, is_initialized=lambda: False
)
inference_mode = contextlib.nullcontext


def register_module_forward_pre_hook(hook: Callable[..., None]) -> None:
    """Forward passes of every module call it; ours has none."""


class _Settings(dict[str, Any]):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class OmegaConf:
    @staticmethod
    def load(path: Path) -> _Settings:
        return _Settings(json.loads(Path(path).read_text()))


def instantiate(settings: _Settings) -> Any:
    module, _, name = settings["_target_"].rpartition(".")
    made = {key: value for key, value in settings.items() if key != "_target_"}
    return getattr(__import__(module, fromlist=[name]), name)(**made)


class MoGeModel:
    """MoGe-2: x right, y down, z forward, in metres, and infinite in the upper quarter: nothing seen."""

    @classmethod
    def from_pretrained(cls, name: str) -> MoGeModel:
        return cls()

    def cuda(self) -> MoGeModel:
        return self

    eval = cuda

    def infer(self, pixels: Tensor) -> dict[str, Tensor]:
        _, height, width = pixels.values.shape
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        points = np.stack([x / width - 0.5, y / height - 0.5, np.ones_like(x)], axis=2) * 2.5
        points[: height // 4] = np.inf
        points[: height // 4, : width // 2] = -np.inf
        return {"points": Tensor(points), "intrinsics": Tensor(np.diag([0.8, 1.1, 1.0]).astype(np.float32))}


class _Cloud:
    def __init__(self, per_voxel: int) -> None:
        random = np.random.default_rng(0)
        points = (random.random((400 * per_voxel, 3)) - 0.5) * np.array(BOX)
        axis = random.integers(0, 3, len(points))
        points[np.arange(len(points)), axis] = (
            np.where(random.random(len(points)) < 0.5, 0.5, -0.5) * np.array(BOX)[axis]
        )
        num = len(points)
        self.get_xyz = Tensor(points.astype(np.float32))
        self.get_scaling = Tensor(np.full((num, 3), 0.005, np.float32))
        self.get_opacity = Tensor(np.full((num, 1), 0.95, np.float32))
        self.get_features = Tensor(np.zeros((num, 1, 3), np.float32))
        self.get_rotation = Tensor(np.tile(np.array([1, 0, 0, 0], np.float32), (num, 1)))


class Pipeline:
    """InferencePipelinePointMap. `faults` are words by what is decoded: it raises them as a RuntimeError."""

    def __init__(
        self,
        workspace_dir: str,
        rendering_engine: str,
        compile_model: bool,
        slat_decoder_gs_4_config_path: str | None,
        slat_decoder_gs_4_ckpt_path: str | None,
        faults: dict[str, str],
    ) -> None:
        assert rendering_engine == "pytorch3d"
        assert os.environ.get("LIDRA_SKIP_INIT"), "sam3d_objects imports a module that is not published"
        self._log, self._faults = Path(workspace_dir) / "calls.jsonl", faults
        print("[SPARSE][CONV] spconv algo: auto", flush=True)  # to standard output, as the real one
        if compile_model:
            self._warmup()

    def _warmup(self, num_warmup_iters: int = 3) -> None:
        self.run_layout_model()  # type: ignore[attr-defined]  # as published: it is defined nowhere

    def run(
        self,
        image: Any,
        mask: Any = None,
        seed: int | None = None,
        stage1_only: bool = False,
        with_mesh_postprocess: bool = True,
        with_texture_baking: bool = True,
        with_layout_postprocess: bool = True,
        use_vertex_color: bool = False,
        stage1_inference_steps: int | None = None,
        stage2_inference_steps: int | None = None,
        use_stage1_distillation: bool = False,
        use_stage2_distillation: bool = False,
        pointmap: Any = None,
        decode_formats: list[str] | None = None,
        estimate_plane: bool = False,
    ) -> dict[str, Any]:
        assert image.dtype == np.uint8
        assert set(np.unique(image[..., 3])) == {0, 255}, "a mask of 0 and 1 becomes 1/255"
        assert set(decode_formats or ()) <= FORMATS
        stage = "stage1" if stage1_only else (decode_formats or ["gaussian"])[0]
        words = self._faults.get(stage) or self._faults.get(f"from_call_{self._num_calls()}")
        self._note(stage, image, pointmap)
        if words:
            raise OutOfMemoryError(words) if words.startswith("CUDA out of memory") else RuntimeError(words)
        output = self._posed(image, pointmap)
        if stage1_only:
            return {**output, "voxel": Tensor((_Cloud(4).get_xyz.values * 64).round() / 64)}
        return {**output, stage: [_Cloud(4 if stage == "gaussian_4" else 32)], "glb": None}

    def _posed(self, image: Any, pointmap: Any) -> dict[str, Any]:
        """Scale and pose by the points of the mask, as a metric map gives them; else of length one."""
        scale, place = 1.0, np.array([0, 0, 1], np.float32)
        if pointmap is not None:
            points = pointmap.values[image[..., 3] > 0]
            points = points[~np.isnan(points).any(axis=1)]
            assert not np.isinf(pointmap.values).any(), "an infinite point spoils the scene's mean"
            if len(points):
                scale, place = float(np.ptp(points[:, 1])) / BOX[2], points.mean(axis=0)
        return {
            "scale": Tensor(np.full((1, 3), scale, np.float32)),
            "rotation": Tensor(np.array([TURN], np.float32)),
            "translation": Tensor(place[None].astype(np.float32)),
        }

    def _num_calls(self) -> int:
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0

    def _note(self, stage: str, image: Any, pointmap: Any) -> None:
        seen = None if pointmap is None else round(float(np.isfinite(pointmap.values).mean()), 3)
        call = {"stage": stage, "shape": image.shape, "colours": len(np.unique(image[..., :3]))}
        with self._log.open("a") as log:
            log.write(json.dumps({**call, "seen": seen, "pid": os.getpid(), "python": sys.prefix}) + "\n")

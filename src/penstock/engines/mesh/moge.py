"""MoGe-2: a photo's depth in metres, in an interpreter of its own. Only that interpreter ever opens this.

Needs no package of ours but `penstock` itself, and imports numpy, torch and moge of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import EngineError, MissingModel, first_line


@dataclass(frozen=True, slots=True)
class DepthReply:
    """Where the depth is: .npy, metres along the camera's axis, NaN where nothing was seen.

    `focal` is the lens that MoGe believes in, as a share of the photo's width; 0 where it does not say.
    """

    depth: str
    focal: float


def open_moge(name: str) -> Moge:
    return Moge(name)


class Moge:
    """Holds one depth model on the GPU of this process."""

    def __init__(self, name: str) -> None:
        self._model = load_moge(name)

    def __call__(self, image: str) -> DepthReply:
        import numpy as np

        try:
            points, focal = seen_points(self._model, np.load(image, mmap_mode="r"))
        except RuntimeError as exc:
            raise EngineError(f"MoGe failed: {first_line(exc)}.") from exc
        path = str(Path(image).with_suffix(".depth.npy"))
        np.save(path, points[..., 2])
        return DepthReply(path, focal)


def load_moge(name: str) -> Any:
    try:
        from moge.model.v2 import MoGeModel  # type: ignore[import-not-found, unused-ignore]
    except ImportError as exc:
        raise MissingModel(
            "Metric depth needs the package moge in the environment of --sam3d-python.",
            "Install github.com/microsoft/MoGe there, or leave --moge out.",
        ) from exc
    return MoGeModel.from_pretrained(name).cuda().eval()


def seen_points(moge: Any, image: Any) -> tuple[Any, float]:
    """Metres with x right, y down and z forward, and the lens as a share of the width.

    MoGe says infinite where it sees nothing; here that is no number, which everything leaves out.
    """
    import numpy as np
    import torch

    pixels = torch.from_numpy(np.array(image)).cuda().permute(2, 0, 1).float() / 255
    with torch.inference_mode():
        output = moge.infer(pixels)
    points = output["points"].float().cpu().numpy()
    seen = np.isfinite(points).all(axis=2, keepdims=True) & (points[..., 2:] > 0)
    lens = output.get("intrinsics")
    focal = float(lens.float().cpu().numpy()[0, 0]) if lens is not None else 0.0
    return np.where(seen, points, np.nan).astype(np.float32), focal if 0 < focal < 30 else 0.0

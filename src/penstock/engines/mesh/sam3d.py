"""SAM-3D Objects, run in its own interpreter. Only that interpreter ever opens this.

Its environment is the user's (linux, CUDA, torch 2.5.1, gated weights under the SAM License); nothing
of it is shipped. Not run here for lack of weights: tests run it in an environment of its own against a
stand-in with the published signatures. Needs no package of ours but `penstock` itself, and imports numpy,
Pillow and torch of its own.

Nothing made up warms it up: a flat square has no shape, and an empty shape is an error of its sparse
convolutions. The first thing of the first photo is the warm-up, with the time that opening has.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from penstock.engines.mesh.moge import load_moge, seen_points
from penstock.engines.mesh.request import GpuLost, MeshOptions, MeshReply, MeshRequest, OutOfMemory
from penstock.errors import EngineError, MissingModel, first_line
from penstock.processes.child_main import beat

SH_C0 = 0.28209479177387814
MIN_MEASURED = 0.05  # of a thing's pixels must have depth, or its scale was measured by nothing
PYTORCH3D = (-1.0, -1.0, 1.0)  # its axes against ours: x left, y up
NO_SHAPE = "must be positive"  # a sparse convolution over no voxel at all
# what torch, cuBLAS and spconv say when memory is short; spconv raises plain RuntimeErrors
SHORT_OF_MEMORY = ("out of memory", "alloc_failed", "memoryallocation", "failed with error 2 ")
ON_GPU = ("cuda", "cublas", "cudnn", "spconv", "nvrtc")


def open_sam3d(options: MeshOptions) -> Sam3d:
    return Sam3d(options)


class Sam3d:
    """Holds one pipeline on the GPU of this process."""

    def __init__(self, options: MeshOptions) -> None:
        self._options = options
        self._pipeline = _pipeline(options)
        self._moge: Any = load_moge(options.moge) if options.moge else None
        self._photo: tuple[str, Any] = ("", None)  # the last photo and its pointmap
        _beat_with_every_module()

    def __call__(self, request: MeshRequest) -> MeshReply:
        import numpy as np

        image = np.load(request.image, mmap_mode="r")
        rgba = _rgba(image, request.mask)
        pointmap = self._pointmap(request, image)
        beat()
        try:
            output = self._run(rgba, pointmap, request.setting)
        except RuntimeError as exc:
            raise _told(exc, request.setting) from exc
        beat()
        np.save(request.result, _voxels(output) if request.setting == "stage1" else _table(output))
        return MeshReply(
            request.result,
            float(output["scale"].reshape(-1)[0]),
            metric=_is_measured(pointmap, rgba) and not request.empty_room,
            setting=request.setting,
            glb=self._glb(output, request),
            rotation=_numbers(output.get("rotation"), 4),
            position=_numbers(output.get("translation"), 3),
        )

    def _run(self, rgba: Any, pointmap: Any, setting: str) -> dict[str, Any]:
        options = self._options
        formats = ["gaussian" if setting == "stage1" else setting]
        if options.with_mesh:
            formats = ["mesh", "gaussian"]  # to_glb reads the Gaussians too
        result: dict[str, Any] = self._pipeline.run(
            rgba,
            None,
            options.seed,
            stage1_only=setting == "stage1",
            with_mesh_postprocess=options.with_mesh_postprocess,
            with_texture_baking=options.with_texture,
            with_layout_postprocess=options.with_layout_postprocess,
            use_vertex_color=not options.with_texture,
            stage1_inference_steps=options.stage1_steps,
            stage2_inference_steps=options.stage2_steps,
            decode_formats=formats,
            pointmap=pointmap,
        )
        return result

    def _pointmap(self, request: MeshRequest, image: Any) -> Any:
        """The photo's metric pointmap, made once and shared through its file by all members."""
        import numpy as np
        import torch

        if self._photo[0] == request.image:
            return self._photo[1]
        path = Path(request.pointmap)
        if not path.is_file() and self._moge is not None:
            found = seen_points(self._moge, image)[0] * np.array(PYTORCH3D, np.float32)
            temporary = path.with_name(f"{os.getpid()}-{path.name}")
            np.save(temporary, found)
            temporary.replace(path)
        points = torch.from_numpy(np.load(path)) if path.is_file() else None
        self._photo = (request.image, points)
        return points

    def _glb(self, output: dict[str, Any], request: MeshRequest) -> str:
        if output.get("glb") is None:
            return ""
        path = f"{request.result}.glb"
        output["glb"].export(path)
        return path


def _pipeline(options: MeshOptions) -> Any:
    """The pipeline without its notebook class, which wants conda, gradio and more."""
    os.environ.setdefault("LIDRA_SKIP_INIT", "true")
    config = Path(options.config)
    if not config.is_file():
        where = f"is not at {config}" if options.config else "was not named"
        raise MissingModel(
            f"SAM-3D's pipeline.yaml {where}.",
            "Fetch its checkpoints (gated) and name the file with --sam3d-config.",
        )
    try:
        from hydra.utils import instantiate  # type: ignore[import-not-found, unused-ignore]
        from omegaconf import OmegaConf  # type: ignore[import-not-found, unused-ignore]
    except ImportError as exc:
        raise MissingModel(
            f"SAM-3D's environment lacks {exc.name}.", "Name its interpreter with --sam3d-python."
        ) from exc
    settings = OmegaConf.load(config)
    settings.rendering_engine = "pytorch3d"
    settings.compile_model = options.compile
    settings.workspace_dir = str(config.parent)
    if options.setting == "gaussian":  # the other decoder's weights stay on the disk
        settings.slat_decoder_gs_4_config_path = None
        settings.slat_decoder_gs_4_ckpt_path = None
    if options.compile:
        _skip_own_warm_up(str(settings["_target_"]))
    return instantiate(settings)


def _skip_own_warm_up(target: str) -> None:
    """The pipeline's own warm-up, which only runs when compiled, calls a method that it does not have."""
    module, _, name = target.rpartition(".")
    getattr(importlib.import_module(module), name)._warmup = lambda self, *_, **__: None


def _is_measured(pointmap: Any, rgba: Any) -> bool:
    """Whether enough of the thing has depth to set its scale."""
    import numpy as np

    if pointmap is None:
        return False
    depth = pointmap.numpy()[..., 2][rgba[..., 3] > 0]
    return bool(len(depth) and np.isfinite(depth).mean() >= MIN_MEASURED)


def _told(exc: RuntimeError, setting: str) -> EngineError:
    """What a failed run means: too little memory, a lost GPU, or a thing that has no shape."""
    import torch

    words = str(exc).lower()
    if NO_SHAPE in words:
        return EngineError("SAM-3D found no shape in this outline.", "Look at its mask, or draw a --box.")
    if isinstance(exc, torch.cuda.OutOfMemoryError) or any(word in words for word in SHORT_OF_MEMORY):
        torch.cuda.empty_cache()
        return OutOfMemory(f"CUDA is out of memory at {setting}.", "Free the GPU.")
    if any(word in words for word in ON_GPU):
        return GpuLost(f"SAM-3D lost its GPU at {setting}: {first_line(exc)}.")
    return EngineError(f"SAM-3D failed: {exc}")


def _numbers(values: Any, count: int) -> Any:
    """A pose's numbers as a tuple; None where the run gave none that are finite."""
    import numpy as np

    if values is None:
        return None
    flat = values.detach().float().cpu().numpy().reshape(-1)[:count]
    return tuple(float(v) for v in flat) if len(flat) == count and np.isfinite(flat).all() else None


def _rgba(image: Any, mask: bytes) -> Any:
    """The photo with the mask as alpha, 0 or 255: a 0/1 mask would become 1/255."""
    import io

    import numpy as np
    from PIL import Image

    alpha = np.array(Image.open(io.BytesIO(mask)).convert("L"))
    return np.dstack([np.array(image), np.where(alpha > 127, 255, 0).astype(np.uint8)])


def _table(output: dict[str, Any]) -> Any:
    """The Gaussians as MeshReply promises them."""
    import numpy as np

    name = "gaussian" if output.get("gaussian") else "gaussian_4"
    cloud = output[name][0]
    parts = [
        cloud.get_xyz,
        cloud.get_scaling,
        cloud.get_opacity.reshape(-1, 1),
        0.5 + SH_C0 * cloud.get_features.reshape(-1, 3),
        cloud.get_rotation,
    ]
    return np.concatenate([part.detach().float().cpu().numpy() for part in parts], axis=1)


def _voxels(output: dict[str, Any]) -> Any:
    """Stage 1's voxels as grey Gaussians: enough for W x D x H."""
    import numpy as np

    points = output["voxel"].detach().float().cpu().numpy().reshape(-1, 3)
    table = np.zeros((len(points), 14), np.float32)
    table[:, 0:3] = points
    table[:, 3:6] = 0.5 / 64
    table[:, 6] = 0.95
    table[:, 7:10] = 0.6
    table[:, 10] = 1.0
    return table


def _beat_with_every_module() -> None:
    """Every layer that is called in this thread shows that the work moves; a hung kernel stops that."""
    from torch.nn.modules.module import register_module_forward_pre_hook

    register_module_forward_pre_hook(lambda *_: beat())

"""What the torch segmenters share: weights, device, pictures in, masks of the photo's size out.

Pictures are scaled and normalised here and not by the models' processors, which want a torchvision
that matches torch to the build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from penstock.engines.segment.segmenter import FoundThing, Mask
from penstock.errors import MissingModel, first_line, install_advice

if TYPE_CHECKING:
    from penstock.box import Pixels

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet's
AT_ONCE = 8  # masks scaled together: 400 MB for a photo of 12 megapixels


def modules() -> tuple[Any, Any]:
    """torch and transformers, or what to install."""
    try:
        import torch
        import transformers
    except ImportError as exc:
        raise MissingModel(
            f"This detector needs {exc.name}, which is not installed.", install_advice("gpu")
        ) from exc
    return torch, transformers


def load(auto: Any, name: str, what: str) -> Any:
    """Weights from a folder or the hub's cache. Raises MissingModel."""
    try:
        return auto.from_pretrained(name)
    except (OSError, ValueError) as exc:
        raise MissingModel(
            f"{what} {name!r} cannot be loaded: {first_line(exc)}",
            "Fetch it with `hf download` where there is a network, or name a folder with --model.",
        ) from exc


def device_of(wanted: str) -> str:
    torch, _ = modules()
    if wanted != "auto":
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"


def ready(model: Any, device: str) -> Any:
    """The model on its device, for inference. On a GPU it multiplies in TF32, as its convolutions do."""
    torch, _ = modules()
    if device.startswith("cuda"):
        torch.set_float32_matmul_precision("high")
    return model.to(device).eval()


def tensor(pictures: list[Pixels], sizes: list[tuple[int, int]], device: str) -> tuple[Any, Any]:
    """Pictures scaled to (width, height) each, in one batch padded with zeros, and where they are.

    Bytes travel and become numbers on the device: four times less to move, and no work for the CPU.
    """
    torch, _ = modules()
    wide, tall = max(width for width, _ in sizes), max(height for _, height in sizes)
    batch = np.zeros((len(pictures), tall, wide, 3), np.uint8)
    there = torch.zeros((len(pictures), tall, wide), dtype=torch.int64, device=device)
    for number, (picture, (width, height)) in enumerate(zip(pictures, sizes, strict=True)):
        batch[number, :height, :width] = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
        there[number, :height, :width] = 1
    mean, std = (torch.tensor(three, device=device).view(1, 3, 1, 1) * 255 for three in (MEAN, STD))
    values = torch.from_numpy(batch).to(device).permute(0, 3, 1, 2).float()
    return (values.sub_(mean).div_(std) * there[:, None]).contiguous(), there


def full_masks(logits: Any, width: int, height: int) -> list[Mask]:
    """Small maps of logits as masks of the photo's size, scaled on the device before they are cut at zero."""
    torch, _ = modules()
    masks: list[Mask] = []
    for few in logits.split(AT_ONCE):
        scaled = torch.nn.functional.interpolate(few[:, None].float(), (height, width), mode="bilinear")
        masks += list((scaled[:, 0] > 0).cpu().numpy())
    return masks


def found(label: str, score: float, mask: Mask) -> FoundThing | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    box = (float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1))
    return FoundThing(label, score, box, mask)

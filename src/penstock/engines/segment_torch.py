"""What the torch segmenters share: weights, device, pictures in, masks of the photo's size out.

Pictures are scaled and normalised here and not by the models' processors, which want a torchvision
that matches torch to the build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from penstock.engines.segment import Found, Mask
from penstock.errors import MissingModel

if TYPE_CHECKING:
    from penstock.item import Pixels

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet's


def modules() -> tuple[Any, Any]:
    """torch and transformers, or what to install."""
    try:
        import transformers

        import torch
    except ImportError as exc:
        raise MissingModel(
            f"This detector needs {exc.name}, which is not installed.", "Run: pip install 'penstock[gpu]'"
        ) from exc
    return torch, transformers


def load(auto: Any, name: str, what: str) -> Any:
    """Weights from a folder or the hub's cache. Raises MissingModel."""
    try:
        return auto.from_pretrained(name)
    except (OSError, ValueError) as exc:
        first = str(exc).strip().splitlines()[0]
        raise MissingModel(
            f"{what} {name!r} cannot be loaded: {first}",
            "Fetch it with `hf download` where there is a network, or name a folder with --model.",
        ) from exc


def device_of(wanted: str) -> str:
    torch, _ = modules()
    if wanted != "auto":
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"


def tensor(pictures: list[Pixels], sizes: list[tuple[int, int]], device: str) -> tuple[Any, Any]:
    """Pictures scaled to (width, height) each, in one batch padded with zeros, and where they are."""
    torch, _ = modules()
    wide, tall = max(width for width, _ in sizes), max(height for _, height in sizes)
    batch = np.zeros((len(pictures), tall, wide, 3), np.float32)
    there = np.zeros((len(pictures), tall, wide), np.int64)
    mean, std = np.array(MEAN, np.float32), np.array(STD, np.float32)
    for number, (picture, (width, height)) in enumerate(zip(pictures, sizes, strict=True)):
        small = np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.float32)
        batch[number, :height, :width] = (small / 255 - mean) / std
        there[number, :height, :width] = 1
    values = torch.from_numpy(np.ascontiguousarray(batch.transpose(0, 3, 1, 2)))
    return values.to(device), torch.from_numpy(there).to(device)


def full_mask(logits: Any, width: int, height: int) -> Mask:
    """A small map of logits as a mask of the photo's size; it is scaled before it is cut at zero."""
    small = logits.float().cpu().numpy()
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR) > 0)


def found(label: str, score: float, mask: Mask) -> Found | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    box = (float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1))
    return Found(label, score, box, mask)

"""Checkpoints small enough to travel: parts of at most 15 MiB, 5 bytes a weight with the optimiser's memory.

A weight keeps 24 of its 32 bits: a step of training is far larger than what is lost. Adam's mean keeps 8 bits
a value, its mean of squares 8 bits of the logarithm, in blocks of 256. `load` brings back
what `save` was given, up to that.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

PART_BYTES = 15 * 2**20
BLOCK = 256
TINIEST = 1e-20  # stands for a mean of squares of zero


def save(
    folder: Path, weights: dict[str, Tensor], moments: dict[str, tuple[Tensor, Tensor]], state: dict[str, Any]
) -> int:
    """Writes a checkpoint and returns its bytes. An older one goes last, so that one of the two is whole."""
    raw = io.BytesIO()
    torch.save(
        {
            "weights": {name: (_short(value), tuple(value.shape)) for name, value in weights.items()},
            "means": {name: _bytes(mean) for name, (mean, _) in moments.items()},
            "squares": {name: _bytes(_logarithm(square)) for name, (_, square) in moments.items()},
            "state": state,
        },
        raw,
    )
    content = raw.getvalue()
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(content).hexdigest()
    parts = [content[at : at + PART_BYTES] for at in range(0, len(content), PART_BYTES)]
    names = [f"{digest[:8]}.{number}" for number in range(len(parts))]
    for name, part in zip(names, parts, strict=True):
        (folder / name).write_bytes(part)
    fresh = folder / "checkpoint.json.new"
    fresh.write_text(json.dumps({"parts": names, "sha256": digest, "state": state}, indent=1))
    fresh.replace(folder / "checkpoint.json")
    for old in folder.iterdir():
        if old.name not in (*names, "checkpoint.json"):
            old.unlink()
    return len(content)


def load(folder: Path) -> tuple[dict[str, Tensor], dict[str, tuple[Tensor, Tensor]], dict[str, Any]] | None:
    """Returns what was saved, None where nothing was. Raises ValueError when parts are missing or spoiled."""
    if not (folder / "checkpoint.json").is_file():
        return None
    told = json.loads((folder / "checkpoint.json").read_text())
    content = b"".join((folder / name).read_bytes() for name in told["parts"])
    if hashlib.sha256(content).hexdigest() != told["sha256"]:
        raise ValueError(f"The checkpoint in {folder} is not whole.")
    found = torch.load(io.BytesIO(content), weights_only=True)
    weights = {name: _long(value, shape) for name, (value, shape) in found["weights"].items()}
    moments = {
        name: (_values(mean, weights[name].shape), _values(found["squares"][name], weights[name].shape).exp())
        for name, mean in found["means"].items()
    }
    return weights, moments, found["state"]


def _short(value: Tensor) -> Tensor:
    """The upper three bytes of each float, rounded."""
    bits = value.detach().float().cpu().contiguous().flatten().view(torch.int32)
    rounded = bits + 0x80
    return rounded.view(torch.uint8).reshape(-1, 4)[:, 1:].contiguous()


def _long(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    whole = torch.zeros(len(value), 4, dtype=torch.uint8)
    whole[:, 1:] = value
    return whole.flatten().view(torch.float32).reshape(shape).clone()


def _logarithm(value: Tensor) -> Tensor:
    return value.float().clamp_min(TINIEST).log()


def _bytes(value: Tensor) -> dict[str, Tensor]:
    """Values as bytes between the least and the most of their block."""
    flat = value.detach().float().cpu().flatten()
    blocks = torch.nn.functional.pad(flat, (0, -len(flat) % BLOCK), value=float(flat[-1])).reshape(-1, BLOCK)
    low, high = blocks.min(dim=1).values, blocks.max(dim=1).values
    span = (high - low).clamp_min(1e-30)
    levels = ((blocks - low[:, None]) / span[:, None] * 255).round().to(torch.uint8)
    return {"levels": levels.flatten()[: len(flat)].clone(), "low": low, "span": span}


def _values(packed: dict[str, Tensor], shape: torch.Size) -> Tensor:
    levels = packed["levels"].float()
    blocks = torch.nn.functional.pad(levels, (0, -len(levels) % BLOCK)).reshape(-1, BLOCK)
    values = blocks / 255 * packed["span"][:, None] + packed["low"][:, None]
    return values.flatten()[: len(levels)].reshape(shape).clone()

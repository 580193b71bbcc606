"""Training in slices of minutes: a network, its optimiser and its schedule go from one slice to the next."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import checkpoint
import torch
from torch.utils.data import DataLoader, Dataset


class SlicedTraining:
    """A network in training and everything a checkpoint holds.

    options has rate, seed, samples and total_minutes; the network has sizes, which `as_dict` tells.
    """

    warm_up: ClassVar[float]  # the share of the whole training in which the rate rises
    weight_decay: ClassVar[float]
    max_gradient: ClassVar[float]

    def __init__(self, options: argparse.Namespace, network: torch.nn.Module) -> None:
        self.options = options
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if self.device.type == "cpu":
            torch.set_num_threads(1)  # others share the machine; threads would wait for each other
        self.network: Any = network.to(self.device)
        self.optimiser = torch.optim.AdamW(
            self._parameter_groups(), lr=options.rate, betas=(0.9, 0.98), fused=self.device.type == "cuda"
        )
        self.batch = self.samples = 0
        self.seconds = 0.0  # spent on steps, over all slices

    def resume(self, folder: Path) -> bool:
        found = checkpoint.load(folder)
        if found is None:
            return False
        weights, moments, state = found
        missing = self.network.load_state_dict(weights, strict=False)
        if missing.unexpected_keys or any(not _counts(name) for name in missing.missing_keys):
            raise ValueError(f"The checkpoint in {folder} is of another network.")
        named = dict(self.network.named_parameters())
        for name, (mean, square) in moments.items():
            weight = named[name]
            step = torch.tensor(float(state["batch"]), device=self.device)
            parts = {
                "step": step,
                "exp_avg": _laid_out(mean, weight),
                "exp_avg_sq": _laid_out(square, weight),
            }
            self.optimiser.state[weight] = parts
        self.batch, self.samples = int(state["batch"]), int(state["samples"])
        self.seconds = float(state["seconds"])
        return True

    def save(self, folder: Path) -> int:
        moments = {
            name: (kept["exp_avg"], kept["exp_avg_sq"])
            for name, parameter in self.network.named_parameters()
            if (kept := self.optimiser.state.get(parameter))
        }
        reached = {"batch": self.batch, "samples": self.samples, "seconds": self.seconds}
        sizes = json.dumps(self.network.sizes.as_dict())
        held = self.network.state_dict().items()
        weights = {name: value for name, value in held if not _counts(name)}
        return checkpoint.save(
            folder, weights, moments, {**reached, "seed": self.options.seed, "sizes": sizes}
        )

    @property
    def done(self) -> float:
        """The share of the whole training, by samples where their number was given and by time otherwise."""
        if self.options.samples:
            return min(1.0, self.samples / int(self.options.samples))
        return min(1.0, self.seconds / (60 * float(self.options.total_minutes)))

    def rate(self) -> float:
        """Up in a straight line, then down along half a cosine to a hundredth."""
        highest, done = float(self.options.rate), self.done
        if done < self.warm_up:
            return highest * max(0.01, done / self.warm_up)
        falling = 0.5 * (1 + math.cos(math.pi * (done - self.warm_up) / (1 - self.warm_up)))
        return highest * (0.01 + 0.99 * falling)

    def autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def moved(self, pictures: torch.Tensor) -> torch.Tensor:
        return pictures.to(self.device, non_blocking=True)[:, None].float() / 255

    def step(self, loss: torch.Tensor, samples: int) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.max_gradient)
        self.optimiser.step()
        self.batch += 1
        self.samples += samples

    def _parameter_groups(self) -> list[dict[str, Any]]:
        """Matrices decay, the rest does not."""
        parameters = list(self.network.parameters())
        return [
            {"params": [one for one in parameters if one.ndim > 1], "weight_decay": self.weight_decay},
            {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
        ]


def _laid_out(moment: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """On the weight's device and in its order of memory: the fused optimiser takes no other."""
    return torch.empty_like(weight, requires_grad=False).copy_(moment)


def _counts(name: str) -> bool:
    """Whether it is a normalisation's count of batches, a whole number that nothing needs."""
    return name.endswith("num_batches_tracked")


def batches_from(data: Dataset[Any], start: int, workers: int) -> Iterator[Any]:
    """Batches from number `start` on, drawn ahead by `workers` processes."""
    loader: DataLoader[Any] = DataLoader(
        data,
        batch_size=None,
        sampler=range(start, len(data)),  # type: ignore[arg-type]
        num_workers=workers,
        prefetch_factor=4 if workers else None,
        multiprocessing_context="fork" if workers else None,  # what the data holds is shared, not copied
        pin_memory=torch.cuda.is_available(),
    )
    return iter(loader)

"""Trains the formula recogniser in slices of minutes.

    python train.py --shards shards/train.shard --test shards/test.shard --checkpoint build/formula \\
        --minutes 9 --samples 6000000

A slice that finds a checkpoint goes on from it: weights, optimiser, schedule and place in the data. The
last line is JSON with what was reached.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import checkpoint
import numpy as np
import torch
from data import Batch, Batches, Recipe
from model import TINY, FormulaNetwork, Sizes, loss_of
from normal_form import for_scoring
from raster import Shard
from scores import edit_distance
from torch.utils.data import DataLoader
from vocabulary import END_ID, START_ID, decode

WARM_UP = 0.02  # of all samples
WEIGHT_DECAY = 0.05
MAX_GRADIENT = 1.0
SAY_EVERY_S = 15
SAVING_S = 15  # kept free at a slice's end
MANY_BATCHES = 10_000_000


class Trainer:
    """The network in training and everything a checkpoint holds."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(options.seed)
        if self.device.type == "cpu":
            torch.set_num_threads(
                1
            )  # a machine that is also busy with other things; threads would wait for each other
        self.network = FormulaNetwork(TINY if options.tiny else Sizes()).to(self.device)
        self.optimiser = torch.optim.AdamW(
            _parameter_groups(self.network),
            lr=options.rate,
            betas=(0.9, 0.98),
            fused=self.device.type == "cuda",
        )
        self.batch = self.samples = 0
        self.seconds = 0.0  # spent on steps, over all slices

    def resume(self, folder: Path) -> bool:
        found = checkpoint.load(folder)
        if found is None:
            return False
        weights, moments, state = found
        self.network.load_state_dict(weights)
        named = dict(self.network.named_parameters())
        for name, (mean, square) in moments.items():
            step = torch.tensor(
                float(state["steps"]), device=self.device if self.device.type == "cuda" else "cpu"
            )
            self.optimiser.state[named[name]] = {
                "step": step,
                "exp_avg": mean.to(self.device),
                "exp_avg_sq": square.to(self.device),
            }
        self.batch, self.samples = int(state["batch"]), int(state["samples"])
        self.seconds = float(state["seconds"])
        return True

    def save(self, folder: Path) -> int:
        moments = {
            name: (kept["exp_avg"], kept["exp_avg_sq"])
            for name, parameter in self.network.named_parameters()
            if (kept := self.optimiser.state.get(parameter))
        }
        state = {
            "batch": self.batch,
            "steps": self.batch,
            "samples": self.samples,
            "seconds": self.seconds,
            "seed": self.options.seed,
            "planned": self.options.samples,
            "sizes": json.dumps(self.network.sizes.as_dict()),
        }
        return checkpoint.save(folder, self.network.state_dict(), moments, state)

    @property
    def done(self) -> float:
        """The share of the whole training, by time where that was given and by samples otherwise."""
        if self.options.total_minutes:
            return min(1.0, self.seconds / (60 * float(self.options.total_minutes)))
        return min(1.0, self.samples / int(self.options.samples))

    def rate(self) -> float:
        """Up in a straight line, then down along half a cosine to a hundredth."""
        done = self.done
        if done < WARM_UP:
            return float(self.options.rate) * max(0.01, done / WARM_UP)
        falling = 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP)))
        return float(self.options.rate) * (0.01 + 0.99 * falling)

    def learn(self, batch: Batch) -> torch.Tensor:
        """One step; returns the parts of the loss (of writing, seeing, looking) without waiting for them."""
        self.network.train()
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        tokens, cells, drawn = (part.to(self.device, non_blocking=True) for part in batch[1:])
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            said = self.network(self.moved(batch.pictures), tokens[:, :-1], cells[:, 1:])
        parts = loss_of(said, tokens[:, 1:], cells[:, 1:], drawn[:, 1:], self.options.smoothing)
        self.optimiser.zero_grad(set_to_none=True)
        torch.stack(list(parts.values())).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRADIENT)
        self.optimiser.step()
        self.batch += 1
        self.samples += len(batch.pictures)
        return torch.stack(list(parts.values())).detach()

    def moved(self, pictures: torch.Tensor) -> torch.Tensor:
        return pictures.to(self.device, non_blocking=True)[:, None].float() / 255

    def check(self, held_out: list[Batch]) -> dict[str, float]:
        """Reads the held-out pictures; returns exact matches and the mean edit distance, both as shares."""
        self.network.eval()
        exact, distances = [], []
        for pictures, tokens, _, _ in held_out:
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                read = self.network.read(
                    self.moved(pictures), START_ID, END_ID, max_steps=min(300, tokens.shape[1] + 20)
                )
            for said, truth in zip(read, tokens.tolist(), strict=True):
                ours, wanted = for_scoring(decode(said)), for_scoring(decode(truth[1:]))
                exact.append(ours == wanted)
                distances.append(edit_distance(ours, wanted))
        return {
            "exact": round(float(np.mean(exact)), 4),
            "edit": round(float(np.mean(distances)), 4),
            "of": len(exact),
        }


def _parameter_groups(network: torch.nn.Module) -> list[dict[str, Any]]:
    """Matrices decay, the rest does not."""
    parameters = list(network.parameters())
    return [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]


def batches_from(shards: list[Shard], start: int, options: argparse.Namespace) -> Iterator[Batch]:
    recipe = Recipe(area=options.area) if not options.clean else clean(options.area)
    recipe = replace(recipe, growth=options.growth)
    data = Batches(shards, MANY_BATCHES, options.seed, recipe)
    workers = options.workers
    loader: DataLoader[Batch] = DataLoader(
        data,
        batch_size=None,
        sampler=range(start, MANY_BATCHES),
        num_workers=workers,
        prefetch_factor=4 if workers else None,
        multiprocessing_context="fork" if workers else None,  # the shards are shared, not copied
        pin_memory=torch.cuda.is_available(),
    )
    return iter(loader)


def clean(area: int) -> Recipe:
    """Formulas as they are, for a quick proof that the network learns."""
    return Recipe(area=area, other_letters=0, other_fonts=0, beside=0, below=0, neighbours=0, spoil=False)


def train(trainer: Trainer, shards: list[Shard], held_out: list[Batch], began: float) -> dict[str, Any]:
    options = trainer.options
    until = began + options.minutes * 60 - SAVING_S
    losses: list[torch.Tensor] = []
    said, start, waited = time.monotonic(), trainer.samples, 0.0
    first, checked, score = time.monotonic(), time.monotonic(), {}
    data = batches_from(shards, trainer.batch, options)
    while time.monotonic() < until and trainer.done < 1:
        asked = time.monotonic()
        batch = next(data)
        waited += time.monotonic() - asked
        losses.append(trainer.learn(batch))
        now = time.monotonic()
        trainer.seconds += now - asked
        if now - said > SAY_EVERY_S:
            written, seen, looked = torch.stack(losses).mean(dim=0).tolist()
            pace = (trainer.samples - start) / (now - said)
            parts = f"written {written:.3f} seen {seen:.3f} looked {looked:.3f}"
            line = f"{trainer.samples:>9} samples  {parts}  {pace:.0f} a second"
            print(f"{line}  rate {trainer.rate():.2e}  waiting {waited / (now - said):.0%}", flush=True)
            losses, said, start, waited = [], now, trainer.samples, 0.0
        if now - checked > options.check_every:
            print(json.dumps({"samples": trainer.samples, **trainer.check(held_out)}), flush=True)
            trainer.save(options.checkpoint)
            checked = said = time.monotonic()
            start = trainer.samples
    score = trainer.check(held_out)
    return {
        **score,
        "samples": trainer.samples,
        "batches": trainer.batch,
        "seconds": round(time.monotonic() - first),
    }


def main() -> None:
    began = time.monotonic()
    options = arguments()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for each length: four times as slow here
    shards = [Shard(file) for file in options.shards]
    print(
        f"{sum(len(shard) for shard in shards)} formulas, fonts beside their own: {shards[0].other_fonts}",
        flush=True,
    )
    trainer = Trainer(options)
    resumed = trainer.resume(options.checkpoint)
    word = "resumed" if resumed else "new"
    print(f"{word} at {trainer.samples} samples after {time.monotonic() - began:.0f} s", flush=True)
    recipe = (
        clean(options.check_area)
        if options.clean
        else Recipe(area=options.check_area, beside=0, below=0, other_letters=0)
    )
    tests = Batches([Shard(options.test)], options.check_batches, 77, recipe)
    held_out = [tests[number] for number in range(options.check_batches)]
    report = train(trainer, shards, held_out, began)
    size = trainer.save(options.checkpoint)
    print(json.dumps({**report, "checkpoint_bytes": size, "finished": trainer.done >= 1}))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shards", type=Path, nargs="+", required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument(
        "--checkpoint", type=Path, required=True, help="folder to resume from and to save into"
    )
    parser.add_argument(
        "--minutes", type=float, default=9.0, help="of this slice, loading and saving included"
    )
    parser.add_argument(
        "--samples", type=int, default=6_000_000, help="of the whole training, over all slices"
    )
    parser.add_argument(
        "--total-minutes",
        type=float,
        default=0.0,
        help="of steps over all slices; then --samples plays no part",
    )
    parser.add_argument("--rate", type=float, default=1e-3, help="the highest learning rate")
    parser.add_argument(
        "--growth",
        type=int,
        default=3000,
        help="batches until formulas of all lengths come; at first 8 tokens",
    )
    parser.add_argument("--smoothing", type=float, default=0.05)
    parser.add_argument("--area", type=int, default=6_300_000, help="pixels of a batch")
    parser.add_argument("--workers", type=int, default=15)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--check-every", type=float, default=120.0, help="seconds")
    parser.add_argument("--check-area", type=int, default=3_000_000)
    parser.add_argument("--check-batches", type=int, default=6)
    parser.add_argument("--tiny", action="store_true", help="a network of 0.35 M weights, to try things out")
    parser.add_argument(
        "--clean", action="store_true", help="nothing varied: a proof that the network learns"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()

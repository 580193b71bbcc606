"""Trains the formula recogniser in slices of minutes.

    export PYTHONPATH=../../src:../training
    python train.py --shards shards/train.shard --test shards/test.shard --checkpoint build/formula \\
        --minutes 9 --total-minutes 18

A slice that finds a checkpoint goes on from it: weights, optimiser, schedule and place in the data. The
last line is JSON with what was reached.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from data import Batch, Batches, Recipe
from model import TINY, FormulaNetwork, Sizes, loss_of
from normal_form import for_scoring
from raster import Shard
from scores import edit_distance
from slices import SlicedTraining, batches_from
from vocabulary import END_ID, START_ID, decode

SAY_EVERY_S = 15
SAVING_S = 15  # kept free at a slice's end
MANY_BATCHES = 10_000_000


class Trainer(SlicedTraining):
    """The formula recogniser in training."""

    warm_up, weight_decay, max_gradient = 0.02, 0.05, 1.0

    def __init__(self, options: argparse.Namespace) -> None:
        torch.manual_seed(options.seed)
        super().__init__(options, FormulaNetwork(TINY if options.tiny else Sizes()))

    def learn(self, batch: Batch) -> torch.Tensor:
        """One step; returns the parts of the loss (of writing, seeing, looking) without waiting for them."""
        self.network.train()
        tokens, cells, drawn = (part.to(self.device, non_blocking=True) for part in batch[1:])
        with self.autocast():
            said = self.network(self.moved(batch.pictures), tokens[:, :-1], cells[:, 1:])
        parts = loss_of(said, tokens[:, 1:], cells[:, 1:], drawn[:, 1:], self.options.smoothing)
        losses = torch.stack(list(parts.values()))
        self.step(losses.sum(), len(batch.pictures))
        return losses.detach()

    def check(self, held_out: list[Batch]) -> dict[str, float]:
        """Reads the held-out pictures; returns exact matches and the mean edit distance, both as shares."""
        self.network.eval()
        exact, distances = [], []
        for pictures, tokens, _, _ in held_out:
            with self.autocast():
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


def clean(area: int) -> Recipe:
    """Formulas as they are, for a quick proof that the network learns."""
    return Recipe(area=area, other_letters=0, other_fonts=0, beside=0, below=0, neighbours=0, spoil=False)


def train(trainer: Trainer, shards: list[Shard], held_out: list[Batch], began: float) -> dict[str, Any]:
    options = trainer.options
    until = began + options.minutes * 60 - SAVING_S
    losses: list[torch.Tensor] = []
    said, start, waited = time.monotonic(), trainer.samples, 0.0
    first, checked, score = time.monotonic(), time.monotonic(), {}
    recipe = clean(options.area) if options.clean else Recipe(area=options.area)
    drawn = Batches(shards, MANY_BATCHES, options.seed, replace(recipe, growth=options.growth))
    data = batches_from(drawn, trainer.batch, options.workers)
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
    parser.add_argument("--total-minutes", type=float, default=18.0, help="of steps over all slices")
    samples = "pictures of the whole training; then --total-minutes plays no part"
    parser.add_argument("--samples", type=int, default=0, help=samples)
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

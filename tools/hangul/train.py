"""Trains the reader of Korean lines in slices of minutes.

    export PYTHONPATH=../../src:../training
    python train.py --data build/hangul --checkpoint build/hangul/checkpoint --minutes 9 --total-minutes 27

A slice that finds a checkpoint goes on from it: weights, optimiser, schedule and place in the data. It prints
a table of the held-out fonts last, and a line of JSON with what was reached.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from data import WIDTHS, LineBatch, LineBatches, LineRecipe
from drawing import Face, faces
from lines import Texts
from model import TINY, LineReaderNetwork, LineSizes, best_paths, loss_error, loss_of
from scores import edit_distance
from signs import classes_of
from slices import SlicedTraining, batches_from
from torch.utils.data import Dataset
from vary import varied

SEEN = (1.0, 0.1)  # what the places of characters count beside reading: at first, and in the end
SAY_EVERY_S = 15
SAVING_S = 20  # kept free at a slice's end, for the last check and the checkpoint
TEST_SEED = 900_001
KEPT = 128  # batches that are learnt from again, in any order


class LineTrainer(SlicedTraining):
    """The reader of lines in training."""

    warm_up, weight_decay, max_gradient = 0.03, 0.03, 2.0
    space = classes_of(" ")[0]

    def __init__(self, options: argparse.Namespace) -> None:
        torch.manual_seed(options.seed)
        network = self.built(options)
        super().__init__(options, network.to(memory_format=torch.channels_last))  # type: ignore[call-overload]

    def built(self, options: argparse.Namespace) -> torch.nn.Module:
        return LineReaderNetwork(TINY if options.tiny else LineSizes())

    def loss(self, said: Any, *batch: torch.Tensor) -> dict[str, torch.Tensor]:
        return loss_of(said, *batch)  # type: ignore[arg-type]

    def paths(self, said: Any) -> list[list[int]]:
        return best_paths(said)

    def learn(self, batch: LineBatch, again: bool = False) -> torch.Tensor:
        """One step; returns the parts of the loss (of reading and seeing) without waiting for them.

        `again`: the batch was seen before, so its pictures are changed a little.
        """
        self.network.train()
        moved = [part.to(self.device, non_blocking=True) for part in batch[1:]]
        pictures = self.moved(batch.pictures)
        with self.autocast():
            said = self.network(varied(pictures) if again else pictures)
        parts = self.loss(said, *moved)
        weight = SEEN[0] + (SEEN[1] - SEEN[0]) * min(1.0, self.done * 4)
        self.step(parts["read"] + weight * parts["seen"], len(batch.pictures))
        return torch.stack(list(parts.values())).detach()

    def check(self, held_out: dict[str, list[LineBatch]]) -> dict[str, dict[str, float]]:
        """Reads the held-out fonts; returns each one's lines, error rates and lines without a fault."""
        self.network.eval()
        pairs = {
            family: [pair for batch in batches for pair in self._read(batch)]
            for family, batches in held_out.items()
        }
        everything = [pair for own in pairs.values() for pair in own]
        return {family: scores_of(own, self.space) for family, own in (*pairs.items(), ("all", everything))}

    @torch.no_grad()
    def _read(self, batch: LineBatch) -> list[tuple[list[int], list[int]]]:
        with self.autocast():
            said = self.network(self.moved(batch.pictures))
        return list(zip(self.paths(said), batch.texts(), strict=True))


def scores_of(pairs: list[tuple[list[int], list[int]]], space: int) -> dict[str, float]:
    """Of what was read and what is true: character error rates and lines without a fault."""
    wrong = sum(_edits(read, true) for read, true in pairs)
    bare = [tuple([name for name in label if name != space] for label in pair) for pair in pairs]
    return {
        "lines": len(pairs),
        "cer": round(wrong / max(1, sum(len(true) for _, true in pairs)), 4),
        "cer_bare": round(
            sum(_edits(*pair) for pair in bare) / max(1, sum(len(true) for _, true in bare)), 4
        ),
        "exact": round(sum(read == true for read, true in pairs) / max(1, len(pairs)), 4),
    }


def _edits(read: list[int], true: list[int]) -> float:
    return 0.0 if read == true else edit_distance(read, true) * max(len(read), len(true))


def train(
    trainer: LineTrainer, data: Dataset[LineBatch], held_out: dict[str, list[LineBatch]], began: float
) -> None:
    options = trainer.options
    until = began + options.minutes * 60 - SAVING_S
    losses: list[torch.Tensor] = []
    start, waited, said = trainer.samples, 0.0, time.monotonic()
    checked = said
    drawn = batches_from(data, trainer.batch, options.workers)
    kept: list[LineBatch] = []
    while time.monotonic() < until and trainer.done < 1:
        asked = time.monotonic()
        batch = next(drawn)
        waited += time.monotonic() - asked
        losses.append(trainer.learn(batch))
        kept = [*kept[-KEPT:], batch]
        for _ in range(options.again):  # drawing is slower than learning
            trainer.learn(random.choice(kept), again=True)
        now = time.monotonic()
        trainer.seconds += now - asked
        if now - said > SAY_EVERY_S:
            read, seen = torch.stack(losses).mean(dim=0).tolist()
            pace = (trainer.samples - start) / (now - said)
            line = f"{trainer.samples:>9} lines  read {read:.3f} seen {seen:.3f}  {pace:.0f} a second"
            print(f"{line}  rate {trainer.rate():.2e}  waiting {waited / (now - said):.0%}", flush=True)
            losses, said, start, waited = [], now, trainer.samples, 0.0
        if now - checked > options.check_every:
            print(json.dumps({"samples": trainer.samples, **trainer.check(held_out)["all"]}), flush=True)
            trainer.save(options.checkpoint)
            checked = said = time.monotonic()
            start = trainer.samples


def held_out_lines(options: argparse.Namespace, found: list[Face]) -> dict[str, list[LineBatch]]:
    """Lines of each held-out family, in sentences that are held out too."""
    texts = Texts(options.data / "texts.json.xz", held_out=True)
    area = options.check_lines * 32 * 480 // 4
    recipe = LineRecipe(area, options.widths, not options.clean, options.few)
    families = dict.fromkeys(face.family for face in found if face.test)
    held_out = {}
    for family in families:
        data = LineBatches(texts, [face for face in found if face.family == family], [], TEST_SEED, recipe)
        held_out[family] = [data[number] for number in range(4)]
    return held_out


def main() -> None:
    began = time.monotonic()
    options = arguments()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True  # a few widths come again and again
    found = faces(options.data, options.unpacked)
    trainer = LineTrainer(options)
    if trainer.device.type == "cuda":  # minutes are dear: a wrong gradient must not be found in the end
        error = loss_error(trainer.device)
        assert error < 1e-2, f"The gradient of the loss is off by {error}."
    word = "resumed" if trainer.resume(options.checkpoint) else "new"
    held_out = held_out_lines(options, found)
    print(f"{word} at {trainer.samples} lines after {time.monotonic() - began:.0f} s", flush=True)
    own = [face for face in found if not face.test and not face.latin][: options.faces or None]
    latin = [face for face in found if face.latin] if not options.clean else []
    recipe = LineRecipe(options.area, options.widths, not options.clean, options.few)
    data = LineBatches(Texts(options.data / "texts.json.xz"), own, latin, options.seed, recipe)
    train(trainer, data, held_out, began)
    finish(trainer, held_out)


def finish(trainer: LineTrainer, held_out: dict[str, list[LineBatch]]) -> None:
    """Saves what was learnt, and prints what it reads."""
    size = trainer.save(trainer.options.checkpoint)
    report = trainer.check(held_out)
    print(f"{'family':<20} lines    CER  without spaces  exact")
    for family, told in report.items():
        rates = f"{told['cer']:.4f}  {told['cer_bare']:>14.4f} {told['exact']:.4f}"
        print(f"{family:<20} {told['lines']:>5} {rates}")
    told = {"samples": trainer.samples, "batches": trainer.batch, "seconds": round(trainer.seconds)}
    print(json.dumps({**report["all"], **told, "checkpoint_bytes": size, "finished": trainer.done >= 1}))


def arguments() -> argparse.Namespace:
    parser = parser_of(__doc__.split("\n")[0])
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS, help="of pictures, at 32 rows")
    parser.add_argument("--few", type=int, default=0, help="only the so many commonest syllables")
    unpacked = Path(tempfile.gettempdir()) / "hangul-fonts"
    parser.add_argument("--unpacked", type=Path, default=unpacked, help="where fonts are unpacked")
    return parser.parse_args()


def parser_of(description: str) -> argparse.ArgumentParser:
    """The options of every training of lines."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="the folder that prepare.py made")
    parser.add_argument(
        "--checkpoint", type=Path, required=True, help="folder to resume from and to save into"
    )
    parser.add_argument(
        "--minutes", type=float, default=9.0, help="of this slice, loading and saving included"
    )
    parser.add_argument("--total-minutes", type=float, default=27.0, help="of steps over all slices")
    samples = "lines of the whole training; then --total-minutes plays no part"
    parser.add_argument("--samples", type=int, default=0, help=samples)
    parser.add_argument("--rate", type=float, default=1.5e-3, help="the highest learning rate")
    parser.add_argument("--area", type=int, default=6_000_000, help="pixels of a batch")
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--again", type=int, default=3, help="times a drawn batch is learnt from again")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--check-every", type=float, default=150.0, help="seconds")
    parser.add_argument("--check-lines", type=int, default=200, help="of each held-out family, about")
    parser.add_argument("--tiny", action="store_true", help="a network of 0.4 M weights, to try things out")
    parser.add_argument(
        "--clean", action="store_true", help="nothing spoiled: a proof that the network learns"
    )
    parser.add_argument("--faces", type=int, default=0, help="only the so many first fonts")
    return parser


if __name__ == "__main__":
    main()

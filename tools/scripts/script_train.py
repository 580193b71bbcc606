"""Trains the reader of other scripts in slices of minutes.

    export PYTHONPATH=../../src:../training:../hangul
    python script_train.py --data build/scripts --checkpoint build/scripts-checkpoint --minutes 9

Slices go on from each other, as those of the reader of Korean lines do.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from data import LineBatch, LineRecipe
from script_data import SCRIPT_WIDTHS, ScriptBatches
from script_drawing import script_faces
from script_lines import ScriptTexts
from script_model import SCRIPT_SIZES, TINY_SCRIPT, ScriptReaderNetwork, script_loss, script_paths
from script_signs import classes_of
from shaping import TAGS, ScriptFace
from train import TEST_SEED, LineTrainer, finish, parser_of, train

from penstock.engines.ocr.hangul_picture import SCRIPTS_HEIGHT


class ScriptTrainer(LineTrainer):
    """The reader of other scripts in training."""

    space = classes_of(" ")[0]

    def built(self, options: argparse.Namespace) -> torch.nn.Module:
        return ScriptReaderNetwork(TINY_SCRIPT if options.tiny else SCRIPT_SIZES)

    def loss(self, said: Any, *batch: torch.Tensor) -> dict[str, torch.Tensor]:
        return script_loss(said, *batch)

    def paths(self, said: Any) -> list[list[int]]:
        return script_paths(said)


def held_out_lines(options: argparse.Namespace, found: list[ScriptFace]) -> dict[str, list[LineBatch]]:
    """Lines of each held-out family and script, in sentences that are held out too."""
    texts = ScriptTexts(options.data / "texts.json.xz", held_out=True)
    recipe = LineRecipe(options.check_lines * SCRIPTS_HEIGHT * 600 // 4, options.widths, not options.clean)
    held_out = {}
    for script, family in dict.fromkeys((face.script, face.family) for face in found if face.test):
        own = [face for face in found if (face.script, face.family) == (script, family)]
        data = ScriptBatches(texts, own, TEST_SEED, recipe)
        held_out[f"{script} {family}"] = [data[number] for number in range(4)]
    return held_out


def main() -> None:
    began = time.monotonic()
    options = arguments()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True  # a few widths come again and again
    found = [face for face in script_faces(options.data, options.unpacked) if face.script in options.scripts]
    trainer = ScriptTrainer(options)
    word = "resumed" if trainer.resume(options.checkpoint) else "new"
    held_out = held_out_lines(options, found)
    print(f"{word} at {trainer.samples} lines after {time.monotonic() - began:.0f} s", flush=True)
    own = [face for face in found if not face.test][: options.faces or None]
    recipe = LineRecipe(options.area, options.widths, not options.clean)
    data = ScriptBatches(ScriptTexts(options.data / "texts.json.xz"), own, options.seed, recipe)
    train(trainer, data, held_out, began)
    finish(trainer, held_out)


def arguments() -> argparse.Namespace:
    parser = parser_of(__doc__.split("\n")[0])
    parser.add_argument(
        "--widths", type=int, nargs="+", default=SCRIPT_WIDTHS, help="of pictures, at 40 rows"
    )
    parser.add_argument("--scripts", nargs="+", default=list(TAGS), help="only these")
    unpacked = Path(tempfile.gettempdir()) / "script-fonts"
    parser.add_argument("--unpacked", type=Path, default=unpacked, help="where fonts are unpacked")
    return parser.parse_args()


if __name__ == "__main__":
    main()

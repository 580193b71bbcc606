"""The reader of other scripts: the same network as that of Korean lines, with one choice of signs a step."""

from __future__ import annotations

import torch.nn.functional as F
from model import LineSizes, LineSteps, collapsed, loss_of_chances, picked
from script_signs import NUM_CLASSES
from torch import Tensor, nn

from penstock.engines.ocr.hangul_picture import SCRIPTS_HEIGHT

SCRIPT_SIZES = LineSizes(height=SCRIPTS_HEIGHT)
TINY_SCRIPT = LineSizes(height=SCRIPTS_HEIGHT, widths=(12, 24, 48, 96), blocks=(1, 1, 1), mixing=1)


class ScriptReaderNetwork(LineSteps):
    """Pictures to logarithms of chances: pictures x steps x classes."""

    def __init__(self, sizes: LineSizes = SCRIPT_SIZES) -> None:
        super().__init__(sizes)
        self.signs = nn.Linear(sizes.widths[-1], NUM_CLASSES)

    def forward(self, pictures: Tensor) -> Tensor:
        said: Tensor = self.signs(self.steps(pictures)).float()
        return F.log_softmax(said, dim=-1)


def script_loss(
    said: Tensor, classes: Tensor, wanted: Tensor, lengths: Tensor, places: Tensor
) -> dict[str, Tensor]:
    """The parts of the loss, as `loss_of` of the reader of Korean lines has them."""
    return loss_of_chances(picked(said, classes), wanted, lengths, places)


def script_paths(said: Tensor) -> list[list[int]]:
    """The classes that each picture shows."""
    return collapsed(said.argmax(-1))

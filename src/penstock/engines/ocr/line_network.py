"""Reads pictures of one level line each with one of PP-OCRv6's recognisers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from penstock.engines.ocr import recognise
from penstock.engines.ocr.effort import WHOLE_FINDER
from penstock.engines.ocr.recognise import LineReading
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network
from penstock.engines.weights.onnx_denormals import flushed

if TYPE_CHECKING:
    from penstock.box import Pixels

# recognisers whose file does not name its characters, and the list that does
CHARACTERS = {"ppocrv6-rec-tiny": "ppocrv6-tiny-characters"}
# networks that come with the package; tools/quantise_detector.py makes this one
IN_PACKAGE = {WHOLE_FINDER: Path(__file__).parent / "network" / "det_small_int8.onnx"}


class LineNetwork:
    """One recogniser and the characters it knows. May be shared by threads."""

    def __init__(self, name: str, threads: int = 1) -> None:
        self._network = open_network(name, threads)
        # what each output stands for: blank, the characters, space
        self._charset = np.array(["", *_characters(name, self._network), " "])

    @property
    def name(self) -> str:
        return self._network.name

    def read(self, cuts: Sequence[Pixels]) -> list[LineReading]:
        """What the pictures say, in their order."""
        parts = [recognise.pieces(recognise.at_height(cut)) for cut in cuts]
        flat = [piece for pieces in parts for piece in pieces]
        read: dict[int, LineReading] = {}
        for batch in recognise.batches([piece.shape[1] for piece in flat]):
            lines = [flat[index] for index in batch]
            chances = self._network(recognise.stacked(lines))[0]
            read.update(zip(batch, recognise.decoded(chances, self._charset, lines), strict=True))
        in_order = iter([read[index] for index in range(len(flat))])
        return [recognise.joined([next(in_order) for _ in pieces]) for pieces in parts]

    def close(self) -> None:
        self._network.close()


def open_network(name: str, threads: int) -> Network:
    path = IN_PACKAGE.get(name) or weights.path(name)
    network = Network(bytes(flushed(path.read_bytes())), threads)
    network.name = name
    return network


def _characters(name: str, network: Network) -> list[str]:
    listed = CHARACTERS.get(name)
    if listed is None:
        return network.metadata["character"].split("\n")
    return weights.path(listed).read_text("utf-8").rstrip("\n").split("\n")

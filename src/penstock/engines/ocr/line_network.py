"""Reads pictures of one level line each with one of PP-OCRv6's recognisers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from penstock.engines.ocr import recognise
from penstock.engines.ocr.effort import SMALL_FINDER, WHOLE_FINDER
from penstock.engines.ocr.recognise import LineReading
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network, PackedGraph

if TYPE_CHECKING:
    from penstock.box import Pixels

# recognisers whose file does not name its characters, and the list that does
CHARACTERS = {"ppocrv6-rec-tiny": "ppocrv6-tiny-characters"}
# networks that come with the package; tools/quantise_detector.py makes this one
NETWORKS = Path(__file__).parent / "network"
IN_PACKAGE = {WHOLE_FINDER: NETWORKS / "det_small_int8.onnx"}
# graphs for published weights; without its denormal weights the detector runs three times as fast
GRAPHS = {SMALL_FINDER: NETWORKS / "det_small.bin"}


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
        """What the pictures say, in their order.

        One by one: in a batch a line is padded to the widest, which takes longer on a CPU and makes what is
        read depend on its neighbours. On 12 receipts lines alone take 0.86 of the time, and words are found
        0.4 % more often.
        """
        return [recognise.joined(self._read(recognise.at_height(cut))) for cut in cuts]

    def _read(self, line: Pixels) -> list[LineReading]:
        return [
            recognise.decoded(self._network(recognise.as_input(piece))[0][0], self._charset, piece)
            for piece in recognise.pieces(line)
        ]

    def close(self) -> None:
        self._network.close()


def open_network(name: str, threads: int) -> Network:
    path, graph = IN_PACKAGE.get(name) or weights.path(name), GRAPHS.get(name)
    return Network(PackedGraph(graph, path) if graph else path, threads, name=name)


def _characters(name: str, network: Network) -> list[str]:
    listed = CHARACTERS.get(name)
    if listed is None:
        return network.metadata["character"].split("\n")
    return weights.path(listed).read_text("utf-8").rstrip("\n").split("\n")

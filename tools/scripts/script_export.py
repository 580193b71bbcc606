"""Writes a checkpoint as the file that our package reads: one ONNX graph, products int8, convolutions fp16.

    export PYTHONPATH=../../src:../training:../hangul
    python script_export.py --checkpoint build/scripts-checkpoint --out weights/scripts.onnx

Needs torch, onnx and onnxruntime. The last line is JSON with the size.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from export import MAX_BYTES, Graph, network_of, write
from script_model import ScriptReaderNetwork
from script_signs import SCRIPTS, SIGNS
from torch import Tensor, nn


class SignChances(nn.Module):
    """Pictures to chances."""

    def __init__(self, network: ScriptReaderNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, picture: Tensor) -> Tensor:
        chances: Tensor = self.network(picture).exp()
        return chances


def script_export(network: ScriptReaderNetwork, out: Path, small: bool = True) -> int:
    """Writes the file; returns its size. `small` makes products int8 and keeps convolutions in 16 bits."""
    told = {"signs": "".join(SIGNS), "licence": "Apache-2.0", "scripts": " ".join(SCRIPTS)}
    return write(Graph(SignChances(network), network.sizes.height, ("signs",)), told, out, small)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkpoint", type=Path, required=True, help="a folder")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--plain", action="store_true", help="leave all in float32, to see what int8 costs")
    options = parser.parse_args()
    network = network_of(options.checkpoint, ScriptReaderNetwork)
    size = script_export(network, options.out, small=not options.plain)
    assert options.plain or size <= MAX_BYTES, f"{size} bytes are more than {MAX_BYTES}"
    print(json.dumps({"bytes": size}))


if __name__ == "__main__":
    main()

"""Writes a checkpoint as the file that our package reads: one ONNX graph, products int8, convolutions fp16.

    export PYTHONPATH=../../src:../training
    python export.py --checkpoint build/hangul/checkpoint --out weights/hangul.onnx

Needs torch, onnx and onnxruntime. The last line is JSON with the size.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import checkpoint
import numpy as np
import torch
from model import LineReaderNetwork, LineSizes, LineSteps, Pairs
from signs import SIGNS
from torch import Tensor, nn

OPSET = 17
MAX_BYTES = 6_000_000
SMALL = 256  # weights: what has fewer stays as it is
Kind = TypeVar("Kind", bound=LineSteps)


class Chances(nn.Module):
    """Pictures to chances, the three parts of a pair folded into one layer."""

    def __init__(self, network: LineReaderNetwork) -> None:
        super().__init__()
        if isinstance(network.pairs, Pairs):
            network.pairs = network.pairs.folded()
        self.network = network

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        kinds, pairs, finals = self.network(picture)
        return kinds.exp(), pairs.exp(), finals.exp()


def network_of(folder: Path, kind: type[Kind]) -> Kind:
    """The network of a checkpoint, which is of this kind."""
    found = checkpoint.load(folder)
    if found is None:
        raise SystemExit(f"{folder} holds no checkpoint.")
    weights, _, state = found
    told = json.loads(state["sizes"])
    sizes = LineSizes(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    )
    network = kind(sizes)
    network.load_state_dict(weights, strict=False)
    return network.eval()


def export(network: LineReaderNetwork, out: Path, small: bool = True) -> int:
    """Writes the file; returns its size. `small` makes products int8 and keeps convolutions in 16 bits."""
    graph = Graph(Chances(network), network.sizes.height, ("kinds", "pairs", "finals"))
    return write(graph, {"signs": "".join(SIGNS), "licence": "Apache-2.0"}, out, small)


@dataclass(frozen=True)
class Graph:
    """A network that gives chances, the height of its pictures, and what it gives."""

    network: nn.Module
    height: int
    outputs: tuple[str, ...]


def write(graph: Graph, metadata: dict[str, str], out: Path, small: bool) -> int:
    """Writes any reader of lines, as `export` does."""
    import onnx

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        _write(graph, plain)
        made = onnx.load(_quantised(plain) if small else plain)
    if small:
        _halve(made)
    for name, value in metadata.items():
        made.metadata_props.add(key=name, value=value)
    onnx.save(made, out)
    return out.stat().st_size


def _write(graph: Graph, file: Path) -> None:
    steps = {name: {1: "steps"} for name in graph.outputs}
    torch.onnx.export(
        graph.network.eval(),
        (torch.zeros(1, 1, graph.height, 160),),
        str(file),
        input_names=["picture"],
        output_names=list(graph.outputs),
        dynamic_axes={"picture": {0: "lines", 3: "width"}, **steps},
        opset_version=OPSET,
        dynamo=False,
    )


def _quantised(plain: Path) -> Path:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    small = plain.with_name("small.onnx")
    quantize_dynamic(
        plain, small, op_types_to_quantize=["MatMul", "Gemm"], per_channel=True, weight_type=QuantType.QInt8
    )
    return small


def _halve(made: object) -> None:
    """Keeps large float weights in 16 bits. A cast widens them, once, when the file is opened."""
    from onnx import TensorProto, helper, numpy_helper

    graph = made.graph  # type: ignore[attr-defined]
    casts = []
    for weight in graph.initializer:
        if weight.data_type == TensorProto.FLOAT and np.prod(weight.dims) > SMALL:
            name = weight.name
            half = numpy_helper.to_array(weight).astype(np.float16)
            weight.CopyFrom(numpy_helper.from_array(half, f"{name}.half"))
            casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--checkpoint", type=Path, help="a folder; without one weights that learned nothing are written"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--plain", action="store_true", help="leave all in float32, to see what int8 costs")
    options = parser.parse_args()
    network = network_of(options.checkpoint, LineReaderNetwork) if options.checkpoint else LineReaderNetwork()
    size = export(network, options.out, small=not options.plain)
    assert options.plain or size <= MAX_BYTES, f"{size} bytes are more than {MAX_BYTES}"
    print(json.dumps({"bytes": size}))


if __name__ == "__main__":
    main()

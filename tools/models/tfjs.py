"""Turns a graph of TensorFlow.js into an ONNX model, so that one runtime is enough.

Knows the operators of a convolutional detector and no others; what is not known is a ValueError. Operators
over channels-last pictures get transposes around them, which onnxruntime folds away. Shapes that the graph
computes from constants are computed here.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from protobuf import VARINT, encoded_field, encoded_varint

Node = dict[str, Any]
OPSET, IR_VERSION = 13, 8
FLOAT, INT64 = 1, 7  # ONNX's element types
A_FLOAT, A_INT, A_TEXT, A_INTS = 1, 2, 3, 7  # of attributes
FIRST, LAST = (0, 3, 1, 2), (0, 2, 3, 1)  # channels first, channels last
PLAIN = {"Add": "Add", "AddV2": "Add", "Sigmoid": "Sigmoid", "Identity": "Identity"}


def onnx_of(graph: Path, weights: Path) -> bytes:
    """The model as the bytes of an ONNX file. Raises ValueError for an operator that is not known."""
    told = json.loads(graph.read_bytes())
    return _Model(told, _constants(told["weightsManifest"], weights.read_bytes())).made()


def _constants(manifest: list[Node], data: bytes) -> dict[str, NDArray[Any]]:
    found, at = {}, 0
    for entry in (entry for group in manifest for entry in group["weights"]):
        stored = np.dtype(entry.get("quantization", {}).get("dtype") or entry["dtype"]).newbyteorder("<")
        count = int(np.prod(entry["shape"]))
        values = np.frombuffer(data, stored, count, at).reshape(entry["shape"])
        found[entry["name"]] = values.astype(np.float32 if values.dtype.kind == "f" else np.int64)
        at += count * stored.itemsize
    return found


class _Model:
    """Collects ONNX nodes and initialisers while the graph's nodes are read in their order."""

    def __init__(self, told: Node, constants: dict[str, NDArray[Any]]) -> None:
        self._signature = told["signature"]
        self._graph: list[Node] = told["modelTopology"]["node"]
        self._known = constants
        self._nodes: list[bytes] = []
        self._initialisers: list[bytes] = []
        self._written: set[str] = set()

    def made(self) -> bytes:
        for node in _ordered(self._graph):
            self._add(node)
        inputs = [_value(name.split(":")[0], one) for name, one in self._signature["inputs"].items()]
        outputs = [_value(name.split(":")[0], one) for name, one in self._signature["outputs"].items()]
        parts = [(1, self._nodes), (2, [b"graph"]), (5, self._initialisers), (11, inputs), (12, outputs)]
        graph = b"".join(encoded_field(number, one) for number, many in parts for one in many)
        opset = encoded_field(8, _number(2, OPSET))
        return _number(1, IR_VERSION) + opset + encoded_field(7, graph)

    def _add(self, node: Node) -> None:
        name, op = node["name"], node["op"]
        inputs = [_tensor(text) for text in node.get("input", ()) if not text.startswith("^")]
        if op in ("Const", "Placeholder"):
            return
        if all(one in self._known for one in inputs):
            self._known[name] = _folded(op, [self._known[one] for one in inputs])
            return
        if op in PLAIN:
            self._put(PLAIN[op], inputs, [name])
            return
        make: dict[str, Callable[[Node, str, list[str]], None]] = {
            "Transpose": self._transpose, "Conv2D": self._conv, "Pad": self._pad, "PadV2": self._pad,
            "LeakyRelu": self._leaky, "MaxPool": self._pool, "ConcatV2": self._concat,
            "SplitV": self._split, "ResizeBilinear": self._resize, "Reshape": self._reshape,
        }  # fmt: skip
        if op not in make:
            raise ValueError(f"the operator {op} of {name} is not known")
        make[op](node, name, inputs)

    def _transpose(self, _: Node, name: str, inputs: list[str]) -> None:
        self._put("Transpose", inputs[:1], [name], perm=self._ints(inputs[1]))

    def _leaky(self, node: Node, name: str, inputs: list[str]) -> None:
        self._put("LeakyRelu", inputs, [name], alpha=float(node["attr"]["alpha"]["f"]))

    def _concat(self, _: Node, name: str, inputs: list[str]) -> None:
        self._put("Concat", inputs[:-1], [name], axis=self._ints(inputs[-1])[0])

    def _split(self, _: Node, name: str, inputs: list[str]) -> None:
        sizes = self._ints(inputs[1])
        outputs = [f"{name}:{number}" if number else name for number in range(len(sizes))]
        self._put("Split", [inputs[0], self._new(name, sizes)], outputs, axis=self._ints(inputs[2])[0])

    def _reshape(self, _: Node, name: str, inputs: list[str]) -> None:
        self._put("Reshape", [inputs[0], self._new(name, self._ints(inputs[1]))], [name])

    def _pad(self, _: Node, name: str, inputs: list[str]) -> None:
        pads = self._known[inputs[1]].T.ravel().tolist()  # all beginnings, then all ends
        value = [self._const(inputs[2])] if len(inputs) > 2 else []
        self._put("Pad", [inputs[0], self._new(name, pads), *value], [name])

    def _conv(self, node: Node, name: str, inputs: list[str]) -> None:
        kernel = np.ascontiguousarray(self._known[inputs[1]].transpose(3, 2, 0, 1))
        self._tell(f"{name}/kernel", kernel)
        attributes = {"strides": _middle(node, "strides"), "dilations": _middle(node, "dilations")}
        self._channels_first("Conv", node, name, [inputs[0], f"{name}/kernel"], **attributes)

    def _pool(self, node: Node, name: str, inputs: list[str]) -> None:
        attributes = {"strides": _middle(node, "strides"), "kernel_shape": _middle(node, "ksize")}
        self._channels_first("MaxPool", node, name, inputs, **attributes)

    def _resize(self, node: Node, name: str, inputs: list[str]) -> None:
        if not node["attr"]["half_pixel_centers"]["b"]:
            raise ValueError(f"{name} scales in a way that is not known")
        height, width = self._ints(inputs[1])
        self._put("Transpose", inputs[:1], [f"{name}/first"], perm=FIRST)
        self._put("Shape", [f"{name}/first"], [f"{name}/shape"])
        self._put(
            "Slice",
            [f"{name}/shape", self._new(f"{name}/begin", [0]), self._new(f"{name}/end", [2])],
            [f"{name}/kept"],
        )
        sizes = self._new(f"{name}/sides", [height, width])
        self._put("Concat", [f"{name}/kept", sizes], [f"{name}/sizes"], axis=0)
        scaled = [f"{name}/first", "", "", f"{name}/sizes"]
        self._put(
            "Resize", scaled, [f"{name}/scaled"], mode="linear", coordinate_transformation_mode="half_pixel"
        )
        self._put("Transpose", [f"{name}/scaled"], [name], perm=LAST)

    def _channels_first(
        self, op: str, node: Node, name: str, inputs: list[str], **attributes: Iterable[int]
    ) -> None:
        if _text(node, "padding") != "VALID" or _text(node, "data_format") != "NHWC":
            raise ValueError(f"{name} is padded or laid out in a way that is not known")
        self._put("Transpose", inputs[:1], [f"{name}/first"], perm=FIRST)
        self._put(op, [f"{name}/first", *inputs[1:]], [f"{name}/made"], **attributes)
        self._put("Transpose", [f"{name}/made"], [name], perm=LAST)

    def _put(self, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        names = [(1, self._const(one)) for one in inputs] + [(2, one) for one in outputs] + [(4, op)]
        fields = [encoded_field(number, text.encode()) for number, text in names]
        fields += [encoded_field(5, _attribute(key, value)) for key, value in attributes.items()]
        self._nodes.append(b"".join(fields))

    def _const(self, name: str) -> str:
        """The name; a constant's values are written with it once."""
        if name in self._known and name not in self._written:
            self._tell(name, self._known[name])
        return name

    def _new(self, name: str, values: list[int]) -> str:
        self._tell(f"{name}/given", np.array(values, np.int64))
        return f"{name}/given"

    def _tell(self, name: str, values: NDArray[Any]) -> None:
        self._written.add(name)
        kind = FLOAT if values.dtype.kind == "f" else INT64
        dims = b"".join(_number(1, size) for size in values.shape)
        self._initialisers.append(
            dims + _number(2, kind) + encoded_field(8, name.encode()) + encoded_field(9, values.tobytes())
        )

    def _ints(self, name: str) -> list[int]:
        return [int(value) for value in np.ravel(self._known[name])]


def _ordered(nodes: list[Node]) -> list[Node]:
    """Each node after those it reads."""
    by_name = {node["name"]: node for node in nodes}
    done: dict[str, Node] = {}
    waiting = [(node, False) for node in reversed(nodes)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            done.setdefault(node["name"], node)
        elif node["name"] not in done:
            waiting.append((node, True))
            before = [by_name[_tensor(text).split(":")[0]] for text in node.get("input", ())]
            waiting += [(one, False) for one in before if one["name"] not in done]
    return list(done.values())


def _folded(op: str, values: list[NDArray[Any]]) -> NDArray[Any]:
    """The value of an operator over constants, as shapes are computed."""
    if op in ("Add", "AddV2"):
        return np.asarray(values[0] + values[1])
    if op == "SparseToDense":
        at, shape, given, default = values
        dense = np.full([int(size) for size in np.ravel(shape)], default.ravel()[0])
        dense[tuple(np.atleast_2d(at).reshape(-1, dense.ndim).T)] = given
        return dense
    if op == "Identity":
        return values[0]
    raise ValueError(f"the operator {op} over constants is not known")


def _tensor(text: str) -> str:
    return text.removeprefix("^").removesuffix(":0")


def _text(node: Node, key: str) -> str:
    return base64.b64decode(node["attr"][key]["s"]).decode()


def _middle(node: Node, key: str) -> list[int]:
    """Rows and columns of an attribute that has batch and channels around them."""
    return [int(value) for value in node["attr"][key]["list"]["i"]][1:3]


def _number(number: int, value: int) -> bytes:
    return encoded_varint(number << 3 | VARINT) + encoded_varint(value)


def _attribute(name: str, value: Any) -> bytes:
    head = encoded_field(1, name.encode())
    if isinstance(value, float):
        return head + encoded_varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, A_FLOAT)
    if isinstance(value, str):
        return head + encoded_field(4, value.encode()) + _number(20, A_TEXT)
    if isinstance(value, int):
        return head + _number(3, value) + _number(20, A_INT)
    return head + b"".join(_number(8, one) for one in value) + _number(20, A_INTS)


def _value(name: str, told: Node) -> bytes:
    sizes = b"".join(encoded_field(1, _number(1, int(one["size"]))) for one in told["tensorShape"]["dim"])
    tensor = _number(1, FLOAT) + encoded_field(2, sizes)
    return encoded_field(1, name.encode()) + encoded_field(2, encoded_field(1, tensor))

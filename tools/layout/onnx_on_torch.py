"""Runs an ONNX graph with torch, so that a teacher published as ONNX labels pages without onnxruntime.

What depends on shapes alone is computed once for a batch size and kept. Knows the operations that
PP-DocLayoutV3's export has; others raise KeyError by name. `packed` makes a file of half the size for travel.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

Attributes = dict[str, Any]
DTYPES = {
    1: torch.float32,
    6: torch.int32,
    7: torch.int64,
    9: torch.bool,
    10: torch.float32,
    11: torch.float32,
}


def packed(onnx_file: Path) -> bytes:
    """The graph and its weights in 16 bits, as plain Python and numpy."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(onnx_file)).graph
    weights = {}
    for each in graph.initializer:
        value = numpy_helper.to_array(each)
        weights[each.name] = (
            value.astype(np.float16)
            if value.ndim > 1 and value.size > 64 and value.dtype == np.float32
            else value
        )
    nodes = [
        (node.op_type, list(node.input), list(node.output), _attributes(node, onnx, numpy_helper))
        for node in graph.node
    ]
    return pickle.dumps(
        {
            "nodes": nodes,
            "weights": weights,
            "outputs": [each.name for each in graph.output],
        }
    )


def _attributes(node: Any, onnx: Any, numpy_helper: Any) -> Attributes:
    found = {}
    for each in node.attribute:
        value = onnx.helper.get_attribute_value(each)
        if isinstance(value, onnx.TensorProto):
            value = numpy_helper.to_array(value)
        elif isinstance(value, bytes):
            value = value.decode()
        found[each.name] = value
    return found


class Graph:
    """A packed graph on a device. Call it with tensors by input name; answers the named outputs."""

    def __init__(self, content: dict[str, Any], device: str, outputs: list[str] | None = None) -> None:
        self.device = torch.device(device)
        self.outputs = outputs or content["outputs"]
        self.constants: dict[str, Tensor] = {}
        for name, value in content["weights"].items():
            tensor = torch.from_numpy(np.array(value))
            if tensor.dtype in (torch.float16, torch.float64):
                tensor = tensor.float()
            # whole numbers are shapes and places: they stay where Python reads them without waiting
            self.constants[name] = tensor.to(self.device) if tensor.is_floating_point() else tensor
        self.nodes = _needed(content["nodes"], self.outputs)
        self.last_use = _last_uses(self.nodes, self.outputs)
        self.kept: dict[tuple[int, ...], dict[str, Tensor]] = {}

    @torch.no_grad()
    def __call__(self, **inputs: Tensor) -> list[Tensor]:
        key = tuple(size for tensor in inputs.values() for size in tensor.shape)
        first = key not in self.kept
        static = self.kept.setdefault(key, {})
        fixed = set(self.constants) | set(static)
        values: dict[str, Tensor] = {**self.constants, **static, **inputs}
        for number, (kind, names, outputs, attributes) in enumerate(self.nodes):
            if outputs[0] in static:
                continue
            given = [values[name] if name else None for name in names]
            made = OPERATIONS[kind](given, attributes)
            made = made if isinstance(made, tuple | list) else (made,)
            for name, value in zip(outputs, made, strict=False):
                values[name] = value
            if first and (kind == "Shape" or all(name in fixed or not name for name in names)):
                for name, value in zip(outputs, made, strict=False):
                    static[name] = value
                    fixed.add(name)
            for name in self.last_use[number]:
                if name not in fixed:
                    values.pop(name, None)
        return [values[name] for name in self.outputs]


def _needed(nodes: list[Any], outputs: list[str]) -> list[Any]:
    wanted, kept = set(outputs), []
    for node in reversed(nodes):
        if wanted & set(node[2]):
            kept.append(node)
            wanted |= set(node[1])
    return kept[::-1]


def _last_uses(nodes: list[Any], outputs: list[str]) -> list[list[str]]:
    seen, last = set(outputs), []
    for _, names, _, _ in reversed(nodes):
        last.append([name for name in dict.fromkeys(names) if name and name not in seen])
        seen |= set(names)
    return last[::-1]


def _ints(value: Tensor | None) -> list[int]:
    return [] if value is None else [int(v) for v in value.flatten().tolist()]


def _together(tensors: list[Tensor]) -> list[Tensor]:
    devices = {t.device for t in tensors}
    if len(devices) == 1:
        return tensors
    there = next(d for d in devices if d.type != "cpu")
    return [t.to(there) if t.ndim or t.device == there else t.to(there) for t in tensors]  # noqa: RUF034


def _two(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[list[Any], Attributes], Tensor]:
    return lambda given, _: function(*_together(given))


def _one(function: Callable[[Tensor], Tensor]) -> Callable[[list[Any], Attributes], Tensor]:
    return lambda given, _: function(given[0])


def _reshape(given: list[Any], _: Attributes) -> Tensor:
    tensor, shape = given[0], _ints(given[1])
    return tensor.reshape([tensor.shape[i] if s == 0 else s for i, s in enumerate(shape)])


def _axes(given: list[Any], attributes: Attributes) -> list[int]:
    if len(given) > 1 and given[1] is not None:
        return _ints(given[1])
    return [int(a) for a in attributes.get("axes", [])]


def _unsqueeze(given: list[Any], attributes: Attributes) -> Tensor:
    tensor, axes = given[0], _axes(given, attributes)
    rank = tensor.ndim + len(axes)
    for axis in sorted(a % rank for a in axes):
        tensor = tensor.unsqueeze(axis)
    return tensor


def _squeeze(given: list[Any], attributes: Attributes) -> Tensor:
    tensor, axes = given[0], _axes(given, attributes)
    for axis in sorted((a % tensor.ndim for a in axes), reverse=True):
        tensor = tensor.squeeze(axis)
    return tensor if axes else tensor.squeeze()


def _slice(given: list[Any], _: Attributes) -> Tensor:
    tensor, starts, ends = given[0], _ints(given[1]), _ints(given[2])
    axes = _ints(given[3]) if len(given) > 3 else list(range(len(starts)))
    steps = _ints(given[4]) if len(given) > 4 else [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = tensor.shape[axis]
        if step < 0:
            raise KeyError("Slice backwards")
        places = range(size)[start if start >= -size else 0 : min(end, size) : step]
        index = [slice(None)] * tensor.ndim
        index[axis] = slice(places.start, places.stop, places.step)
        tensor = tensor[tuple(index)]
    return tensor


def _pads(attributes: Attributes) -> list[int]:
    """Top, left, bottom, right."""
    if attributes.get("auto_pad", "NOTSET") == "SAME_UPPER":
        if any(s != 1 for s in attributes.get("strides", (1, 1))):
            raise KeyError("SAME_UPPER with strides")
        spare = [int(k) - 1 for k in attributes["kernel_shape"]]
        return [s // 2 for s in spare] + [s - s // 2 for s in spare]
    return [int(p) for p in attributes.get("pads", [0, 0, 0, 0])]


def _conv(given: list[Any], attributes: Attributes) -> Tensor:
    tensor, weight = given[0], given[1]
    pads = _pads(attributes)
    if pads[:2] != pads[2:]:
        tensor, pads = functional.pad(tensor, (pads[1], pads[3], pads[0], pads[2])), [0, 0]
    return functional.conv2d(
        tensor, weight, given[2] if len(given) > 2 else None, tuple(attributes.get("strides", (1, 1))),
        tuple(pads[:2]), tuple(attributes.get("dilations", (1, 1))), int(attributes.get("group", 1)),
    )  # fmt: skip


def _max_pool(given: list[Any], attributes: Attributes) -> Tensor:
    pads = _pads(attributes)
    tensor = functional.pad(given[0], (pads[1], pads[3], pads[0], pads[2]), value=float("-inf"))
    strides = tuple(attributes.get("strides", (1, 1)))
    return functional.max_pool2d(
        tensor, tuple(attributes["kernel_shape"]), strides, ceil_mode=bool(attributes.get("ceil_mode", 0))
    )


def _norm(given: list[Any], attributes: Attributes) -> Tensor:
    tensor, scale, shift, mean, variance = given
    return functional.batch_norm(
        tensor, mean, variance, scale, shift, False, 0.0, float(attributes.get("epsilon", 1e-5))
    )


def _layer_norm(given: list[Any], attributes: Attributes) -> Tensor:
    axis = int(attributes.get("axis", -1))
    shape = given[0].shape[axis:]
    bias = given[2] if len(given) > 2 else None
    return functional.layer_norm(given[0], shape, given[1], bias, float(attributes.get("epsilon", 1e-5)))


def _resize(given: list[Any], attributes: Attributes) -> Tensor:
    tensor = given[0]
    if len(given) > 3 and given[3] is not None and given[3].numel():
        size = _ints(given[3])[2:]
    else:
        size = [round(s * f) for s, f in zip(tensor.shape[2:], given[2].tolist()[2:], strict=True)]
    mode = attributes.get("mode", "nearest")
    if mode == "nearest":
        return functional.interpolate(tensor, size=size, mode="nearest")
    corners = attributes.get("coordinate_transformation_mode") == "align_corners"
    return functional.interpolate(tensor, size=size, mode="bilinear", align_corners=corners)


def _grid_sample(given: list[Any], attributes: Attributes) -> Tensor:
    mode = {"linear": "bilinear"}.get(attributes.get("mode", "bilinear"), attributes.get("mode", "bilinear"))
    return functional.grid_sample(
        given[0], given[1], mode=mode, padding_mode=attributes.get("padding_mode", "zeros"),
        align_corners=bool(attributes.get("align_corners", 0)),
    )  # fmt: skip


def _clip(given: list[Any], _: Attributes) -> Tensor:
    low = given[1] if len(given) > 1 else None
    high = given[2] if len(given) > 2 else None
    return given[0].clamp(
        None if low is None else low.to(given[0].device), None if high is None else high.to(given[0].device)
    )


def _reduce(function: str) -> Callable[[list[Any], Attributes], Tensor]:
    def run(given: list[Any], attributes: Attributes) -> Tensor:
        axes, keep = _axes(given, attributes), bool(attributes.get("keepdims", 1))
        tensor = given[0]
        axes = axes or list(range(tensor.ndim))
        made: Tensor = getattr(torch, function)(tensor, dim=axes, keepdim=keep)
        return made

    return run


def _gather_nd(given: list[Any], attributes: Attributes) -> Tensor:
    if int(attributes.get("batch_dims", 0)):
        raise KeyError("GatherND by batch")
    tensor, places = _together(given)
    return tensor[tuple(places.long().unbind(-1))]


def _scatter_nd(given: list[Any], _: Attributes) -> Tensor:
    tensor, places, updates = _together(given)
    made = tensor.clone()
    made[tuple(places.long().unbind(-1))] = updates
    return made


def _top_k(given: list[Any], attributes: Attributes) -> tuple[Tensor, Tensor]:
    found = given[0].topk(
        int(given[1]),
        dim=int(attributes.get("axis", -1)),
        largest=bool(attributes.get("largest", 1)),
        sorted=True,
    )
    return found.values, found.indices


def _split(given: list[Any], attributes: Attributes) -> Any:
    axis = int(attributes.get("axis", 0))
    sizes = _ints(given[1]) if len(given) > 1 else [int(s) for s in attributes["split"]]
    return given[0].split(sizes, dim=axis)


def _where(given: list[Any], _: Attributes) -> Tensor:
    return torch.where(*_together(given))


def _divide(a: Tensor, b: Tensor) -> Tensor:
    return torch.div(a, b) if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")


OPERATIONS: dict[str, Callable[[list[Any], Attributes], Any]] = {
    "Identity": lambda given, _: given[0],
    "Add": _two(torch.add),
    "Sub": _two(torch.sub),
    "Mul": _two(torch.mul),
    "Div": _two(_divide),
    "Mod": _two(torch.remainder),
    "Max": _two(torch.maximum),
    "Greater": _two(torch.gt),
    "MatMul": _two(torch.matmul),
    "Concat": lambda given, a: torch.cat(_together(given), dim=int(a["axis"])),
    "Reshape": _reshape,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Slice": _slice,
    "Conv": _conv,
    "BatchNormalization": _norm,
    "LayerNormalization": _layer_norm,
    "MaxPool": _max_pool,
    "Transpose": lambda given, a: given[0].permute(*a["perm"]),
    "Shape": lambda given, _: torch.tensor(given[0].shape, dtype=torch.int64),
    "Relu": _one(torch.relu),
    "Sigmoid": _one(torch.sigmoid),
    "Erf": _one(torch.erf),
    "Log": _one(torch.log),
    "Floor": _one(torch.floor),
    "Cast": lambda given, a: given[0].to(DTYPES[int(a["to"])]),
    "Clip": _clip,
    "GridSample": _grid_sample,
    "Softmax": lambda given, a: given[0].softmax(int(a.get("axis", -1))),
    "Expand": lambda given, _: given[0].expand(torch.broadcast_shapes(given[0].shape, _ints(given[1]))),
    "Split": _split,
    "Resize": _resize,
    "ReduceSum": _reduce("sum"),
    "ReduceMax": _reduce("amax"),
    "ReduceMin": _reduce("amin"),
    "Tile": lambda given, _: given[0].repeat(_ints(given[1])),
    "GatherND": _gather_nd,
    "ScatterND": _scatter_nd,
    "Where": _where,
    "TopK": _top_k,
    "Range": lambda given, _: torch.arange(*(v.item() for v in given), dtype=given[0].dtype),
    "Einsum": lambda given, a: torch.einsum(a["equation"], *_together(given)),
}

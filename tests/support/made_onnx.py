"""Small ONNX files written by hand, so that a test needs no package that writes them.

`layout_model` takes and gives what PP-DocLayoutV3 does as its publisher exports it: the picture, its size
and how it was scaled; rows of class, score, box in the page's own pixels and rank; their number; outlines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

VARINT, BYTES = 0, 2  # protobuf's wire types
FLOAT, INT32, INT64 = 1, 6, 7
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int32): INT32, np.dtype(np.int64): INT64}
OPSET, IR = 17, 8
ATTRIBUTE_INT, ATTRIBUTE_INTS = 2, 7


def layout_model(rows: Sequence[Sequence[float]], *, as_red: Sequence[int] = ()) -> bytes:
    """A network that finds `rows`, whose boxes are pixels of its 800 x 800 input.

    To the score of the rows `as_red` it adds how red the page is. Its outlines are the page itself.
    """
    found = np.array(rows, dtype=np.float32).reshape(-1, 7)
    red_ones = np.zeros_like(found)
    red_ones[list(as_red), 1] = 1.0
    constants = {
        "rows": found, "red_ones": red_ones, "ones": np.ones((1, 2), np.float32),
        "one": np.ones((1, 1), np.float32), "sides": np.array([1, 0, 1, 0]), "first": np.array([0]),
        "flat": np.array([1, 1]), "number": np.array([len(found)], np.int32),
    }  # fmt: skip
    nodes = (
        _node("Gather", ("scale_factor", "sides"), "scales", axis=1),
        _node("Concat", ("ones", "scales", "one"), "divisor", axis=1),
        _node("Gather", ("image", "first"), "red", axis=1),
        _node("ReduceMean", ("red",), "mean", axes=(0, 1, 2, 3)),
        _node("Reshape", ("mean", "flat"), "redness"),
        _node("Mul", ("red_ones", "redness"), "more"),
        _node("Add", ("rows", "more"), "scored"),
        _node("Div", ("scored", "divisor"), "fetch_name_0"),
        _node("Identity", ("number",), "fetch_name_1"),
        _node("Identity", ("image",), "fetch_name_2"),
    )
    inputs = (("image", (1, 3, 800, 800)), ("im_shape", (1, 2)), ("scale_factor", (1, 2)))
    outputs = (
        ("fetch_name_0", ("N", 7), FLOAT), ("fetch_name_1", ("B",), INT32),
        ("fetch_name_2", (1, 3, 800, 800), FLOAT),
    )  # fmt: skip
    graph = b"".join([
        *(encoded_field(1, node) for node in nodes),
        encoded_field(2, b"layout"),
        *(encoded_field(5, _tensor(name, value)) for name, value in constants.items()),
        *(encoded_field(11, _value(name, sides, FLOAT)) for name, sides in inputs),
        *(encoded_field(12, _value(*output)) for output in outputs),
    ])  # fmt: skip
    opset = encoded_field(1, b"") + _number(2, OPSET)
    return _number(1, IR) + encoded_field(7, graph) + encoded_field(8, opset)


def _number(field: int, value: int) -> bytes:
    return encoded_varint(field << 3 | VARINT) + encoded_varint(value)


def _text(field: int, value: str) -> bytes:
    return encoded_field(field, value.encode())


def _node(op: str, inputs: Sequence[str], output: str, **attributes: int | tuple[int, ...]) -> bytes:
    given = b"".join(_text(1, name) for name in inputs)
    settings = b"".join(encoded_field(5, _attribute(*each)) for each in attributes.items())
    return given + _text(2, output) + _text(3, output) + _text(4, op) + settings


def _attribute(name: str, value: int | tuple[int, ...]) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, ATTRIBUTE_INT)
    return _text(1, name) + b"".join(_number(8, one) for one in value) + _number(20, ATTRIBUTE_INTS)


def _tensor(name: str, value: np.ndarray[Any, Any]) -> bytes:
    sides = b"".join(_number(1, side) for side in value.shape)
    return sides + _number(2, TYPES[value.dtype]) + _text(8, name) + encoded_field(9, value.tobytes())


def _value(name: str, sides: Sequence[int | str], kind: int) -> bytes:
    shape = b"".join(
        encoded_field(1, _number(1, side) if isinstance(side, int) else _text(2, side)) for side in sides
    )
    tensor = _number(1, kind) + encoded_field(2, shape)
    return _text(1, name) + encoded_field(2, encoded_field(1, tensor))


def encoded_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encoded_field(number: int, value: bytes) -> bytes:
    return encoded_varint(number << 3 | BYTES) + encoded_varint(len(value)) + value

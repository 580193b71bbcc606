"""A graph of TensorFlow.js as ONNX gives what its operators are defined to give."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime
import pytest

from tests.tools.models import tool

onnx_of = tool("tfjs").onnx_of


def graph(tmp_path: Path, nodes: list[dict[str, Any]], constants: dict[str, Any], output: list[int]) -> bytes:
    """A graph of TensorFlow.js with half-precision weights, as its converter writes them, made ONNX."""
    data, entries = b"", []
    for name, values in constants.items():
        array = np.asarray(values)
        if array.dtype.kind == "f":
            data += array.astype("<f2").tobytes()
            entry = {"dtype": "float32", "quantization": {"dtype": "float16"}}
        else:
            data += array.astype("<i4").tobytes()
            entry = {"dtype": "int32"}
        entries.append({"name": name, "shape": list(array.shape), **entry})
        nodes.append({"name": name, "op": "Const"})
    shape = {"tensorShape": {"dim": [{"size": str(size)} for size in (1, 6, 6, 2)]}}
    made = {"tensorShape": {"dim": [{"size": str(size)} for size in output]}}
    told_ = {
        "signature": {"inputs": {"x:0": shape}, "outputs": {"y:0": made}},
        "modelTopology": {"node": [{"name": "x", "op": "Placeholder"}, *nodes]},
        "weightsManifest": [{"weights": entries}],
    }
    (tmp_path / "g.json").write_text(json.dumps(told_))
    (tmp_path / "g.bin").write_bytes(data)
    return onnx_of(tmp_path / "g.json", tmp_path / "g.bin")


def ran(model: bytes, picture: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    [made] = session.run(None, {"x": picture})
    return np.asarray(made)


def text(word: str) -> dict[str, str]:
    return {"s": base64.b64encode(word.encode()).decode()}


def ints(*values: int) -> dict[str, Any]:
    return {"list": {"i": [str(value) for value in values]}}


def test_convolutions_and_pools_of_a_graph_give_what_they_are_defined_to_give(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    picture = random.random((1, 6, 6, 2)).astype(np.float32)
    kernel = random.integers(-4, 4, (3, 3, 2, 1)) / 4  # halves and quarters: exact in half precision
    nodes: list[dict[str, Any]] = [
        {"name": "p", "op": "Pad", "input": ["x", "pads"]},
        {
            "name": "c",
            "op": "Conv2D",
            "input": ["p", "k"],
            "attr": {
                "padding": text("VALID"),
                "data_format": text("NHWC"),
                "strides": ints(1, 1, 1, 1),
                "dilations": ints(1, 1, 1, 1),
            },
        },
        {"name": "r", "op": "LeakyRelu", "input": ["c"], "attr": {"alpha": {"f": 0.1}}},
        {
            "name": "m",
            "op": "MaxPool",
            "input": ["r"],
            "attr": {
                "padding": text("VALID"),
                "data_format": text("NHWC"),
                "strides": ints(1, 2, 2, 1),
                "ksize": ints(1, 2, 2, 1),
            },
        },
        {"name": "y", "op": "Identity", "input": ["m"]},
    ]
    constants = {"pads": [[0, 0], [1, 1], [1, 1], [0, 0]], "k": kernel}
    made = ran(graph(tmp_path, nodes, constants, [1, 3, 3, 1]), picture)
    summed = sum(
        cv2.filter2D(
            picture[0, :, :, n].astype(float), -1, kernel[:, :, n, 0], borderType=cv2.BORDER_CONSTANT
        )
        for n in range(2)
    )
    leaky = np.where(np.asarray(summed) > 0, summed, 0.1 * np.asarray(summed))
    assert made[0, :, :, 0] == pytest.approx(leaky.reshape(3, 2, 3, 2).max(axis=(1, 3)), abs=1e-5)


def test_shapes_that_a_graph_computes_are_computed_and_pictures_scaled(tmp_path: Path) -> None:
    nodes: list[dict[str, Any]] = [
        {
            "name": "big",
            "op": "ResizeBilinear",
            "input": ["x", "sides"],
            "attr": {"half_pixel_centers": {"b": True}},
        },
        {"name": "halves", "op": "SplitV", "input": ["big", "sizes", "last"]},
        {"name": "swapped", "op": "ConcatV2", "input": ["halves:1", "halves", "last"]},
        {"name": "filled", "op": "SparseToDense", "input": ["at", "four", "given", "none"]},
        {"name": "shape", "op": "AddV2", "input": ["filled", "zeros"]},
        {"name": "y", "op": "Reshape", "input": ["swapped", "shape"]},
    ]
    constants = {
        "sides": [12, 12], "sizes": [1, 1], "last": 3, "at": [[2]], "four": [3], "given": [2], "none": 0,
        "zeros": [1, 144, 0],
    }  # fmt: skip
    picture = np.random.default_rng(0).random((1, 6, 6, 2)).astype(np.float32)
    made = ran(graph(tmp_path, nodes, constants, [1, 144, 2]), picture)
    scaled = cv2.resize(picture[0], (12, 12), interpolation=cv2.INTER_LINEAR)[..., ::-1]
    assert made[0] == pytest.approx(scaled.reshape(144, 2), abs=1e-5)
    with pytest.raises(ValueError, match="Einsum"):
        graph(tmp_path, [{"name": "y", "op": "Einsum", "input": ["x"]}], {}, [1])

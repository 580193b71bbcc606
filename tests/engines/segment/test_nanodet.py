"""The detector for CPUs: its graph as ONNX, what its numbers mean, and what it does to labels."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime
import pytest

from penstock.engines.segment.nanodet import BINS, SIDE, NanodetSegmenter, decoded
from penstock.engines.segment.segmenter import CLASSES, FoundThing, SegmenterOptions
from penstock.engines.weights.tfjs import onnx_of
from penstock.photo import Photo
from penstock.stages.detect import Detect
from penstock.workers import detect
from tests.support.needs import needs_detector


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


def test_a_cell_tells_a_class_and_how_far_the_four_sides_are() -> None:
    chance = np.zeros((1, 169, 80), np.float32)
    sides = np.zeros((1, 169, 4 * BINS), np.float32)
    cell = 5 * 13 + 7  # row 5, column 7 of a grid of 32 pixels
    chance[0, cell, 57] = 0.9
    for side, cells in enumerate((2, 1, 3, 4)):  # left, top, right, bottom
        sides[0, cell, side * BINS + cells] = 50.0
    score, number, corners = decoded([sides, chance])
    best = int(score.argmax())
    assert (number[best], score[best]) == (57, pytest.approx(0.9))
    assert corners[best] == pytest.approx([(7.5 - 2) * 32, (5.5 - 1) * 32, (7.5 + 3) * 32, (5.5 + 4) * 32])
    assert CLASSES[57] == "couch" and SIDE == 13 * 32


class Seeing:
    """A segmenter that sees the same things in every photo."""

    def __init__(self, *labels: str) -> None:
        self._labels = labels

    def find(self, pictures: Sequence[Any]) -> list[list[FoundThing]]:
        mask = np.zeros((120, 160), bool)
        mask[50:100, 60:100] = True
        return [
            [FoundThing(label, 0.8, (60, 50, 100, 100), mask) for label in self._labels] for _ in pictures
        ]

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("labels", "seen", "named"),
    [
        (("안락의자",), ("chair",), [("안락의자", "nanodet")]),
        (("안락의자",), (), []),  # what stands out is none of the labels: it is left out
        ((), (), [("object", "saliency")]),
    ],
)
def test_a_label_names_only_what_the_detector_sees(
    monkeypatch: pytest.MonkeyPatch,
    labels: tuple[str, ...],
    seen: tuple[str, ...],
    named: list[tuple[str, str]],
) -> None:
    monkeypatch.setattr(detect, "open_segmenter", lambda *_: Seeing(*seen))
    monkeypatch.setattr(detect, "_open_for_boxes", lambda stage: Seeing("object"))
    worker = Detect(engine="nanodet", labels=labels).open()
    pixels = np.full((120, 160, 3), 90, np.uint8)
    photo = Photo(id="p", uri="", document="", pixels=pixels, width=160, height=120)
    found = worker([photo])[0].objects
    assert [(thing.label, thing.finder) for thing in found] == named


@needs_detector
@pytest.mark.slow
def test_furniture_in_real_photos_is_named(shared_data: Path) -> None:
    finder = NanodetSegmenter(SegmenterOptions(tuple(CLASSES.values())))
    seen = {}
    for path in sorted((shared_data / "rooms").glob("*.jpg")):
        picture = cv2.imread(str(path))
        assert picture is not None
        seen[path.stem] = [label for _, label, _ in finder.boxes(np.asarray(picture[..., ::-1], np.uint8))]
    finder.close()
    assert "bed" in seen["pexels-5853819"]
    assert seen["pexels-7303800"].count("chair") >= 2
    assert sum(1 for labels in seen.values() if labels) >= 4

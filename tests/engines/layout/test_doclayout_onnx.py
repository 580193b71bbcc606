"""Claims about PP-DocLayoutV3 as an ONNX file. The network is made here, its inputs and outputs are real."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from penstock.box import Pixels
from penstock.engines.layout.clean import Rules
from penstock.engines.layout.doclayout_onnx import DocLayoutOnnx, prepare
from penstock.errors import MissingModel, OpenError
from penstock.region import LABELS
from tests.support.made_onnx import layout_model

TEXT, TABLE, TITLE = LABELS.index("text"), LABELS.index("table"), LABELS.index("doc_title")


def page(width: int = 400, height: int = 1600, colour: tuple[int, int, int] = (255, 255, 255)) -> Pixels:
    return np.full((height, width, 3), colour, dtype=np.uint8)


def opened(folder: Path, content: bytes, rules: Rules | None = None) -> DocLayoutOnnx:
    path = folder / "inference.onnx"
    path.write_bytes(content)
    return DocLayoutOnnx(str(path), rules=rules)


def test_boxes_are_in_the_pages_pixels_and_in_the_order_of_their_ranks(tmp_path: Path) -> None:
    rows = [(TEXT, 0.9, 80, 400, 720, 480, 5), (TITLE, 0.8, 80, 40, 720, 120, 2)]
    found = opened(tmp_path, layout_model(rows)).detect(page())
    assert [(each.label, each.order) for each in found] == [("doc_title", 0), ("text", 1)]
    assert found[1].box == pytest.approx((40.0, 800.0, 360.0, 960.0))
    assert found[1].score == pytest.approx(0.9)


def test_the_network_sees_red_before_blue_from_0_to_1(tmp_path: Path) -> None:
    engine = opened(tmp_path, layout_model([(TABLE, 0.0, 80, 400, 720, 480, 0)], as_red=[0]))
    assert [each.score for each in engine.detect(page(colour=(255, 0, 0)))] == [pytest.approx(1.0)]
    assert engine.detect(page(colour=(0, 0, 255))) == []


def test_the_picture_is_squeezed_by_cubic_interpolation() -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (900, 700, 3), dtype=np.uint8)
    given = prepare(pixels)
    expected = cv2.resize(pixels, (800, 800), interpolation=cv2.INTER_CUBIC).astype(np.float32) / 255
    assert given["image"].shape == (1, 3, 800, 800) and given["image"].dtype == np.float32
    np.testing.assert_allclose(given["image"][0].transpose(1, 2, 0), expected, atol=1e-6)
    assert given["im_shape"].tolist() == [[800.0, 800.0]]
    assert given["scale_factor"][0] == pytest.approx([800 / 900, 800 / 700])


def test_faint_finds_padding_and_boxes_that_are_none_are_left_out(tmp_path: Path) -> None:
    rows = [
        (TEXT, 0.29, 80, 400, 720, 480, 1), (-1, 0.9, 80, 500, 720, 580, 2), (TEXT, 0.9, 90, 90, 80, 120, 3),
        (TEXT, float("nan"), 80, 600, 720, 680, 4), (25, 0.9, 80, 700, 720, 780, 5),
    ]  # fmt: skip
    assert opened(tmp_path, layout_model(rows)).detect(page()) == []
    [faint] = opened(tmp_path, layout_model(rows), Rules(threshold=0.2)).detect(page())
    assert faint.score == pytest.approx(0.29)


def test_a_class_has_a_threshold_of_its_own(tmp_path: Path) -> None:
    rows = [(TEXT, 0.5, 80, 400, 720, 480, 1), (TABLE, 0.5, 80, 500, 720, 580, 2)]
    rules = Rules(threshold=0.4, class_thresholds={"table": 0.6})
    found = opened(tmp_path, layout_model(rows), rules).detect(page())
    assert [each.label for each in found] == ["text"]


def test_another_model_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OpenError, match="onnxruntime cannot open"):
        opened(tmp_path, b"no model")
    other = layout_model([(TEXT, 0.9, 80, 400, 720, 480, 1)]).replace(b"im_shape", b"im_scale")
    with pytest.raises(OpenError, match=r"inference\.onnx is not PP-DocLayoutV3 as its publisher exports it"):
        opened(tmp_path, other)
    with pytest.raises(MissingModel, match=r"There is no layout model gone\.onnx"):
        DocLayoutOnnx("gone.onnx")

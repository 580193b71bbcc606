"""The layout engine: blocks in the picture's pixels, no text in two boxes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest
from numpy.typing import NDArray

from penstock.engines.layout.cdla import (
    CLASSES,
    EQUATION,
    FIGURE,
    TABLE,
    CdlaLayout,
    distinct,
    network,
    prepare,
)
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network, PackedGraph, open_session
from penstock.errors import EngineError, MissingModel, OpenError
from penstock.region import LABELS
from tests.conftest import SAMPLE

TEXT, TITLE = 0, 1


@pytest.fixture(scope="module")
def layout() -> Iterator[CdlaLayout]:
    try:
        opened = CdlaLayout()
    except MissingModel as exc:
        pytest.skip(str(exc))
    yield opened
    opened.close()


def page() -> np.ndarray:
    """A4 at 100 dpi: a title, two columns of text, a ruled table."""
    sheet = np.full((1170, 830, 3), 255, np.uint8)
    cv2.putText(sheet, "A Page of Two Columns", (180, 110), cv2.FONT_HERSHEY_TRIPLEX, 1.1, (0, 0, 0), 2)
    words = "the quick brown fox jumps over the lazy dog"
    for x in (70, 440):
        for row in range(22):
            cv2.putText(sheet, words, (x, 180 + 22 * row), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 1)
    for row in range(6):
        cv2.line(sheet, (120, 800 + 40 * row), (720, 800 + 40 * row), (0, 0, 0), 1)
        for col in range(4):
            where = (130 + 150 * col, 828 + 40 * row)
            if row < 5:
                cv2.putText(sheet, f"cell {row}{col}", where, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 1)
    for col in range(5):
        cv2.line(sheet, (120 + 150 * col, 800), (120 + 150 * col, 1000), (0, 0, 0), 1)
    return sheet


def shared(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return max(0.0, width) * max(0.0, height)


def boxes(*rows: tuple[float, float, float, float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32).reshape(-1, 4)


def test_every_class_has_a_label_of_the_one_vocabulary() -> None:
    assert all(label in LABELS for _, label in CLASSES)
    assert [CLASSES[i][0] for i in (FIGURE, TABLE, EQUATION)] == ["figure", "table", "equation"]


def test_columns_and_table_of_a_page_are_found_where_they_are(layout: CdlaLayout) -> None:
    found = layout.detect(page())
    table = next(block for block in found if block.label == "table")
    assert np.allclose(table.box, (120, 800, 720, 1000), atol=25)
    texts = [block for block in found if block.label == "text"]
    assert any(block.box[2] < 430 for block in texts) and any(block.box[0] > 420 for block in texts)
    assert [block.score for block in found] == sorted((block.score for block in found), reverse=True)


def test_boxes_follow_the_picture_when_it_is_scaled(layout: CdlaLayout) -> None:
    small, large = page(), cv2.resize(page(), None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    tables = [next(b.box for b in layout.detect(p) if b.label == "table") for p in (small, large)]
    assert np.allclose(np.array(tables[0]) * 2, tables[1], atol=12)


def test_a_table_cut_out_of_its_page_is_no_picture(layout: CdlaLayout) -> None:
    strip = np.full((108, 600, 3), 255, np.uint8)
    for place in range(20):
        where = (10 + 120 * (place % 5), 22 + 24 * (place // 5))
        cv2.putText(
            strip, f"{13 * place}.5", where, cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 1, cv2.LINE_AA
        )
    for y in (2, 30, 105):
        cv2.line(strip, (2, y), (598, y), (0, 0, 0), 1)
    [found] = layout.detect(strip)
    assert found.label == "table"
    assert np.allclose(found.box, (0, 0, 600, 108), atol=15)


def test_a_blank_page_has_no_blocks(layout: CdlaLayout) -> None:
    assert layout.detect(np.full((800, 600, 3), 255, np.uint8)) == []


@pytest.mark.parametrize("shape", [(1, 1), (1, 3000), (3000, 1), (7, 5)])
def test_a_picture_of_any_shape_is_borne(layout: CdlaLayout, shape: tuple[int, int]) -> None:
    layout.detect(np.zeros((*shape, 3), np.uint8))


def test_a_picture_without_pixels_is_a_sentence(layout: CdlaLayout) -> None:
    with pytest.raises(EngineError, match="not one of 0 x 10 pixels"):
        layout.detect(np.zeros((10, 0, 3), np.uint8))


def test_threads_get_the_same_answer(layout: CdlaLayout) -> None:
    sheet, answers = page(), []
    threads = [threading.Thread(target=lambda: answers.append(layout.detect(sheet))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 3 and answers[0] == answers[1] == answers[2] == layout.detect(sheet)


def test_of_a_block_found_twice_the_better_stays() -> None:
    near = boxes((0, 0, 100, 50), (2, 1, 99, 52), (0, 0, 100, 44))
    assert distinct(near, np.array([TITLE, TEXT, TITLE])) == [0]


def test_a_box_inside_another_is_read_with_it() -> None:
    nested = boxes((10, 10, 60, 20), (0, 0, 100, 100))
    assert distinct(nested, np.array([TITLE, TEXT])) == [1]
    assert distinct(nested, np.array([TEXT, TABLE])) == [1]


def test_a_formula_in_text_and_text_in_a_picture_stay() -> None:
    nested = boxes((10, 10, 60, 20), (0, 0, 100, 100))
    assert distinct(nested, np.array([EQUATION, TEXT])) == [0, 1]
    assert distinct(nested, np.array([TEXT, FIGURE])) == [0, 1]
    assert distinct(nested, np.array([FIGURE, TABLE])) == [1]


def test_boxes_that_overlap_in_part_stay_and_specks_go() -> None:
    some = boxes((0, 0, 100, 50), (0, 40, 100, 90), (200, 200, 203, 300))
    assert distinct(some, np.array([TEXT, TEXT, TEXT])) == [0, 1]
    assert distinct(boxes(), np.array([], dtype=np.intp)) == []


def test_no_text_of_the_sample_lies_in_two_boxes(layout: CdlaLayout) -> None:
    document = pypdfium2.PdfDocument(SAMPLE)
    pages = [np.ascontiguousarray(sheet.render(scale=2).to_numpy()[:, :, 2::-1]) for sheet in document]
    document.close()
    assert_no_text_lies_in_two_boxes(layout, pages)


def test_no_text_of_real_pages_lies_in_two_boxes(layout: CdlaLayout, shared_data: Path) -> None:
    pictures = sorted((shared_data / "omnidocbench_demo" / "images").glob("*.jpg"))[:5]
    assert pictures
    pages = [np.ascontiguousarray(cv2.imread(str(picture))[:, :, ::-1]) for picture in pictures]
    assert_no_text_lies_in_two_boxes(layout, pages)


def assert_no_text_lies_in_two_boxes(layout: CdlaLayout, pages: list[NDArray[np.uint8]]) -> None:
    for page in pages:
        found = layout.detect(page)
        read = [block.box for block in found if block.label not in ("image", "display_formula")]
        for i, one in enumerate(read):
            for other in read[i + 1 :]:
                smaller = min((b[2] - b[0]) * (b[3] - b[1]) for b in (one, other))
                assert shared(one, other) < 0.85 * smaller


def test_fusion_changes_speed_but_not_the_answer(layout: CdlaLayout) -> None:
    import onnxruntime

    content = weights.path("layout-cdla").read_bytes()
    assert network().content.count(b"HardSigmoid") == content.count(b"HardSigmoid") + 94
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    plain = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    batch = prepare(page())
    with_fusion = Network(network())(batch)
    for before, after in zip(plain.run(None, {"image": batch}), with_fusion, strict=True):
        assert np.allclose(before, after, atol=2e-4)


@pytest.mark.parametrize(
    "content", [b"", b"not onnx at all", b"\x3a\xff\xff\xff\xff\x0f", b"\x3a\x02\x0a\x7f"]
)
def test_bytes_that_are_no_model_are_a_sentence(content: bytes) -> None:
    with pytest.raises(OpenError, match="onnxruntime cannot open the model"):
        open_session(content)


def test_an_input_of_the_wrong_shape_is_an_engine_error(layout: CdlaLayout) -> None:
    opened = Network(network())
    with pytest.raises(EngineError, match=r"failed on an input of \(1, 3, 8, 8\)"):
        opened(np.zeros((1, 3, 8, 8), np.float32))
    opened.close()
    with pytest.raises(EngineError, match="was closed"):
        opened(np.zeros((1, 3, 800, 608), np.float32))


def test_weights_that_are_cut_off_are_a_sentence(layout: CdlaLayout, tmp_path: Path) -> None:
    published = weights.path("layout-cdla")
    cut = tmp_path / published.name
    cut.write_bytes(published.read_bytes()[:1_000_000])
    with pytest.raises(OpenError, match=r"onnxruntime cannot open layout_cdla\.onnx"):
        open_session(PackedGraph(network().packed, cut))


def test_weights_may_lie_behind_links(layout: CdlaLayout, tmp_path: Path) -> None:
    """Caches are often links into another disk."""
    published, linked = weights.path("layout-cdla"), tmp_path / "linked"
    linked.symlink_to(published.parent)
    (tmp_path / published.name).symlink_to(published)
    for place in (linked / published.name, tmp_path / published.name):
        assert open_session(PackedGraph(network().packed, place)).get_inputs()

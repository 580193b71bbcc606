"""Our own layout network: blocks in the picture's pixels, in reading order, and the page's turn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pypdfium2
import pytest

from penstock.engines.layout.student import StudentLayout, distinct, prepare
from penstock.errors import EngineError
from penstock.region import LABELS
from tests.conftest import SAMPLE
from tests.engines.layout.test_cdla import page, shared


@pytest.fixture(scope="module")
def layout() -> Iterator[StudentLayout]:
    opened = StudentLayout()
    yield opened
    opened.close()


def sample(number: int) -> np.ndarray:
    document = pypdfium2.PdfDocument(SAMPLE)
    return np.ascontiguousarray(
        document[number].render(scale=150 / 72, rev_byteorder=True).to_numpy()[..., :3]
    )


def test_the_blocks_of_a_page_are_found_where_they_are(layout: StudentLayout) -> None:
    found = layout.detect(page())
    table = next(block for block in found if block.label == "table")
    truth = (120, 800, 720, 1000)
    assert shared(table.box, truth) > 0.75 * 600 * 200 and table.box[0] > 100 and table.box[3] < 1025
    assert {block.label for block in found} <= set(LABELS)


def test_left_column_comes_before_right_and_both_before_the_table(layout: StudentLayout) -> None:
    found = layout.detect(page())
    left = [b.order for b in found if b.label == "text" and b.box[2] < 430]
    right = [b.order for b in found if b.label == "text" and b.box[0] > 420]
    table = next(b.order for b in found if b.label == "table")
    assert left and right and max(left) < min(right) and max(right) < table
    assert [block.order for block in found] == list(range(len(found)))


@pytest.mark.parametrize("quarter", [0, 1, 2, 3])
def test_a_page_turned_by_quarters_is_known(layout: StudentLayout, quarter: int) -> None:
    turned = np.ascontiguousarray(np.rot90(sample(0), quarter))
    assert layout.quarter(turned)[0] == 90 * quarter


def test_the_sample_has_its_title_and_text(layout: StudentLayout) -> None:
    labels = [block.label for block in layout.detect(sample(0))]
    assert "text" in labels and {"doc_title", "paragraph_title"} & set(labels)


def test_an_empty_page_has_no_blocks(layout: StudentLayout) -> None:
    assert layout.detect(np.full((1200, 900, 3), 255, np.uint8)) == []


def test_a_picture_without_pixels_is_refused(layout: StudentLayout) -> None:
    with pytest.raises(EngineError, match="not one of 0 x 5 pixels"):
        layout.detect(np.zeros((5, 0, 3), np.uint8))


def test_a_higher_threshold_keeps_fewer_blocks(layout: StudentLayout) -> None:
    strict = StudentLayout(threshold=0.8)
    assert len(strict.detect(page())) <= len(layout.detect(page()))
    strict.close()


def test_lying_pages_are_shown_lying() -> None:
    assert prepare(np.zeros((50, 80, 3), np.uint8)).shape == (1, 3, 768, 1024)
    assert prepare(np.zeros((80, 50, 3), np.uint8)).shape == (1, 3, 1024, 768)


def test_a_block_found_whole_and_in_parts_stays_as_the_better_find() -> None:
    whole, above, below = (0.0, 0.0, 100.0, 100.0), (0.0, 0.0, 100.0, 48.0), (0.0, 52.0, 100.0, 100.0)
    assert distinct(np.array([whole, above, below])) == [0]
    assert distinct(np.array([above, below, whole])) == [0, 1]

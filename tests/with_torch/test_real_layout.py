"""PP-DocLayoutV3 with real weights: the checkpoint made of the publisher's file says what that file says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pytest

import penstock
from tests.support.partial_cache import FULL_CACHE
from tests.tools.models import tool

pytest.importorskip("torch.nn")  # not "torch": without it, this folder's own name would be found
pytest.importorskip("transformers")

from penstock.engines.layout.clean import Rules
from penstock.engines.layout.doclayout import DocLayoutEngine
from penstock.engines.layout.doclayout_onnx import NAME, DocLayoutOnnx
from penstock.engines.weights import registry as weights

SCALE = 100 / 72


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENSTOCK_CACHE", os.environ.get(FULL_CACHE, os.environ.get("PENSTOCK_CACHE", "")))
        yield _converted(tmp_path_factory.mktemp("checkpoint"))


def _converted(folder: Path) -> Path:
    if weights.verify([NAME])[0].state != "ready":
        pytest.skip("PP-DocLayoutV3 is not here: penstock models fetch pp-doclayoutv3")
    tool("doclayout_checkpoint").convert(weights.path(NAME), folder)
    return folder


@pytest.fixture(scope="module")
def page() -> np.ndarray:
    with pdfium.PdfDocument(Path(penstock.__file__).parent / "sample" / "sample.pdf") as document:
        return document[0].render(scale=SCALE).to_numpy()[:, :, :3][:, :, ::-1].copy()


def test_torch_finds_what_the_file_finds(checkpoint: Path, page: np.ndarray) -> None:
    by_file, by_torch = DocLayoutOnnx(), DocLayoutEngine(str(checkpoint), precision="fp32", batch=1)
    ours, theirs = by_torch.detect([page])[0], by_file.detect(page)
    by_torch.close()
    by_file.close()
    assert len(ours) > 5
    assert [block.label for block in ours] == [block.label for block in theirs]  # in reading order
    for one, other in zip(ours, theirs, strict=True):
        # they scale the page by different programs; with one scaling boxes agree within a thousandth
        assert np.allclose(one.box, other.box, atol=2)
        assert one.score == pytest.approx(other.score, abs=0.03)


def test_options_change_real_boxes_as_they_say(checkpoint: Path, page: np.ndarray) -> None:
    def found(rules: Rules, polygons: bool = False) -> list:
        engine = DocLayoutEngine(str(checkpoint), precision="fp32", batch=1, polygons=polygons, rules=rules)
        try:
            return engine.detect([page])[0]
        finally:
            engine.close()

    plain = found(Rules(), polygons=True)
    strict = found(Rules(threshold=0.8))
    wide = found(Rules(unclip=(1.1, 1.1)))
    assert all(len(block.polygon) >= 4 for block in plain)
    assert 0 < len(strict) < len(plain)
    assert all(block.score >= 0.8 for block in strict)
    growth = [
        (b.box[2] - b.box[0]) / (a.box[2] - a.box[0])
        for a, b in zip(plain, wide, strict=True)
        if a.box[0] > 0.1 * page.shape[1] and a.box[2] < 0.9 * page.shape[1]
    ]
    assert growth
    assert growth == pytest.approx([1.1] * len(growth), abs=0.02)

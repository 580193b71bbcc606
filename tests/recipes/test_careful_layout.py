"""The built-in recipe with PP-DocLayoutV3: its boxes, labels and order, our readers.

Its weights lie on the Hub, so a network with the same inputs and outputs stands in. It is made here and finds
the blocks of the sample's first page.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock.documents.layout.reading_order import ranked_order
from penstock.engines.weights import registry as weights
from penstock.errors import MissingModel, UsageError
from penstock.page import Page
from penstock.plan import Plan
from penstock.recipes.documents import LARGE, documents
from penstock.region import LABELS, Region, TextLayer, Word
from penstock.stages.compose import Compose
from penstock.stages.layout import Layout
from tests.support.made_onnx import layout_model

SAMPLE = Path(penstock.__file__).parent / "sample"
BLOCKS: list[dict[str, Any]] = json.loads((SAMPLE / "sample.json").read_text("utf-8"))["pages"][0]["blocks"]
A4 = (595.0, 842.0)
KEPT = [block for block in BLOCKS if not block.get("text", "").startswith("A penstock")]  # one is not seen


def found(block: dict[str, Any], rank: int) -> tuple[float, ...]:
    x0, y0, x1, y1 = block["box"]
    across, down = 800 / A4[0], 800 / A4[1]
    return (LABELS.index(block["label"]), 0.9, x0 * across, y0 * down, x1 * across, y1 * down, rank)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Ranks are those of the page, but that the last paragraph comes first."""
    ranks = [0 if block["text"].startswith("This document") else rank for rank, block in _with_text()]
    rows = [found(block, rank) for rank, block in zip(ranks, KEPT, strict=True)]
    path = tmp_path / "Inference.ONNX"
    path.write_bytes(layout_model(list(reversed(rows))))
    return path


def _with_text() -> list[tuple[int, dict[str, Any]]]:
    return [(rank, {"text": "", **block}) for rank, block in enumerate(KEPT, 1)]


def test_regions_have_its_labels_and_its_order_and_what_it_did_not_see_its_place(model: Path) -> None:
    options: dict[str, Any] = {"layout": "pp-doclayoutv3", "layout_model": str(model), "pages": "1"}
    [page] = penstock.parse(SAMPLE / "sample.pdf", **options)
    said = [(region.label, (region.content or "")[:13]) for region in page.regions]
    assert [label for label, _ in said] == [
        "text", "header", "doc_title", "text", "text", "chart", "figure_title", "paragraph_title", "text",
        "number",
    ]  # fmt: skip
    assert said[0] == ("text", "This document") and said[2] == ("doc_title", "The Pipe That")
    assert said[3:5] == [("text", "High above a "), ("text", "A penstock do")]
    assert [region.index for region in page.regions] == list(range(10))
    seen = [region for region in page.regions if region.native_label != "leftover"]
    assert len(seen) == 9 and {region.native_label for region in seen} <= set(LABELS)
    assert page.markdown.startswith("This document was made")


def test_a_region_without_a_rank_follows_the_one_before_it_by_place() -> None:
    assert ranked_order([3, 0, 1, 0], [0, 1, 2, 3]) == [2, 3, 0, 1]
    assert ranked_order([0, 0], [1, 0]) == [1, 0]
    assert ranked_order([2, 1, 2], [1, 2, 0]) == [1, 2, 0]  # two parts of one region
    assert ranked_order([], []) == []


def test_only_what_it_did_not_see_is_labelled_anew() -> None:
    seen = Region(label="text", box=(10, 970, 90, 990), content="12", index=1)
    page = Page(id="a", uri="a", document="a", width=100, height=1000, regions=(seen, replace(seen, index=0)))
    [done] = Compose(order="ranked").open()([page])
    assert [region.label for region in done.regions] == ["text", "number"]


def test_a_heading_that_it_saw_and_its_words_deny_is_text() -> None:
    note = Region(label="paragraph_title", box=(10, 500, 90, 520), content="WARNING", index=1)
    page = Page(id="a", uri="a", document="a", width=100, height=1000, regions=(note,))
    [done] = Compose(order="ranked").open()([page])
    assert done.markdown == "WARNING"


def test_the_plan_says_what_finds_the_regions() -> None:
    plan = documents(layout="pp-doclayoutv3", layout_threshold="0.5,table=0.4")
    rows = {row["stage"]: row for row in plan.settings()}
    assert rows["layout"]["engine"] == "pp-doclayoutv3" and rows["compose"]["order"] == "ranked"
    assert (rows["layout"]["threshold"], rows["layout"]["class_thresholds"]) == (0.5, {"table": 0.4})
    assert documents().fingerprint() != plan.fingerprint()


def test_a_run_from_before_there_was_a_choice_is_of_the_same_plan() -> None:
    plan = documents()
    older = plan.settings()
    for row in older:
        row.pop("model", None)
    assert plan.completed(older) == plan.settings()


def test_a_model_for_another_layout_is_refused() -> None:
    with pytest.raises(UsageError, match="--layout-model is for PP-DocLayoutV3, not for --layout model"):
        documents(layout="model", layout_model="a.onnx")


@pytest.fixture
def no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    monkeypatch.setenv("PENSTOCK_OFFLINE", "1")
    return tmp_path / "models"


def networks(plan: Plan) -> tuple[str, str]:
    """Those of pages with words, and of pictures."""
    [row] = [row for row in plan.settings() if row["stage"] == "layout"]
    return row["engine"], row["of_pictures"]


def test_efforts_take_it_where_its_weights_are_and_best_says_how_to_have_them(no_weights: Path) -> None:
    without = documents(effort="best")
    assert networks(without) == networks(documents()) == ("cdla", "")
    assert without.notes == (
        "A larger network (131 MB) finds regions better. To have it: penstock models fetch pp-doclayoutv3",
    )
    large = weights.MODELS["pp-doclayoutv3"]
    place = no_weights / large.origins[1].folder / large.file
    place.parent.mkdir(parents=True)
    with place.open("wb") as made:
        made.truncate(large.size)  # the size alone: hashes are compared when it is fetched
    assert documents(effort="best").fingerprint() == documents(effort="best", layout=LARGE).fingerprint()
    assert documents(effort="best").fingerprint() != without.fingerprint()
    assert networks(documents()) == ("cdla", LARGE) and not documents().notes
    assert networks(documents(effort="fast")) == networks(documents(layout="model")) == ("cdla", "")
    assert documents(effort="best", layout="model").fingerprint() == without.fingerprint()


def test_a_file_of_it_is_a_choice_of_it(model: Path) -> None:
    given = documents(layout_model=str(model))
    assert given.fingerprint() == documents(layout=LARGE, layout_model=str(model)).fingerprint()


def test_a_row_says_which_network_found_its_regions(model: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"layout_model": str(model), "pages": "1"}
    [read] = penstock.parse(SAMPLE / "sample.pdf", out=tmp_path / "out", **options)
    [kept] = penstock.read(tmp_path / "out")
    assert read.layout == kept.layout == LARGE
    [usual] = penstock.parse(SAMPLE / "sample.pdf", pages="1")
    assert usual.layout == "cdla"


def test_pictures_may_have_a_network_of_their_own(model: Path, tmp_path: Path) -> None:
    both = Layout(of_pictures=LARGE, model=str(model)).open()
    words = TextLayer(words=(Word(text="word", box=(9, 9, 30, 18)),) * 9)
    picture = Page(
        id="a", uri="a", document="a", width=595, height=842, pixels=np.full((842, 595, 3), 255, "u1")
    )
    found = both([picture, replace(picture, layer=words)])
    assert [page.layout for page in found] == [LARGE, "cdla"]
    assert [bool(page.regions) for page in found] == [True, False]
    both.close()


def test_without_its_weights_one_sentence_says_how_to_have_them(no_weights: Path) -> None:
    stage = next(stage for stage in documents(layout="pp-doclayoutv3") if stage.name == "layout")
    with pytest.raises(MissingModel, match=r"'pp-doclayoutv3' .* Run: penstock models fetch pp-doclayoutv3"):
        stage.open()

"""The embedded recipe on the sample: what `make demo` shows is right."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein

import penstock
from penstock.documents.tables.html import from_html
from penstock.engines.ocr.effort import Effort
from penstock.errors import UsageError
from penstock.page import Page
from penstock.passes.parse import ParseOptions, with_saved_effort
from penstock.recipes.documents import documents
from penstock.region import LABELS

SAMPLE = Path(penstock.__file__).parent / "sample"
TRUTH: list[dict[str, Any]] = json.loads((SAMPLE / "sample.json").read_text("utf-8"))["pages"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "out"
    for _ in penstock.parse(SAMPLE / "sample.pdf", out=folder):
        pass
    return folder


@pytest.fixture(scope="module")
def pages(out: Path) -> list[Page]:
    return list(penstock.read(out))


def bare(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def read_text(page: Page) -> str:
    """What the page says outside of tables, pictures and formulas."""
    kept = [r for r in page.regions if r.label not in {"table", "image", "chart", "display_formula"}]
    return bare("".join(region.content or "" for region in kept))


def true_text(page: dict[str, Any]) -> str:
    return bare("".join(block["text"] for block in page["blocks"] if "text" in block))


@pytest.mark.parametrize(("number", "bound"), [(0, 0.005), (1, 0.005), (2, 0.02), (3, 0.03)])
def test_the_text_of_every_page_is_right_and_in_order(pages: list[Page], number: int, bound: float) -> None:
    assert pages[number].failure is None
    assert Levenshtein.normalized_distance(read_text(pages[number]), true_text(TRUTH[number])) <= bound


def test_justified_korean_keeps_its_spaces(pages: list[Page]) -> None:
    said = "\n".join(region.content or "" for region in pages[1].regions)
    paragraphs = [block["text"] for block in TRUTH[1]["blocks"] if block["label"] == "text"]
    assert [text for text in paragraphs if text not in said] == []


def test_nothing_is_said_twice(pages: list[Page]) -> None:
    for page, truth in zip(pages, TRUTH, strict=True):
        assert len(read_text(page)) <= 1.02 * len(true_text(truth))


@pytest.mark.parametrize("number", [2, 3])
def test_tables_come_with_their_spans(pages: list[Page], number: int) -> None:
    [table] = [region for region in pages[number].regions if region.label == "table"]
    [truth] = [block for block in TRUTH[number]["blocks"] if block["label"] == "table"]
    cells = from_html(table.content or "")
    assert cells is not None
    got = {(c.row, c.column, c.row_span, c.column_span, bare(c.text)) for c in cells}
    want = {(c["row"], c["col"], c["rowspan"], c["colspan"], bare(c["text"])) for c in truth["cells"]}
    assert got == want


def test_charts_have_crops_and_the_formula_is_read_from_the_layer(out: Path, pages: list[Page]) -> None:
    pictures = [r for page in pages for r in page.regions if r.label in {"image", "chart"}]
    assert len(pictures) == 2
    for region in pictures:
        assert (out / str(region.crop_path)).read_bytes().startswith(b"\xff\xd8")
    [formula] = [r for r in pages[2].regions if r.label == "display_formula"]
    assert formula.content == r"P = \eta \rho g Q \left( H - \frac{f L v^{2}}{2 g D} \right)"
    assert (formula.reader, formula.note) == ("layer", "")
    assert formula.crop_path


def test_labels_boxes_and_confidences_keep_their_promise(pages: list[Page]) -> None:
    for page in pages:
        assert [region.index for region in page.regions] == list(range(len(page.regions)))
        for region in page.regions:
            assert region.label in LABELS
            x0, y0, x1, y1 = region.box
            assert 0 <= x0 < x1 <= page.width + 1
            assert 0 <= y0 < y1 <= page.height + 1
            assert region.confidence is None or 0 <= region.confidence <= 1
    read = [line for page in pages for region in page.regions for line in region.lines if line.confidence]
    known = [line for line in read if line.words]
    assert len(known) > 0.8 * len(read)
    assert all(len(line.words) == len(line.text.split()) for line in known)
    assert {"layer"} == {r.reader for r in pages[0].regions}
    assert any("hangul" in r.reader for r in pages[3].regions)
    assert any("ppocr" in r.reader for r in pages[3].regions)


def test_the_title_is_found(pages: list[Page]) -> None:
    [title] = [region for region in pages[0].regions if region.label == "doc_title"]
    assert title.content == "The Pipe That Feeds the Turbines"
    assert pages[0].markdown.startswith("# The Pipe That Feeds the Turbines")


@pytest.mark.slow
def test_a_page_turned_by_a_quarter_is_turned_back(tmp_path: Path) -> None:
    import cv2
    import pypdfium2 as pdfium

    page = pdfium.PdfDocument(SAMPLE / "sample.pdf")[3].render(scale=200 / 72).to_numpy()[:, :, :3]
    cv2.imwrite(str(tmp_path / "turned.png"), cv2.rotate(page, cv2.ROTATE_90_CLOCKWISE))
    [item] = penstock.parse(tmp_path / "turned.png")
    assert item.rotation == 270
    assert item.height > item.width
    assert Levenshtein.normalized_distance(read_text(item), true_text(TRUTH[3])) <= 0.04


def test_rules_read_the_same_text_without_any_model() -> None:
    parsed = penstock.parse(SAMPLE / "sample.pdf", pages="1-3", layout="rules")
    pages = sorted(parsed, key=lambda page: page.part)
    for page in pages:
        said = bare("".join(region.content or "" for region in page.regions))
        blocks = [bare(block["text"]) for block in TRUTH[page.part]["blocks"] if "text" in block]
        assert sum(block in said for block in blocks) >= len(blocks) - 1, page.part
    titles = {r.content for page in pages for r in page.regions if "title" in r.label}
    assert {"The Pipe That Feeds the Turbines", "2. 좁은 곳이 속도를 정한다"} <= titles
    assert any(r.label == "table" and "rowspan" in (r.content or "") for r in pages[2].regions)


def test_a_run_from_before_flattening_goes_on() -> None:
    plan = documents(cores=1)
    before = [{key: value for key, value in row.items() if key != "flatten"} for row in plan.settings()]
    assert plan.completed(before) == plan.settings()
    assert documents(cores=1, flatten="off").fingerprint() != plan.fingerprint()


def test_a_wrong_word_for_flatten_is_refused() -> None:
    with pytest.raises(UsageError, match="--flatten sometimes is not known"):
        documents(flatten="sometimes")  # type: ignore[arg-type]


@pytest.mark.parametrize("effort", ["fast", "balanced", "best"])
def test_the_effort_reaches_the_stages_that_look_at_pictures(effort: Effort) -> None:
    rows = {row["stage"]: row for row in documents(cores=1, effort=effort).settings()}
    assert rows["orient"]["effort"] == rows["recognise"]["effort"] == effort


def test_the_usual_effort_is_balanced_and_another_is_another_plan() -> None:
    assert documents(cores=1).fingerprint() == documents(cores=1, effort="balanced").fingerprint()
    assert documents(cores=1).fingerprint() != documents(cores=1, effort="best").fingerprint()


def test_a_wrong_word_for_effort_is_refused() -> None:
    with pytest.raises(UsageError, match="--effort much is not known"):
        documents(effort="much")  # type: ignore[arg-type]


def begun(out: Path, effort: str | None) -> None:
    """Leaves what a run leaves that read with this effort, or that knew of none."""
    plan = documents(cores=1, effort="best").settings()
    rows = [{key: value for key, value in row.items() if key != "effort"} for row in plan]
    if effort is not None:
        rows = [row | ({"effort": effort} if row["stage"] in ("orient", "recognise") else {}) for row in rows]
    (out / "run.json").write_text(json.dumps({"format": 1, "recipe": "documents", "plan": rows}))


@pytest.mark.parametrize(
    ("before", "given", "goes_on"),
    [(None, {}, "best"), ("fast", {}, "fast"), ("fast", {"effort": "best"}, "best")],
)
def test_a_run_goes_on_with_the_effort_it_began_with(
    tmp_path: Path, before: str | None, given: dict[str, str], goes_on: str
) -> None:
    begun(tmp_path, before)
    options = ParseOptions(inputs=("a.pdf",), settings={"cores": 1, **given})
    plan = with_saved_effort(options, tmp_path).plan()
    assert plan.fingerprint() == documents(cores=1, effort=goes_on).fingerprint()  # type: ignore[arg-type]


def test_a_run_from_before_there_was_a_choice_is_of_the_same_plan(tmp_path: Path) -> None:
    begun(tmp_path, None)
    plan = with_saved_effort(ParseOptions(inputs=("a.pdf",), settings={"cores": 1}), tmp_path).plan()
    rows = json.loads((tmp_path / "run.json").read_text())["plan"]
    assert plan.completed(rows) == plan.settings()


def test_a_run_that_starts_over_or_has_no_folder_yet_is_balanced(tmp_path: Path) -> None:
    begun(tmp_path, "fast")
    usual = documents(cores=1).fingerprint()
    afresh = ParseOptions(inputs=("a.pdf",), settings={"cores": 1}, fresh=True)
    assert with_saved_effort(afresh, tmp_path).plan().fingerprint() == usual
    assert with_saved_effort(replace(afresh, fresh=False), tmp_path / "none").plan().fingerprint() == usual

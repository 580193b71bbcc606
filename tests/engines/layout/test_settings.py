"""The layout options: each value, as it is typed, reaches its rule and changes a page's regions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.engines.layout.clean import FoundBoxes, clean, rules_from
from penstock.errors import UsageError
from penstock.page import Page
from penstock.recipes import build
from penstock.stages.doclayout import DocLayout
from penstock.stages.layout import Layout
from tests.engines.layout.test_clean import found, numbers

SAMPLE = str(Path(penstock.__file__).parent / "sample" / "sample.pdf")
PAGE = (1000, 1400)
NETWORK = {"layout": "pp-doclayoutv3"}
Box = tuple[float, float, float, float]


def stage(**options: Any) -> DocLayout:
    made = build("glm-ocr", {"layout": "pp-doclayoutv3", **options}).stages[1]
    assert isinstance(made, DocLayout)
    return made


def cleaned(page: FoundBoxes, **options: Any) -> FoundBoxes:
    """What stays of a page, with the rules that the stage's worker makes of these options."""
    return clean(page, *PAGE, rules_from(**stage(**options).rules))


APART = found(("text", 0.35, (0, 0, 100, 50)), ("table", 0.45, (0, 100, 100, 150)))
NESTED = found(("text", 0.9, (0, 0, 500, 500)), ("paragraph_title", 0.8, (10, 10, 200, 60)))
# 64 % of both in common, and no more than 78 % of either: found twice, and neither inside the other
TWICE = found(("text", 0.9, (0, 0, 100, 100)), ("text", 0.8, (22, 0, 122, 100)))


@pytest.mark.parametrize(
    ("threshold", "kept"),
    [
        (None, [0, 1]),
        ("0.4", [1]),
        (0.5, []),
        ("text=0.4", [1]),
        ({"table": 0.5}, [0]),
        ("0.5, text=0.3", [0]),
        ("0.1,table=0.46", [0]),
    ],
)
def test_threshold(threshold: Any, kept: list[int]) -> None:
    assert numbers(cleaned(APART, layout_threshold=threshold)) == kept


@pytest.mark.parametrize(
    ("merge", "kept"),
    [
        (None, [0]),  # as published: what lies inside goes
        ("large", [0]),
        ("union", [0, 1]),
        ("small", [1]),
        ("text=union", [0, 1]),
        ("union,paragraph_title=small", [1]),
        ({"text": "union"}, [0, 1]),
    ],
)
def test_merge(merge: Any, kept: list[int]) -> None:
    assert numbers(cleaned(NESTED, layout_merge=merge)) == kept


def test_a_list_of_references_gives_way_unless_all_classes_are_merged_alike() -> None:
    page = found(("reference", 0.9, (0, 0, 500, 500)), ("reference", 0.8, (10, 10, 200, 60)))
    assert numbers(cleaned(page)) == [1]
    assert numbers(cleaned(page, layout_merge="large")) == [0]


@pytest.mark.parametrize(
    ("unclip", "box"),
    [
        (None, (100, 200, 300, 300)),
        ("1.1", (90, 195, 310, 305)),
        (1.1, (90, 195, 310, 305)),
        ("1.1x1.0", (90, 200, 310, 300)),
        ((1.0, 1.2), (100, 190, 300, 310)),
        ("table=1.5", (100, 200, 300, 300)),
        ("text=1.1x1.2", (90, 190, 310, 310)),
        ("2,text=1", (100, 200, 300, 300)),
    ],
)
def test_unclip(unclip: Any, box: Box) -> None:
    page = found(("text", 0.9, (100, 200, 300, 300)))
    assert cleaned(page, layout_unclip=unclip).boxes[0] == pytest.approx(box)


@pytest.mark.parametrize(("nms", "kept"), [(None, [0]), (True, [0]), (False, [0, 1])])
def test_nms(nms: bool | None, kept: list[int]) -> None:
    assert numbers(cleaned(TWICE, layout_nms=nms)) == kept


def test_compile_changes_no_result_and_precision_may() -> None:
    plain, other = build("glm-ocr", NETWORK), build("glm-ocr", {**NETWORK, "layout_precision": "bf16"})
    assert stage(layout_compile=True).compile
    assert build("glm-ocr", {**NETWORK, "layout_compile": True}).fingerprint() == plain.fingerprint()
    assert other.fingerprint() != plain.fingerprint()
    assert other.settings()[1]["precision"] == "bf16"


def test_what_was_chosen_is_in_run_jsons_plan() -> None:
    row = build(
        "paddleocr-vl",
        {
            "layout_threshold": "0.2,table=0.5",
            "layout_merge": "union,reference=small",
            "layout_unclip": "1.02x1.0",
            "layout_nms": False,
        },
    ).settings()[1]
    wanted = {
        "threshold": 0.2, "class_thresholds": {"table": 0.5}, "merge": "union",
        "class_merge": {"reference": "small"}, "unclip": [1.02, 1.0], "class_unclip": {}, "nms": False,
    }  # fmt: skip
    assert {key: row[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"layout_threshold": "1.5"}, r"--layout-threshold 1.5: 1.5 is not from 0 to 1"),
        ({"layout_threshold": "high"}, "'high' is not a number"),
        ({"layout_threshold": "txt=0.4"}, "there is no class 'txt'; there are abstract"),
        ({"layout_threshold": "0.3,0.4"}, "0.4 is a second value"),
        ({"layout_merge": "biggest"}, "--layout-merge biggest: biggest is no way to merge"),
        ({"layout_unclip": "0"}, "0 is not above 0"),
        ({"layout_unclip": "1x2x3"}, "is not one factor or two"),
        ({"layout_precision": "fp8"}, "--layout-precision fp8 is not known"),
        ({"layout": "cdla", "layout_merge": "large"}, "takes a threshold only"),
        ({"layout": "cdla", "layout_unclip": 1.1}, "--layout-unclip is for PP-DocLayoutV3"),
        ({"layout": "cdla", "layout_nms": False}, "--layout-nms is for PP-DocLayoutV3"),
        ({"layout": "cdla", "layout_compile": True}, "--layout-compile is for PP-DocLayoutV3"),
        ({"layout": "cdla", "layout_precision": "fp16"}, "--layout-precision is for PP-DocLayoutV3"),
        ({"layout": "cdla", "layout_threshold": "seal=0.4"}, "there is no class 'seal'"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        build("glm-ocr", {**NETWORK, **options})


def test_rules_have_no_threshold() -> None:
    with pytest.raises(UsageError, match="rules score nothing"):
        build("documents", {"layout": "rules", "layout_threshold": 0.4})
    with pytest.raises(UsageError, match="does not take --layout-merge"):
        build("documents", {"layout_merge": "large"})


def builtin(threshold: Any) -> list[tuple[str, float]]:
    """Labels and scores of the sample's third page, which has a table and formulas."""
    find = next(s for s in build("documents", {"layout_threshold": threshold}) if isinstance(s, Layout))
    pixels = pdfium.PdfDocument(SAMPLE)[2].render(scale=1, rev_byteorder=True).to_numpy()
    worker = find.open()
    [page] = worker([Page(id="one", uri="", document="d", part=2, pixels=pixels)])
    worker.close()
    return [(region.label, region.score or 0.0) for region in page.regions]


def test_the_built_in_network_takes_a_threshold() -> None:
    usual = builtin(None)
    assert min(score for _, score in usual) > 0.4
    middle = sorted(score for _, score in usual)[len(usual) // 2]
    fewer = builtin(str(middle))
    assert fewer and len(fewer) < len(usual)
    assert min(score for _, score in fewer) > middle - 1e-6
    without = builtin("text=1")
    assert {label for label, _ in usual} - {label for label, _ in without} == {"text"}


@pytest.mark.slow
def test_the_command_line_reaches_the_network_and_run_json(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('layout-threshold = 0.6\npages = "4"\nquiet = true\n')
    call = ["parse", SAMPLE, "-o", str(tmp_path / "out"), "--config", str(tmp_path / "run.toml")]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    plan = json.loads((tmp_path / "out" / "run.json").read_text())["plan"]
    [row] = [row for row in plan if row["stage"] == "layout"]
    assert row["threshold"] == 0.6
    [page] = penstock.read(tmp_path / "out")
    assert isinstance(page, Page)
    scores = [region.score for region in page.regions if region.score is not None]
    assert scores and min(scores) > 0.6 - 1e-6


def test_a_wrong_value_on_the_command_line_is_a_sentence(tmp_path: Path) -> None:
    call = ["parse", SAMPLE, "-o", str(tmp_path), "--recipe", "glm-ocr", "--layout-merge", "text=big"]
    result = CliRunner().invoke(app, call)
    assert isinstance(result.exception, UsageError)
    assert "big is no way to merge" in str(result.exception)


def test_a_run_made_before_there_was_a_choice_is_resumed() -> None:
    """The rows are as run.json had them then."""
    network = {
        "stage": "doclayout", "model": "PaddlePaddle/PP-DocLayoutV3_safetensors", "threshold": 0.3,
        "polygons": False, "precision": "fp16",
    }  # fmt: skip
    served, builtin = (build("glm-ocr", {"layout": name}) for name in ("pp-doclayoutv3", "cdla"))
    assert served.completed([network]) == served.settings()[1:2]
    assert builtin.completed([{"stage": "layout", "engine": "cdla"}]) == builtin.settings()[1:2]

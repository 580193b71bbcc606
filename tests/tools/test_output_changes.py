"""The table of what changed in output names each document that did, and counts those that did not."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import REPO


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("output_changes", REPO / "tools" / "output_changes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks for it there
    spec.loader.exec_module(module)
    return module


def row(page: int, markdown: str, *labels: str, document: str = "a.pdf", **more: Any) -> dict[str, Any]:
    regions = [{"label": label, "bbox_2d": [0, 10 * place, 9, 9]} for place, label in enumerate(labels)]
    return {"document": document, "page_idx": page, "markdown": markdown, "regions": regions, **more}


def keyed(*rows: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(each["document"], each["page_idx"]): each for each in rows}


def test_a_change_says_how_much_text_which_labels_and_which_pages(tool: ModuleType) -> None:
    before = keyed(row(0, "0123456789", "text"), row(1, "same", "text"), row(2, "gone", "text"))
    after = keyed(
        row(0, "012345678X", "text", "table", page_id="another"), row(1, "same", "text", page_id="another"),
        row(2, "", failure={"kind": "BadInput"}),
    )  # fmt: skip
    [change] = tool.changes(before, after)
    assert (change.pages, change.changed, change.failed) == (3, 2, 1)
    assert change.text == pytest.approx(5 / 18)
    assert (change.regions, change.labels, change.boxes) == (0, "+1 table, -1 text", 1)
    assert change.line() == "| a.pdf | 2 of 3 | 27.78% | +0 | +1 table, -1 text | 1 | +1 |"


def test_what_only_one_version_has_is_no_change(tool: ModuleType) -> None:
    one, other = row(0, "a", "text"), row(0, "b", "text", document="b.pdf")
    [change] = tool.changes(keyed(one), keyed(one, other))
    assert (change.document, change.changed) == ("a.pdf", 0)

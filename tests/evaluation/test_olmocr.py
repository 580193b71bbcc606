"""olmOCR-bench's facts about pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock_eval.benchmarks.olmocr import OlmOcrBench, near_starts, passes
from penstock_eval.scoring import score_folder

TABLE = (
    "<table><thead><tr><th>Name</th><th colspan='2'>Size</th></tr></thead>"
    "<tr><td>Oak</td><td>12</td><td>m</td></tr><tr><td>Elm</td><td>9</td><td>m</td></tr></table>"
)


@pytest.mark.parametrize(
    ("fact", "page", "expected"),
    [
        ({"type": "present", "text": "the “quick” fox"}, 'see the "quick" **fox** run', True),
        ({"type": "present", "text": "abcdefghij", "max_diffs": 1}, "abcdeXghij", True),
        ({"type": "present", "text": "HELLO"}, "hello", False),
        ({"type": "present", "text": "HELLO", "case_sensitive": False}, "hello", True),
        ({"type": "absent", "text": "Page 3", "last_n": 10}, "Page 3 and then a long body", True),
        (
            {"type": "order", "before": "first words", "after": "later words"},
            "first words, later words",
            True,
        ),
        (
            {"type": "order", "before": "later words", "after": "first words"},
            "first words, later words",
            False,
        ),
        (
            {"type": "order", "before": "firzt words", "after": "later", "max_diffs": 2},
            "first words, later",
            True,
        ),
        ({"type": "table", "cell": "9", "up": "12", "left": "Elm", "top_heading": "Size"}, TABLE, True),
        ({"type": "table", "cell": "9", "right": "12"}, TABLE, False),
        ({"type": "table", "cell": "2", "left_heading": "a"}, "| h | i |\n|---|---|\n| a | 2 |", True),
        (
            {"type": "table", "cell": "a b", "right": "2"},
            "<table><tr><td>a<br>b<!-- c --></td><td>2</td></tr></table>",
            True,
        ),
        ({"type": "math", "math": "x^2+1"}, "so $x ^ 2 + 1$ holds", True),
        ({"type": "math", "math": "x^2+1"}, "so $x^3$ holds", False),
        ({"type": "baseline"}, "words", True),
        ({"type": "baseline"}, "", False),
        ({"type": "baseline"}, "words " + "ha" * 40, False),
        ({"type": "baseline", "max_length": 3}, "ab", True),
    ],
)
def test_facts_pass_and_fail(fact: dict, page: str, expected: bool) -> None:
    assert passes(fact, page) is expected


def test_near_matches_are_found_at_their_start() -> None:
    assert near_starts("hello", "say helo there", 1).min() in (3, 4)
    assert near_starts("hello", "nothing", 1).size == 0


def test_the_score_is_the_mean_over_files(tmp_path: Path) -> None:
    for name, texts in (("a.jsonl", ["one", "two"]), ("b.jsonl", ["three"])):
        rows = [{"pdf": "d.pdf", "page": 1, "id": f"{name}{t}", "type": "present", "text": t} for t in texts]
        (tmp_path / name).write_text("\n".join(json.dumps(row) for row in rows))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "d_pg1_repeat1.md").write_text("one and three")
    found = score_folder(OlmOcrBench(), tmp_path, tmp_path / "out", workers=0)
    assert found.summary.extra["score"] == pytest.approx((0.5 + 1.0 + 1.0) / 3)  # a, b, baseline

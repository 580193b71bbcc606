"""Pages with their plain text: what Markdown says aloud, and which words were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock_eval.benchmarks import open_benchmark
from penstock_eval.benchmarks.base import Sample
from penstock_eval.benchmarks.pages import PagesWithText, composed, plain_text, word_scores
from penstock_eval.scoring import score_folder


def test_markdown_is_read_as_text() -> None:
    markdown = "# 제목\n\n- 첫째 \\*별\\*\n\n| 가 | 나 |\n| --- | --- |\n| 1 | 2 |\n\n"
    markdown += "![그림](a.png)\n\n![\\[표\\] 1](b.png)\n\n<b>x</b> &lt;3"
    assert composed(plain_text(markdown)) == "제목 첫째 *별* 가 나 1 2 x <3"


def test_leader_dots_are_not_read() -> None:
    assert composed("1.2 시작 . . . . . . . 7\n끝. 2.") == "1.2 시작 7 끝. 2."


def test_words_count_wherever_they_stand() -> None:
    assert word_scores("a b c d", "D c b x") == (0.75, 0.75)
    assert word_scores("a", "") == (0.0, 0.0)


def test_a_folder_of_texts_beside_pictures_is_a_benchmark(tmp_path: Path) -> None:
    (tmp_path / "truth").mkdir()
    (tmp_path / "said").mkdir()
    (tmp_path / "truth" / "one.txt").write_text("나는 학교에 간다", encoding="utf-8")
    (tmp_path / "truth" / "one.png").write_bytes(b"")
    (tmp_path / "said" / "one.md").write_text("## 나는 학교에간다", encoding="utf-8")
    bench = open_benchmark("pages")
    assert bench.samples(tmp_path / "truth")[0].image.endswith("one.png")
    found = score_folder(bench, tmp_path / "truth", tmp_path / "said", workers=0).summary
    assert found.scores["cer_without_spaces"].mean == 0.0
    assert found.scores["cer"].mean == pytest.approx(1 / 9)
    assert found.scores["spacing_error_rate"].mean == pytest.approx(1 / 6)
    assert found.extra["cer_pooled"] == pytest.approx(1 / 9)


def test_spacing_is_a_korean_matter() -> None:
    assert "spacing_error_rate" not in PagesWithText().score(Sample("a", "plain words"), "plain words").values
    assert "spacing_error_rate" in PagesWithText().score(Sample("a", "한글 말"), "한글 말").values

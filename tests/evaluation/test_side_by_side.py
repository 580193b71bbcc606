"""Scores of several runs in one table, and a tool that reads the pictures of one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.quality import readers
from benchmarks.quality.readers import Peer
from benchmarks.quality.side_by_side import table, write_scores


def scores(mean: float) -> dict[str, dict[str, dict[str, float]]]:
    return {"sroie": {"word_recall": {"mean": mean, "low": mean - 0.1, "high": mean + 0.05}}}


def test_the_table_has_a_column_for_each_run_and_the_interval_of_the_last(tmp_path: Path) -> None:
    for name, mean in (("before", 0.81), ("tool", 0.6), ("now", 0.92)):
        (tmp_path / name).mkdir()
        write_scores(tmp_path / name, scores(mean), {"sroie": 2.0} if name == "now" else {})
    lines = table({name: tmp_path / name for name in ("before", "tool", "now")})
    assert lines[0] == "| | before | tool | now | interval | developed on its pages |"
    row = "| Receipts: recall of words | 0.8100 | 0.6000 | 0.9200 | 0.8200 to 0.9700 | rules and bounds |"
    assert row in lines
    assert "| Receipts: CPU s a page | – | – | 2.0 | | |" in lines
    assert len({line.count("|") for line in lines}) == 1


def test_cpu_seconds_of_pages_that_were_read_earlier_stay(tmp_path: Path) -> None:
    write_scores(tmp_path, scores(0.9), {"sroie": 2.0})
    write_scores(tmp_path, scores(0.92), {})
    assert "| Receipts: CPU s a page | 2.0 | | |" in table({"now": tmp_path})


def test_a_tool_reads_pictures_once_and_no_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(readers.PEERS, "words", "read = lambda path: languages + ' ' + open(path).read()\n")
    picture = tmp_path / "a.png"
    picture.write_text("words", encoding="utf-8")
    tool = Peer("words", sys.executable)
    said = tool.read(
        "korean_book", [str(picture), str(tmp_path / "b.pdf"), str(tmp_path / "none.png")], tmp_path
    )
    assert said == {str(picture.resolve()): "kor+eng words"}
    assert tool.cpu_s["korean_book"] > 0
    picture.write_text("other words", encoding="utf-8")
    assert Peer("words", sys.executable).read("korean_book", [str(picture)], tmp_path) == said
    assert tool.read("sroie", ["b.pdf"], tmp_path) == {}

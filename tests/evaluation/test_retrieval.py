"""Scores of rankings: trec_eval's numbers, copies that count, slices, and two runs compared."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.sources.queries import Query, read_queries
from penstock_eval.compare import compare_folders
from penstock_eval.retrieval import (
    metric_names,
    ndcg,
    once_each,
    reciprocal_rank,
    score_rankings,
    scores,
    write_scores,
)

PAGES = [f"p{number}" for number in range(60)]


def rankings(seed: int, count: int = 40) -> dict[str, list[str]]:
    chance = random.Random(seed)
    return {f"q{number}": chance.sample(PAGES, 30) for number in range(count)}


def queries(count: int = 40, most: int = 3) -> list[Query]:
    chance = random.Random(9)
    return [
        Query(
            id=f"q{number}",
            text="?",
            type=("text", "visual")[number % 2],
            domain="law",
            relevant=tuple(chance.sample(PAGES, chance.randint(1, most))),
        )
        for number in range(count)
    ]


def test_our_numbers_are_those_of_trec_eval() -> None:
    """mteb's retrieval scores are pytrec_eval's."""
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="no wheel of it for this machine")
    asked, found = queries(), rankings(1)
    truth = {query.id: dict.fromkeys(query.relevant, 1) for query in asked}
    run = {id: {page: float(100 - rank) for rank, page in enumerate(pages)} for id, pages in found.items()}
    names = {"recall.1,5,10", "ndcg_cut.5,10", "recip_rank"}
    theirs = pytrec_eval.RelevanceEvaluator(truth, names).evaluate(run)
    for query in asked:
        own = scores(found[query.id], frozenset(map(str, query.relevant)))
        for cutoff in (1, 5, 10):
            assert own[f"recall@{cutoff}"] == pytest.approx(theirs[query.id][f"recall_{cutoff}"], abs=1e-9)
        for cutoff in (5, 10):
            assert own[f"ndcg@{cutoff}"] == pytest.approx(theirs[query.id][f"ndcg_cut_{cutoff}"], abs=1e-9)
        whole = reciprocal_rank(found[query.id], frozenset(map(str, query.relevant)), cutoff=1000)
        assert whole == pytest.approx(theirs[query.id]["recip_rank"], abs=1e-9)


def test_a_copy_of_the_right_page_is_right() -> None:
    keys = {"p1": "same", "p2": "same", "p3": "other"}
    query = Query(id="q", text="?", relevant=("p1",))
    [result] = score_rankings([query], {"q": ["p2", "p3", "p1"]}, PAGES, keys)
    assert result.scores["recall@1"] == 0.0
    assert result.scores["recall@1-dup"] == 1.0
    assert result.scores["ndcg@10"] == 0.5
    assert once_each(["p2", "p3", "p1"], keys) == ["same", "other"]


def test_row_numbers_and_page_ids_both_name_pages() -> None:
    assert Query(id="q", text="?", relevant=(2, "p5", "7")).resolved(PAGES) == {"p2", "p5", "p7"}
    assert Query(id="q", text="?", relevant=(99,)).resolved(PAGES) == set()
    assert ndcg(["a"], frozenset({"a", "b"}), 1) == 1.0


def test_queries_without_a_page_here_are_left_out_and_counted(tmp_path: Path) -> None:
    asked = [Query(id="q0", text="?", relevant=(0,)), Query(id="q1", text="?", relevant=(999,))]
    results = score_rankings(asked, {"q0": ["p0"]}, PAGES)
    summary = write_scores(tmp_path, "text", results, len(asked))
    assert (summary.count, summary.warnings) == (1, ("1 queries name no page of this run and are left out.",))
    with pytest.raises(UsageError, match="No query names a page"):
        score_rankings(asked[1:], {}, PAGES)


def test_types_domains_intervals_and_two_runs_compared(tmp_path: Path) -> None:
    asked = queries()
    good = {query.id: [str(page) for page in query.relevant] for query in asked}
    for name, found in (("first", rankings(1)), ("second", good)):
        summary = write_scores(tmp_path / name, name, score_rankings(asked, found, PAGES), len(asked))
    assert set(summary.slices) == {"type:text", "type:visual", "domain:law"}
    assert summary.scores["ndcg@10"].mean == 1.0
    compared = compare_folders(tmp_path / "first", tmp_path / "second")
    assert {change.metric for change in compared.changes} == set(metric_names())
    assert {change.verdict for change in compared.changes} == {"better"}


def test_questions_come_from_any_common_file(tmp_path: Path) -> None:
    rows = [{"query": "하나", "type": "text", "ground_truth": [3]}, {"question": "two", "relevant": "p1"}]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "q.json").write_text(json.dumps(rows), "utf-8")
    (tmp_path / "q.txt").write_text("하나\ntwo\n", "utf-8")
    for name in ("q.jsonl", "q.json", "q.txt"):
        assert [query.text for query in read_queries(tmp_path / name)] == ["하나", "two"]
    assert read_queries(tmp_path / "q.jsonl")[0].relevant == (3,)
    (tmp_path / "bad.jsonl").write_text('{"answer": 1}', "utf-8")
    with pytest.raises(UsageError, match="row 1 has no query"):
        read_queries(tmp_path / "bad.jsonl")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.txt", b"\xff\xfe\x00", "UTF-8"),
        ("q.json", b"5", "has no query"),
        ("q.json", b"{", "not JSON"),
        ("q.jsonl", b'{"query": "a", "ground_truth": "[1,"}', "is not a list of pages"),
        ("q.jsonl", b'{"query": "a"}\n{"query": ""}', "row 2 has no query"),
        ("q.parquet", b"PAR1", "cannot be read"),
        ("q.arrow", b"ARROW1", "cannot be read"),
        ("q.txt", b" \n", "holds no queries"),
    ],
)
def test_a_broken_file_of_questions_is_a_sentence(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_queries(tmp_path / name)


def test_odd_numbers_name_no_page() -> None:
    odd = Query(id="q", text="?", relevant=("--1", "\u00b2", "-1", "7", 1))
    assert odd.resolved(["a", "b"]) == {"b"}

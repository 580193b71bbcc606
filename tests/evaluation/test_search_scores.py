"""Rankings of pages by their vectors, and the verb that scores them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.engines.embed.embedder import EMBEDDERS
from penstock.errors import UsageError
from penstock.passes.scores import read_summary
from penstock.retrieval import vectors
from penstock.sources.listing import SOURCES
from penstock.sources.queries import read_queries
from penstock.store.out import Out
from penstock_eval import search_scores
from penstock_eval.search_scores import by_vectors
from tests.passes.test_search_runs import RerankServer, run_of


def test_a_page_ranks_by_its_nearest_region_and_rows_without_a_vector_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_scores, "BLOCK", 2)  # three blocks, the last one short
    rows = [("a", (1, 0)), ("b", (0, 1)), ("a", (3, 4)), ("c", (0, 0)), ("d", (4, 3))]
    folder = tmp_path / vectors.FOLDER
    folder.mkdir()
    np.save(folder / f"{vectors.REGIONS}.npy", np.array([vector for _, vector in rows], "<f4"))
    lines = [
        {"id": f"{page}#{number}", "valid": any(vector), "page_id": page}
        for number, (page, vector) in enumerate(rows)
    ]
    (folder / f"{vectors.REGIONS}.ids.jsonl").write_text("\n".join(map(json.dumps, lines)))
    table = vectors.read(Out(tmp_path), vectors.REGIONS)
    assert table is not None
    questions = np.array([(0, 1), (1, 0)], "<f4")
    assert [ranking[:3] for ranking in by_vectors(questions, table)] == [["b", "a", "d"], ["a", "d", "b"]]


@pytest.fixture
def searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Three pages of a toy with toy vectors, and two questions that each have one right page."""
    monkeypatch.setitem(SOURCES, "toy", "tests.support.toys:count_up")
    monkeypatch.setitem(EMBEDDERS, "toy", "tests.support.toys:ToyEmbedder")
    out, queries = tmp_path / "out", tmp_path / "questions.jsonl"
    for page in penstock.parse("toy:3", out=out, recipe="tests.support.toys:shouting"):
        assert page.failure is None
    rows = [{"id": f"q{n}", "query": "toe", "ground_truth": [n], "type": "text"} for n in range(2)]
    queries.write_text("\n".join(map(json.dumps, rows)))
    return out, queries


def retrieval(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["eval", "retrieval", *map(str, arguments)])


def test_a_search_is_scored_by_a_verb_of_its_own(searched: tuple[Path, Path]) -> None:
    out, queries = searched
    penstock.embed(out, engine="toy", queries=queries)
    shown = retrieval(out, "--queries", queries, "--json")
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.stdout)["text"]
    # all pages say the same, so they rank by their ids: the right one is first, then second
    assert found["scores"]["recall@1"]["mean"] == 0.5
    assert found["scores"]["mrr@10"]["mean"] == 0.75
    assert found["scores"]["recall@1-dup"]["mean"] == 1.0
    assert found["slices"]["type:text"]["recall@5"]["mean"] == 1.0
    assert read_summary(out / "retrieval" / "text")["scores"] == found["scores"]
    assert "recall@1\t0.5000" in retrieval(out, "--queries", queries).stdout


def test_queries_that_were_not_embedded_are_a_sentence(searched: tuple[Path, Path]) -> None:
    out, queries = searched
    with pytest.raises(UsageError, match="has no vectors of these queries"):
        search_scores.evaluate_search(Out(out), read_queries(queries))


def test_a_served_reranker_is_scored_beside_what_it_was_given(tmp_path: Path) -> None:
    out = run_of(
        tmp_path / "out", road="The road to the turbine hall.", hall="Turbine by turbine by turbine."
    )
    (tmp_path / "questions.jsonl").write_text('{"query": "turbine", "ground_truth": ["road"]}')
    with RerankServer(likes="road") as server:
        shown = retrieval(out, "--queries", tmp_path / "questions.jsonl", "--rerank", server.url, "--json")
    assert shown.exit_code == 0, shown.output
    found = {name: one["scores"] for name, one in json.loads(shown.stdout).items()}
    assert list(found) == ["bm25", "reranked"]
    assert [found[name]["recall@1"]["mean"] for name in found] == [0.0, 1.0]
    assert found["bm25"]["ndcg@10"]["mean"] < found["reranked"]["ndcg@10"]["mean"] == 1.0


@pytest.mark.slow
def test_a_run_that_was_never_embedded_is_scored_by_its_words(small_run: Path, tmp_path: Path) -> None:
    """The questions were written from the sample's pages, not from what was read of them."""
    pytest.importorskip("lancedb")
    out = Path(shutil.copytree(small_run, tmp_path / "out"))
    penstock.index(out)
    asked = (
        ("How is the power of falling water computed from head and flow?", 2),
        ("Why must a penstock be exactly wide enough?", 0),
    )
    rows = [{"query": question, "ground_truth": [page]} for question, page in asked]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    shown = retrieval(out, "--queries", tmp_path / "questions.jsonl", "--json")
    found = json.loads(shown.stdout)
    assert list(found) == ["bm25"]
    assert found["bm25"]["scores"]["recall@1"]["mean"] == 1.0

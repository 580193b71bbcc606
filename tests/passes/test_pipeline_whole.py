"""Whole pipelines: from a dataset on a hub to results on one, killed twice, and by servers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from penstock.passes.pipeline_check import STEPS
from penstock.store.ledger import Ledger
from penstock.store.schema import PAGES
from penstock.testing.fake_server import FakeServer, serving
from tests.support.embedding_server import WIDTH, Server
from tests.support.hub_server import COMMIT, Hub
from tests.support.kopub_dataset import write_dataset
from tests.support.pipeline_calls import TOKEN, command, environment
from tests.support.waiting import wait_until


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_thirty_pages_twelve_questions_two_kills_and_everything_arrives(tmp_path: Path) -> None:
    write_dataset(tmp_path / "source")
    out = tmp_path / "output"
    with Hub() as hub:
        hub.add("test/kopub", tmp_path / "source")
        env = environment(hub, tmp_path)
        kill_when(command(tmp_path), env, lambda: any((out / "items").glob("*.parquet")))
        read_before = len(Ledger(out, PAGES).entries())
        kill_when(command(tmp_path), env, lambda: (out / "embeddings" / "queries.npy").exists())
        done = subprocess.run(
            command(tmp_path, "--resume"), env=env, capture_output=True, text=True, timeout=900
        )
        there = dict(hub.repos["me/results"])
        private = hub.private["me/results"]
        tokens = hub.tokens
    assert done.returncode == 0, done.stderr
    assert 0 < read_before <= 30
    assert len(Ledger(out, PAGES).entries()) == 30
    _check_tree(out)
    _check_scores(out, done.stdout)
    assert private
    assert f"Bearer {TOKEN}" in tokens
    for name in (
        "README.md",
        "ocr_results.jsonl",
        "parsed_texts.jsonl",
        "embeddings/queries.npy",
        "run.json",
    ):
        assert name in there
    assert (
        there["embeddings/corpus_ocr_text.npy"] == (out / "embeddings" / "corpus_ocr_text.npy").read_bytes()
    )
    assert b"| hybrid |" in there["README.md"]
    assert COMMIT.encode() in there["README.md"]
    assert not [path for path in out.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert not [name for name in there if name.startswith(("embed/", "index/", "tmp/"))]


def kill_when(arguments: list[str], env: dict[str, str], reached: Callable[[], object]) -> None:
    """Starts the pipeline and ends it with -9 as soon as it has got so far."""
    process = subprocess.Popen(arguments, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_until(lambda: process.poll() is not None or reached(), pause_s=0.02)
    assert process.poll() is None, process.stderr.read().decode() if process.stderr else ""
    process.kill()
    process.communicate()


def _check_tree(out: Path) -> None:
    """Seed 002's tree. Page pictures have no vectors: the embedded engine has no eyes, and says so."""
    results = [json.loads(line) for line in (out / "ocr_results.jsonl").read_text("utf-8").splitlines()]
    texts = [json.loads(line) for line in (out / "parsed_texts.jsonl").read_text("utf-8").splitlines()]
    assert len(results) == len(texts) == 30
    assert results[12]["page_id"] == "doc_1_page_2"
    assert {"page_id", "page_idx", "regions", "markdown", "image_crops"} <= set(results[0])
    [crop] = [crop["path"] for row in results for crop in row["image_crops"]]
    assert crop.startswith("crops/doc_2_page_8_crop_") and (out / crop).is_file()
    assert np.load(out / "embeddings" / "corpus_ocr_text.npy").shape == (30, 512)
    assert np.load(out / "embeddings" / "queries.npy").shape == (12, 512)
    assert not (out / "embeddings" / "corpus_images.npy").exists()
    assert json.loads((out / "run.json").read_text("utf-8"))["revision"] == COMMIT


def _check_scores(out: Path, said: str) -> None:
    summary = json.loads((out / "retrieval" / "hybrid" / "summary.json").read_text("utf-8"))
    assert summary["count"] == 12
    assert summary["scores"]["ndcg@10"]["mean"] > 0.8
    assert summary["scores"]["recall@10-dup"]["mean"] >= summary["scores"]["recall@10"]["mean"]
    assert {"type:text", "type:visual", "type:cross", "domain:society"} <= set(summary["slices"])
    assert "retrieval by hybrid: recall@1" in said
    assert "Pictures were left out" in said
    assert "uploaded: " in said


@pytest.mark.slow
def test_a_recipe_by_servers_reads_embeds_indexes_and_scores(tmp_path: Path) -> None:
    """With servers that run already: nothing is started, and nothing of theirs is stopped."""
    write_dataset(tmp_path / "set")
    out = tmp_path / "output"
    with serving(FakeServer(says=lambda asked: f"costs of item {asked.checksum}")) as url, Server() as other:
        where = ["--output-dir", str(out), "--data-dir", str(tmp_path), "--dataset", str(tmp_path / "set")]
        servers = ["--server", url, "--embedding-server", other.url, "--workers", "8"]
        recipe = ["--recipe", "glm-ocr", "--layout", "cdla", "--limit", "4", "--json"]
        asked = [sys.executable, "-m", "penstock", "run", "kopub", *recipe, *where, *servers]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    steps = [line.split()[1] for line in done.stderr.splitlines() if line.startswith("[")]
    assert steps == [f"{step}:" for step in STEPS]
    told = json.loads(done.stdout)
    assert told["pages"] == {"done": 4, "skipped": 0, "failed": 0}
    results = [json.loads(line) for line in (out / "ocr_results.jsonl").read_text("utf-8").splitlines()]
    assert all("costs of item" in row["markdown"] for row in results)
    assert np.load(out / "embeddings" / "corpus_images.npy").shape == (4, WIDTH)
    assert np.load(out / "embeddings" / "queries.npy").shape == (12, WIDTH)
    assert {"text", "image", "bm25", "hybrid"} <= set(told["scores"])

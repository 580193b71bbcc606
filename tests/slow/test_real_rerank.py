"""Reranking through a real server: SmolLM2-135M behind llama.cpp's /v1/rerank, on the CPU.

Needs what test_real_logprobs.py needs. The model was not made to judge texts: its order means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock.engines.rerank.server import ServerReranker
from tests.passes.test_search_runs import runs
from tests.support.small_model import small_model

__all__ = ["runs"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
TEXTS = ["Paris is the capital of France.", "수압관은 물을 터빈으로 보낸다.", "Bread needs yeast."]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with small_model("rerank") as address:
        yield address


def test_each_text_has_a_score_of_its_own_in_its_place(url: str) -> None:
    reranker = ServerReranker(url)
    scores = reranker.scores("What is the capital of France?", TEXTS)
    assert len({score for score in scores if score is not None}) == len(TEXTS)
    turned = reranker.scores("What is the capital of France?", TEXTS[::-1])
    assert turned == pytest.approx(scores[::-1], abs=1e-3)


def test_hits_stand_in_the_order_of_the_servers_scores(url: str, runs: tuple[Path, Path]) -> None:
    hits = penstock.search(runs, "turbine hall of the plant", rerank=url)
    assert len(hits) > 1
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert [hit.sources["rerank"][0] for hit in hits] == list(range(1, len(hits) + 1))

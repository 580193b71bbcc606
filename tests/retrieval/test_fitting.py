"""Whether a page answers a question at all, by what each source found best."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock.retrieval.fitting import LEAST, Evidence, evidence_of
from penstock.retrieval.hits import NO_FILTERS, PAGES, WEIGHTS
from penstock.retrieval.ranking import Ranked, ranked
from penstock.retrieval.searcher import Searcher
from penstock.store.out import Out
from tests.retrieval.test_small_index import made, small

__all__ = ["made"]
ROWS = {PAGES: 100}


def found(*values: float) -> Ranked:
    return ranked(PAGES, ((row, value, [f"page{row}"]) for row, value in enumerate(values)))


def test_a_near_page_or_one_with_the_words_fits_and_a_weak_nearest_does_not() -> None:
    near = evidence_of({"text": found(0.6, 0.2)}, 3, ROWS)
    assert near.likeness == 0.6 and near.fits("use")
    weak = evidence_of({"text": found(0.2, 0.1)}, 3, ROWS)
    assert weak.found and not weak.fits("use")
    worded = evidence_of({"text": found(0.2), "bm25": found(12.0)}, 3, ROWS)
    assert 0.2 < worded.words < 1.0 and worded.fits("use")
    assert not evidence_of({"text": found(0.2), "bm25": found(1.0)}, 3, ROWS).fits("use")


def test_what_is_not_known_of_an_embedder_refuses_nothing() -> None:
    assert Evidence(found=True, likeness=0.01, words=0.0).fits("somebody's")
    assert Evidence(found=True, likeness=None, words=0.01).fits("use")
    assert not evidence_of({"bm25": {}}, 2, ROWS).fits("use")


@pytest.mark.parametrize("least", [0.0, 99.0])
def test_both_indexes_say_that_nothing_fits(
    made: Path, monkeypatch: pytest.MonkeyPatch, least: float
) -> None:
    monkeypatch.setattr("penstock.retrieval.fitting.LEAST", {**LEAST, "toy": least})
    index, vector = small(made), np.array([1, 1, 0], np.float32)
    hits = index.search(["turbin"], vector, 3, NO_FILTERS, WEIGHTS, "toy")
    with Searcher(Out(made)) as searcher:
        monkeypatch.setattr(searcher, "_embedder", "toy")
        monkeypatch.setattr(searcher, "is_stale", False)
        large = searcher.search("turbine", vector, tokens=["turbin"], top=3)
    assert [hit.page_id for hit in hits] == [hit.page_id for hit in large]
    assert bool(hits) is (least == 0.0)

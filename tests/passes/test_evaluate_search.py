"""Rankings of pages by their vectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from penstock.passes import evaluate_search
from penstock.passes.evaluate_search import by_vectors
from penstock.retrieval import vectors
from penstock.store.out import Out


def test_a_page_ranks_by_its_nearest_region_and_rows_without_a_vector_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate_search, "BLOCK", 2)  # three blocks, the last one short
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

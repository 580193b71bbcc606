"""The quick way of a small run: what it does not load, that it answers as the large index does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from penstock.engines.embed import question_encoder
from penstock.engines.embed.question_encoder import QuestionEncoder
from penstock.engines.embed.universal_encoder import UniversalEncoder
from penstock.errors import StoreError
from penstock.passes.small_search import small_search
from penstock.retrieval import small_index
from penstock.retrieval.hits import NO_FILTERS, WEIGHTS, Filters, SearchOptions
from penstock.retrieval.index import build_rows
from penstock.retrieval.index_folder import FOLDER, open_index
from penstock.retrieval.index_rows import ChunkRow, PageRow, RegionRow, Widths
from penstock.retrieval.searcher import Searcher
from penstock.retrieval.small_index import ROWS, SmallIndex, korean_tokens
from penstock.sources import PageRange
from penstock.store.out import Out
from tests.support.toys import ToyEmbedder

# what a new process needs seconds for, and a small run does not need
HEAVY = ("lancedb", "pyarrow", "pandas", "kiwipiepy", "onnxruntime", "cv2", "PIL", "httpx", "rich", "ray")
TEXTS = [
    "the turbine turns, and the water falls",
    "a lake in the valley above the turbine hall",
    "turbine tables: water, head and flow of the turbine",
    "수문을 여는 방법은 어렵지 않다. 문지기가 돕는다.",
    "문지기가 도와 준 날의 일지",
]
WIDTHS = Widths(text=3, region=3)


def page(number: int, text: str) -> PageRow:
    vector = np.array([number, 1, -number % 3], np.float32)
    region = RegionRow(
        index=0,
        label="table" if "tables" in text else "text",
        box=(0, 0, 10, 10),
        text=text,
        section="Power > Water" if "water" in text else "",
        vector=vector,
    )
    picture = RegionRow(index=1, label="image", box=(0, 20, 10, 30), text="", crop="crops/a.jpg")
    chunk = ChunkRow(
        id=f"one#{number}", document="one", pages=(number,), page_ids=(f"one/{number}",),
        label="text", text=text,
    )  # fmt: skip
    return PageRow(
        id=f"one/{number}", document="one", page=number, text=text, digest=text,
        text_vector=vector, regions=(region, picture), chunks=(chunk,),
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("small")
    build_rows(out / FOLDER, [page(n, text) for n, text in enumerate(TEXTS, 1)], WIDTHS)
    return out


def small(out: Path) -> SmallIndex:
    reading = open_index(out / FOLDER)
    index = SmallIndex.at(reading.home)
    reading.close()
    assert index is not None
    return index


def test_search_from_the_shell_loads_neither_lancedb_nor_pyarrow_nor_kiwi(made: Path) -> None:
    call = ["search", str(made), "수문을 여는 turbines", "-k", "1", "--json"]
    watching = (
        "import sys; from penstock.cli.app import app\n"
        f"app({call!r}, standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", watching], capture_output=True, text=True, check=True, timeout=60
    )
    hits, loaded = ran.stdout.splitlines()
    assert json.loads(hits)[0]["page_id"] == "one/4"
    assert loaded == "[]"


@pytest.mark.parametrize(
    "filters",
    [
        NO_FILTERS,
        Filters(labels=("table",)),
        Filters(sections=("power",)),
        Filters(pages=PageRange.parse("2-3")),
        Filters(documents=("another",)),
    ],
)
def test_the_small_files_answer_as_the_large_index_does(made: Path, filters: Filters) -> None:
    vector = np.array([1, 2, 0.5], np.float32)
    with Searcher(Out(made)) as searcher:
        for tokens in (["turbin", "water"], ["수문", "열"], ["nowher"], []):
            large = searcher.search("any", vector, tokens=tokens, filters=filters)
            assert small(made).search(tokens, vector, 10, filters, WEIGHTS) == large


def test_korean_words_are_known_by_how_the_run_writes_them(made: Path) -> None:
    assert small(made).tokens("수문을 여는 이를 도와") == ["수문", "열", "돕"]
    forms = {"수문": ["수문"], "물": ["물"], "관리": ["관리"]}
    assert korean_tokens("수문관리는", forms) == ["수문", "관리"]
    assert korean_tokens("물은", forms) == ["물"]
    assert korean_tokens("물고기떼가", forms) == ["~물고", "~고기", "~기떼", "~떼가"]  # no fish, no water


def test_a_changed_page_changes_the_small_files_and_readers_of_the_old_ones_keep_theirs(
    tmp_path: Path,
) -> None:
    rows = [page(n, text) for n, text in enumerate(TEXTS, 1)]
    build_rows(tmp_path / FOLDER, rows, WIDTHS)
    with Searcher(Out(tmp_path)) as reading:
        build_rows(tmp_path / FOLDER, [page(1, "a heron"), *rows[1:]], WIDTHS)
        old = SmallIndex.at(reading._reading.home)
        assert old is not None
        assert not old.search(["heron"], None, 10, NO_FILTERS, WEIGHTS)
    new = small(tmp_path)
    assert [hit.page for hit in new.search(["heron"], None, 10, NO_FILTERS, WEIGHTS)] == [1]
    assert {"문지기", "돕"} <= set(new.tokens("문지기가 도와"))  # known from the first build


def test_a_large_run_has_no_small_files_and_is_left_to_the_large_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_index, "MAX_ROWS", 10)
    build_rows(tmp_path / FOLDER, [page(n, text) for n, text in enumerate(TEXTS, 1)], WIDTHS)
    assert not list(tmp_path.rglob(ROWS))
    assert small_search(tmp_path, "turbine", SearchOptions()) is None


def test_damaged_small_files_are_a_sentence(tmp_path: Path) -> None:
    build_rows(tmp_path / FOLDER, [page(1, "turbine")], WIDTHS)
    [path] = tmp_path.rglob(ROWS)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(StoreError, match="--rebuild"):
        small_search(tmp_path, "turbine", SearchOptions())


def test_the_encoder_for_one_question_gives_the_vectors_of_the_one_for_runs() -> None:
    texts = ["how far each gate stood open", "수압관은 무엇인가?", "東京タワー, Ελλάδα & ½ ﬁ", " ", "x" * 300]
    assert np.array_equal(QuestionEncoder().texts(texts), UniversalEncoder().texts(texts))


def test_a_package_of_another_make_is_opened_as_runs_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_encoder, "_tokenizer", lambda path: path.no_such_thing)
    monkeypatch.setattr(question_encoder, "UniversalEncoder", lambda threads: ToyEmbedder())
    assert QuestionEncoder().texts(["a gate"]).shape == ToyEmbedder().texts(["a gate"]).shape

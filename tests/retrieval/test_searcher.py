"""Search: words, snippets, fusion, filters, an index that is brought up to date, and the right page first."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.cli.running.search import BOLD, PLAIN, show, wrapped
from penstock.errors import EngineError, StoreError, UsageError
from penstock.processes.background import Background
from penstock.retrieval import index, index_folder, small_index, tokens
from penstock.retrieval.hits import Filters, Hit
from penstock.retrieval.index import PAGES_AT_ONCE, build_rows
from penstock.retrieval.index_folder import FOLDER
from penstock.retrieval.index_rows import PageRow, RegionRow, Widths
from penstock.retrieval.searcher import Searcher, probes
from penstock.retrieval.tokens import Tokeniser, question_tokens, snippet
from penstock.sources import PageRange
from penstock.store.out import Out
from tests.support.questions import QUESTIONS

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"


@pytest.fixture(scope="module")
def words() -> Tokeniser:
    return Tokeniser()


def test_korean_words_lose_their_endings_and_need_no_spaces(words: Tokeniser) -> None:
    spaced = {word.token for word in words.of("운영체제를 설치하는 방법")}
    joined = {word.token for word in words.of("운영체제를설치하는방법")}
    assert {"운영", "체제", "설치", "방법"} <= spaced & joined
    assert not {"를", "하는"} & spaced


def test_english_words_are_stemmed_and_symbols_part_words(words: Tokeniser) -> None:
    tokens = [word.token for word in words.of("Installing xp_cmdshell on MS-SQL 2019")]
    assert tokens == ["instal", "xp", "cmdshell", "on", "ms", "sql", "2019"]


def test_no_word_holds_a_space_and_every_word_knows_its_place(words: Tokeniser) -> None:
    text = "이안머독은 토이스토리에서 이름을 땄다. 東京都 Debian 3.0"
    found = words.of(text)
    assert all(" " not in word.token for word in found)
    assert all(0 <= word.start < word.end <= len(text) for word in found)
    assert "東京" in {word.token for word in found}


def test_a_snippet_marks_the_hit_where_most_words_stand(words: Tokeniser) -> None:
    text = "설치에 관한 말. " + "다른 이야기가 길게 이어진다. " * 20 + "운영체제 설치 방법은 다음과 같다."
    wanted = {word.token for word in words.of("설치 방법")}
    shown = snippet(text, words.of(text), wanted)
    assert "**설치**" in shown
    assert "**방법**" in shown
    assert shown.startswith("… ")


def page(number: int, text: str, vector: list[float], document: str = "one", label: str = "text") -> PageRow:
    row = np.array(vector, np.float32)
    region = RegionRow(index=0, label=label, box=(0, 0, 10, 10), text=text, vector=row)
    return PageRow(
        id=f"{document}/{number}",
        document=document,
        page=number,
        text=text,
        digest=text,
        text_vector=row,
        regions=(region,),
    )


WIDTHS = Widths(text=2, region=2)
ROWS = [
    page(1, "the turbine turns", [1, 0]),
    page(2, "a lake in the valley", [0, 1]),
    page(3, "turbine tables", [-1, 0], label="table"),
    page(1, "it's a turbine", [0, -1], document="it's two"),
]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    build_rows(tmp_path / FOLDER, ROWS, WIDTHS)
    return tmp_path


def test_words_and_vectors_are_fused_and_each_source_is_told(made: Path) -> None:
    hits = Searcher(Out(made)).search("turbines", np.array([0.0, 1.0], np.float32))
    by_id = {hit.page_id: hit for hit in hits}
    assert by_id["one/2"].sources["text"] == (1, 1.0)
    assert "bm25" not in by_id["one/2"].sources
    assert "bm25" in by_id["one/1"].sources
    only = Searcher(Out(made)).search(
        "lake", np.array([1.0, 0.0], np.float32), weights={"text": 0, "region": 0}
    )
    assert [hit.page_id for hit in only] == ["one/2"]
    assert only[0].snippet == "a **lake** in the valley"
    with pytest.raises(UsageError, match="There is no source"):
        Searcher(Out(made)).search("lake", weights={"magic": 1})


def test_a_table_with_few_vectors_is_compared_whole_however_many_rows_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "ANN_FROM", 8)
    rows = [page(number, f"mill {number}", [1, number]) for number in range(12)]
    bare = [replace(row, regions=tuple(replace(one, vector=None) for one in row.regions)) for row in rows[3:]]
    build_rows(tmp_path / FOLDER, [*rows[:3], *bare], WIDTHS)
    base = index.connect(index_folder.open_index(tmp_path / FOLDER).home)
    indexed = {
        name: {one.columns[0] for one in base.open_table(name).list_indices()}
        for name in ("pages", "regions")
    }
    assert "text_vector" in indexed["pages"]  # twelve vectors
    assert "vector" not in indexed["regions"]  # three vectors in twelve rows


def test_vectors_that_are_alike_are_indexed_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(index, "ANN_FROM", 8)
    build_rows(tmp_path / FOLDER, [page(number, f"mill {number}", [1, 0]) for number in range(12)], WIDTHS)
    assert capfd.readouterr().err == ""


def test_filters_by_document_page_and_label(made: Path) -> None:
    search = Searcher(Out(made)).search
    assert {h.page_id for h in search("turbine", filters=Filters(documents=("it's two",)))} == {"it's two/1"}
    assert {h.page_id for h in search("turbine", filters=Filters(pages=PageRange.parse("2-9")))} == {"one/3"}
    [hit] = search("turbine", filters=Filters(labels=("table",)))
    assert (hit.page_id, hit.label, hit.box) == ("one/3", "table", (0, 0, 10, 10))


def test_an_index_changes_only_what_has_changed(made: Path) -> None:
    again = build_rows(made / FOLDER, ROWS, WIDTHS)
    assert (again.pages, again.changed, again.removed) == (4, 0, 0)
    rows = [page(1, "a windmill", [1, 0]), *ROWS[1:3]]
    changed = build_rows(made / FOLDER, rows, WIDTHS)
    assert (changed.pages, changed.changed, changed.removed) == (3, 1, 1)
    search = Searcher(Out(made)).search
    assert [hit.page_id for hit in search("windmill")] == ["one/1"]
    assert {hit.page_id for hit in search("turbine")} == {"one/3"}


def test_an_unfinished_index_is_said_so_and_built_anew(made: Path) -> None:
    (made / FOLDER / "index.json").unlink()
    with pytest.raises(UsageError, match="no finished index"):
        Searcher(Out(made))
    assert build_rows(made / FOLDER, ROWS, WIDTHS).changed == 4


def test_a_reader_goes_on_while_the_index_is_built_anew(made: Path) -> None:
    homes = (made / FOLDER).glob
    with Searcher(Out(made)) as before:
        build_rows(made / FOLDER, [page(1, "a windmill", [1, 0])], WIDTHS)
        build_rows(made / FOLDER, [page(1, "a sawmill", [1, 0])], WIDTHS, rebuild=True)
        assert {hit.page_id for hit in before.search("turbine")} >= {"one/1", "one/3"}
        with Searcher(Out(made)) as after:
            assert not after.search("turbine")
            assert [hit.page_id for hit in after.search("sawmill")] == ["one/1"]
        assert len(list(homes("tables-*"))) == 2
    build_rows(made / FOLDER, ROWS, WIDTHS)
    assert len(list(homes("tables-*"))) == 1  # nobody reads the others any more


def test_a_build_that_ends_halfway_changes_nothing(made: Path) -> None:
    def rows() -> Iterator[PageRow]:
        yield page(9, "a windmill", [1, 0])
        raise KeyboardInterrupt

    many = [page(number, "a windmill", [1, 0]) for number in range(PAGES_AT_ONCE)]
    with pytest.raises(KeyboardInterrupt):
        build_rows(made / FOLDER, itertools.chain(many, rows()), WIDTHS)
    assert len(list((made / FOLDER).glob("tables-*"))) == 1
    with Searcher(Out(made)) as searcher:
        assert {hit.page_id for hit in searcher.search("turbine")} >= {"one/1", "one/3"}


def test_an_index_keeps_no_old_versions(made: Path) -> None:
    for word in ("windmill", "sawmill", "treadmill"):
        build_rows(made / FOLDER, [page(1, f"a {word}", [1, 0]), *ROWS[1:]], WIDTHS)
    [home] = (made / FOLDER).glob("tables-*")
    files = {table.stem: len(list(table.glob("data/*"))) for table in home.glob("*.lance")}
    assert files == {"pages": 1, "regions": 1, "chunks": 0}
    assert [len(list(table.glob("_indices/*"))) for table in home.glob("[pr]*.lance")] == [2, 2]


def test_vectors_of_another_model_are_never_compared(made: Path) -> None:
    build_rows(made / FOLDER, ROWS, replace(WIDTHS, made_by="a model"))
    embedded = made / "embeddings" / "embeddings.json"
    embedded.parent.mkdir()
    for model, stale in (("a model", False), ("another", True)):
        embedded.write_text(json.dumps({"fingerprint": model}))
        with Searcher(Out(made)) as searcher:
            [hit, *_] = searcher.search("turbine", np.asarray([1, 0], np.float32))
            assert (searcher.is_stale, "text" in hit.sources) == (stale, not stale)


def test_small_tables_are_searched_whole_and_large_ones_in_part() -> None:
    assert [probes(rows) for rows in (0, 4_000, 16_000, 100_000, 4_000_000)] == [1, 63, 78, 31, 20]


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_is_refused(made: Path, question: str) -> None:
    with Searcher(Out(made)) as searcher, pytest.raises(UsageError, match="empty"):
        searcher.search(question, np.asarray([1, 0], np.float32))


def test_wrong_filters_and_weights_are_sentences(made: Path) -> None:
    with pytest.raises(UsageError, match="no label 'tabel'"):
        Filters(labels=("tabel",))
    with Searcher(Out(made)) as searcher:
        for weight in (float("nan"), -1.0):
            with pytest.raises(UsageError, match="weight of text"):
                searcher.search("turbine", weights={"text": weight})
        assert not searcher.search("turbine", filters=Filters(pages=PageRange.parse("99999999999-")))
        assert searcher.documents() == ["it's two", "one"]


def test_a_damaged_index_is_a_sentence(made: Path) -> None:
    for file in (made / FOLDER).rglob("data/*.lance"):
        file.unlink()
    with Searcher(Out(made)) as searcher, pytest.raises(StoreError, match="--rebuild"):
        searcher.search("turbine")
    with pytest.raises(StoreError, match="--rebuild"):
        build_rows(made / FOLDER, ROWS, WIDTHS)
    assert build_rows(made / FOLDER, ROWS, WIDTHS, rebuild=True).changed == 4


def test_words_that_were_made_elsewhere_find_the_same(made: Path) -> None:
    with Searcher(Out(made)) as searcher:
        assert searcher.search("터빈 turbines", tokens=question_tokens("터빈 turbines")) == searcher.search(
            "터빈 turbines"
        )


def test_work_done_ahead_comes_back_with_its_result_or_its_error() -> None:
    with Background() as ahead:
        seven, wrong = ahead.do(partial(int, "7")), ahead.do(partial(int, "x"))
        assert seven.result() == 7
        with pytest.raises(EngineError, match="invalid literal"):
            wrong.result()


def test_work_that_nobody_waits_for_is_ended() -> None:
    with pytest.raises(UsageError), Background() as ahead:
        ahead.do(partial(time.sleep, 3600))
        raise UsageError("The call was wrong.")


@pytest.mark.parametrize("is_small", [True, False])
def test_a_question_on_the_command_line_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_small: bool
) -> None:
    if not is_small:
        monkeypatch.setattr(small_index, "MAX_ROWS", 0)
    made = tmp_path
    build_rows(made / FOLDER, ROWS, WIDTHS)
    asked = CliRunner().invoke(app, ["search", str(made), "turbines", "--top", "1", "--json"])
    assert [hit["page_id"] for hit in json.loads(asked.stdout)] == ["one/3"]
    missing = CliRunner().invoke(app, ["search", str(made / "nowhere"), "turbines"])
    assert "has no finished index" in str(missing.exception)
    monkeypatch.setattr(Background, "do", None)  # an empty one is refused before anything is loaded or asked
    empty = CliRunner().invoke(app, ["search", str(made), " "])
    assert "The question is empty" in str(empty.exception)


def test_a_document_cannot_speak_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show([Hit(page_id="a", document="[bold]a\x1b[2J", page=1, score=1, snippet="\x1b]0;owned\x07 [red]물")])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "[bold]a" in shown


def test_a_hit_is_three_lines_with_page_place_and_marks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hit = Hit(page_id="a", document="a.pdf", page=3, score=1, snippet="a **gate**", section="Log > May",
              label="complex_image", box=(600, 40, 900, 90), crop="crops/1.jpg")  # fmt: skip
    show([hit, replace(hit, box=None, section="", crop=None)])
    assert capsys.readouterr().out.splitlines() == [
        " 1. a.pdf, page 3, at the top right: figure (crops/1.jpg)",
        "    Log > May",
        "    a **gate**",
        " 2. a.pdf, page 3",
        "    a **gate**",
    ]
    monkeypatch.setattr("penstock.cli.running.search._is_coloured", lambda stream: True)
    show([hit])
    assert f"a {BOLD}gate{PLAIN}" in capsys.readouterr().out


def test_long_lines_are_cut_between_words_and_wide_letters_count_twice() -> None:
    assert wrapped("the **gate** is open", 8) == ["the **gate**", "is open"]
    assert wrapped("수문을 여는 방법", 12) == ["수문을 여는", "방법"]
    assert wrapped("averyveryverylongword a", 5) == ["averyveryverylongword", "a"]


def test_kiwi_comes_with_the_first_korean_question(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiwipiepy.Kiwi", None)
    tokens._kiwi.cache_clear()  # another test may have opened it in this process
    with Searcher(Out(made)) as searcher:
        assert searcher.search("turbines")
        with pytest.raises(TypeError):
            searcher.search("터빈")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "penstock", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_right_page_comes_first_for_eight_of_ten_questions(shared_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    inputs = [str(shared_data / "korean_text"), str(shared_data / "korean_pdf"), str(SAMPLE)]
    assert run("parse", *inputs, "-o", str(out), "--layout", "rules", "--quiet").returncode == 0
    assert run("embed", str(out), "--quiet").returncode == 0
    assert run("index", str(out)).returncode == 0
    shown = run("search", str(out), "설치 방법", "--json")
    assert shown.returncode == 0, shown.stderr
    assert "**설치**" in json.loads(shown.stdout)[0]["snippet"]
    assert " 1. " in run("search", str(out), "설치 방법").stdout
    first = [_first(out, question) for question, _, _ in QUESTIONS]
    right = [
        document in hit["document"] and hit["page"] == page
        for hit, (_, document, page) in zip(first, QUESTIONS, strict=True)
    ]
    assert sum(right) >= 8, list(zip(QUESTIONS, right, strict=True))


def _first(out: Path, question: str) -> dict[str, object]:
    found: list[dict[str, object]] = json.loads(
        run("search", str(out), question, "--top", "1", "--json").stdout
    )
    return found[0]

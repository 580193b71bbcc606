"""Vectors: what engines promise, what the pass keeps, and that nothing is ever mis-paired."""

from __future__ import annotations

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock.engines.embed.embedder import open_embedder, punctuated, unit_rows
from penstock.engines.embed.openai import ServerEmbedder
from penstock.errors import EngineError, Failure, OpenError, PlanMismatch, StoreError, UsageError
from penstock.page import Page
from penstock.passes.embed import EmbedOptions, EmbedSummary, embed_out
from penstock.passes.hub.card import card
from penstock.passes.questions import embed_question
from penstock.recipes import embed
from penstock.region import Asset, Region
from penstock.retrieval import vectors
from penstock.retrieval.hits import Hit
from penstock.retrieval.index import build
from penstock.retrieval.to_embed import PAGES_HOME
from penstock.store.ledger import Ledger, ShardWriter
from penstock.store.out import Out
from penstock.store.ownership import TMP
from penstock.store.schema import PAGES
from penstock.store.source_order import file_of, write_order
from tests.support.embedding_server import WIDTH, Server
from tests.support.waiting import HANGS_S

THREADS = 4


@pytest.fixture
def out(small_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_run, tmp_path / "out"))


def embed_run(out: Path, **options: Any) -> EmbedSummary:
    return embed_out(out, EmbedOptions(**options))


def by_server(out: Path, server: Server, *, device: str | None = None, **more: Any) -> EmbedSummary:
    """Texts embedded without a model to open."""
    settings = {"server": server.url, **({"device": device} if device else {})}
    return embed_run(out, engine="openai", images=False, settings=settings, **more)


def test_rows_are_cut_and_of_length_one_again() -> None:
    rows = unit_rows(np.array([[3.0, 4.0, 12.0]]), dimensions=2)
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]
    with pytest.raises(EngineError, match="without a direction"):
        unit_rows(np.zeros((1, 4)))


def test_an_instruction_ends_like_a_sentence() -> None:
    assert punctuated(" Find the page ") == "Find the page."
    assert punctuated("찾아라!") == "찾아라!"
    assert punctuated("") == "Represent the user's input."


def test_inputs_of_like_length_share_a_batch_under_its_budget() -> None:
    from penstock.engines.embed.qwen import EmbedInput, buckets

    lengths = [100, 1_400, 90, 1_300, 80, 20]
    inputs = [
        EmbedInput(n, "", object() if n in (1, 3) else None, length) for n, length in enumerate(lengths)
    ]
    batches = [[one.place for one in batch] for batch in buckets(inputs, max_tokens=3_000)]
    assert batches == [[1, 3], [0, 2, 4, 5]]  # pictures and texts apart, the longest first
    assert [len(batch) for batch in buckets(inputs, max_tokens=250)] == [1, 1, 2, 2]


def test_threads_that_search_at_once_all_answer_and_embeddings_work_afterwards(tmp_path: Path) -> None:
    out = tmp_path / "out"
    writer = ShardWriter(out, PAGES)
    for part, words in enumerate(("The turbine turns.", "A penstock feeds it.")):
        region = Region(label="text", index=0, box=(0, 0, 100, 20), content=words)
        size = {"width": 100, "height": 20}
        writer.add(Page(id=f"a/{part}", uri="a.pdf", document="a.pdf", part=part, regions=(region,), **size))
    writer.commit()
    embed_run(out)
    build(Out(out))
    alone = penstock.search(out, "turbine", top=3)
    starting = threading.Barrier(THREADS)

    def ask(_: int) -> list[Hit]:
        starting.wait(HANGS_S)
        return penstock.search(out, "turbine", top=3)

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(ask, range(THREADS))) == [alone] * THREADS
    assert open_embedder("use", {}).texts(["a turbine"]).shape == (1, 512)


def test_the_embedded_encoder_knows_korean_and_english_alike() -> None:
    engine = open_embedder("use", {})
    korean, english, other = engine.texts(
        [
            "고양이가 소파 위에서 잠을 잔다.",
            "The cat sleeps on the sofa.",
            "The bank raised its interest rates.",
        ]
    )
    assert np.linalg.norm(korean) == pytest.approx(1.0, abs=1e-5)
    assert korean @ english > korean @ other + 0.2
    with pytest.raises(EngineError, match="texts only"):
        engine.images([b"jpeg"], [""])


def test_a_server_gets_the_instruction_and_the_untouched_picture(tmp_path: Path) -> None:
    with Server() as server:
        engine = ServerEmbedder(server=server.url, dimensions=16)
        odd = "\0picture\0"  # what our own mark for the picture looks like
        rows = engine.images([b"\x89PNG one", b"two"], [f"a chart {odd}", ""], "Find it")
        engine.close()
    assert rows.shape == (2, 16)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    body = next(body for body in server.bodies if "a chart" in json.dumps(body))
    system, user = body["messages"]
    assert system["content"] == [{"type": "text", "text": "Find it."}]
    assert user["content"][0]["image_url"]["url"] == "data:image/png;base64,iVBORyBvbmU="
    assert user["content"][1] == {"type": "text", "text": f"a chart {odd}"}


def test_a_plain_server_gets_plain_texts_and_no_pictures() -> None:
    with Server(owner="someone") as server:
        engine = ServerEmbedder(server=server.url)
        assert engine.texts(["one", "two"]).shape == (2, WIDTH)
        with pytest.raises(EngineError, match="texts only"):
            engine.images([b"x"], [""])
        engine.close()
    assert {body["input"] for body in server.bodies} == {"one", "two"}


def test_a_busy_server_is_asked_again_and_a_long_text_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engines.json_server.FIRST_PAUSE_S", 0.01)
    with Server(fails=2) as server:
        engine = ServerEmbedder(server=server.url)
        assert engine.texts(["word " * 1_500]).shape == (1, WIDTH)
        engine.close()
    lengths = [len(body["messages"][1]["content"][0]["text"]) for body in server.bodies]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] <= 2_000


def test_a_server_that_is_not_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engines.json_server.FIRST_PAUSE_S", 0.001)
    with pytest.raises(OpenError, match="Is it running"):
        ServerEmbedder(server="http://127.0.0.1:9")
    with pytest.raises(UsageError, match="No server"):
        ServerEmbedder()
    with pytest.raises(UsageError, match="There is no embedder"):
        open_embedder("word2vec", {})


def test_a_server_that_goes_away_ends_the_run_and_fails_no_page(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.json_server.FIRST_PAUSE_S", 0.001)
    with Server() as server:
        engine = ServerEmbedder(server=server.url)
    monkeypatch.setattr("penstock.workers.embed.open_embedder", lambda *_: engine)
    with pytest.raises(OpenError, match="Is it running"):
        embed_run(out, engine="openai", images=False, settings={"server": server.url})
    assert not Ledger(out / PAGES_HOME, PAGES).entries()


@pytest.mark.parametrize(
    "address", ["not a url", "http://host:99999", "ftp://host", "http://", "http://[::1"]
)
def test_what_is_no_address_is_said_so(address: str) -> None:
    with pytest.raises(UsageError, match="not the address of a server"):
        ServerEmbedder(server=address)


def test_a_server_that_wants_a_key_says_which_option_gives_it() -> None:
    with Server(key="secret") as server:
        with pytest.raises(EngineError, match="--api-key"):
            ServerEmbedder(server=server.url, model="named")
        ServerEmbedder(server=server.url, api_key="secret").close()


def test_a_wrong_call_costs_no_vector_and_pins_no_plan(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engines.json_server.FIRST_PAUSE_S", 0.001)
    with pytest.raises(OpenError, match="Is it running"):
        embed_run(out, engine="openai", settings={"server": "http://127.0.0.1:9", "dimensions": 16})
    with Server() as server:
        assert by_server(out, server).pages == 3  # nothing was embedded by the other plan
        with pytest.raises(UsageError, match="does not take --device"):
            by_server(out, server, fresh=True, device="cuda")
        assert by_server(out, server).skipped == 3
    assert not (out / TMP).exists()


def test_a_page_that_failed_is_told_of_each_time(out: Path) -> None:
    writer = ShardWriter(out, PAGES)
    failure = Failure(stage="load", kind="BadInput", message="torn")
    writer.add(Page(id="torn", uri="", document="torn.pdf", failure=failure))
    writer.commit()
    with Server() as server:
        first, again = by_server(out, server), by_server(out, server)
    assert (first.failed, first.failed_before) == (1, 0)
    assert (again.failed, again.failed_before) == (0, 1)
    assert "1 of them failed before" in again.sentence()
    assert json.loads(json.dumps(first.facts()))["failures"][0][1] == "torn"


def test_the_card_counts_no_page_of_a_file_that_has_changed(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, PAGES)
    for version in ("a-1", "a-2"):
        page = Page(id=f"{version}/00000", uri="a.pdf", document="a.pdf", media="pdf")
        writer.add(page)
    writer.commit()
    write_order(tmp_path, {"a.pdf": file_of(page)})
    assert "# 1 page, read" in card(Out(tmp_path))


def test_a_folder_without_pages_is_left_as_it_was(tmp_path: Path) -> None:
    for call in (embed_run, lambda out: build(Out(out))):
        with pytest.raises(UsageError, match="holds no pages"):
            call(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_question_to_a_server_that_is_gone_names_the_way_without_it(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.json_server.FIRST_PAUSE_S", 0.001)
    about = out / "embeddings" / "embeddings.json"
    about.parent.mkdir()
    about.write_text(json.dumps({"engine": "openai", "server": "http://127.0.0.1:9"}))
    with pytest.raises(EngineError, match="search by words: --weights"):
        embed_question(out, "Where?")
    about.write_text("{half")
    with pytest.raises(StoreError, match="damaged"):
        embed_question(out, "Where?")


def test_a_query_may_be_called_anything(out: Path, tmp_path: Path) -> None:
    queries = tmp_path / "q.json"
    queries.write_text(json.dumps([{"id": "a\u2028b\x85c", "query": "물"}, {"id": "..", "query": "pipe"}]))
    with Server() as server:
        by_server(out, server, queries=queries)
    table = vectors.read(Out(out), vectors.QUERIES)
    assert table is not None
    assert table.ids == ["a\u2028b\x85c", ".."]


def test_pages_regions_and_queries_have_rows_that_match_the_results(out: Path, tmp_path: Path) -> None:
    asked = tmp_path / "questions.txt"
    asked.write_text("How wide is a penstock?\n수압관은 무엇인가?\n", encoding="utf-8")
    done = embed_run(out, queries=asked)
    assert done.pages == 3
    assert not done.images
    assert "Pictures were left out" in done.sentence()
    texts = vectors.read(Out(out), vectors.TEXTS)
    assert texts is not None
    assert isinstance(texts.array, np.memmap)
    assert texts.array.shape == (3, 512)
    assert texts.ids == vectors.result_ids(Out(out))
    assert vectors.read(Out(out), vectors.IMAGES) is None  # never a made-up vector
    asked_rows = vectors.read(Out(out), vectors.QUERIES)
    assert asked_rows is not None
    assert asked_rows.ids == ["q00000", "q00001"]
    regions = vectors.read(Out(out), vectors.REGIONS)
    assert regions is not None
    assert all(row["seen"] in ("", "text") for row in regions.facts)
    again = embed_run(out, queries=asked)
    assert (again.pages, again.skipped) == (0, 3)


def test_pages_are_drawn_by_half_of_the_cores(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "usable_cores", lambda: 16)
    drawn, embedded = embed.embed_pages(Out(out), "openai", server="http://127.0.0.1:1", model="m")
    assert (drawn.name, drawn.workers) == ("load", 8)
    assert embedded.name == "embed"


def test_with_eyes_pages_and_crops_are_embedded_as_pictures(out: Path) -> None:
    first = next(penstock.read(out))
    _reread(out, first.id, "a chart", label="chart", crop=Asset(path="crops/one.jpg", data=b"a jpeg"))
    with Server() as server:
        done = embed_run(out, engine="openai", settings={"server": server.url})
    assert done.images
    assert done.shapes["corpus_images"] == (3, WIDTH)
    pictures = [body for body in server.bodies if "image_url" in json.dumps(body)]
    regions = vectors.read(Out(out), vectors.REGIONS)
    assert regions is not None
    assert len(pictures) == 3 + sum(row["seen"] == "image" for row in regions.facts)
    assert [row["label"] for row in regions.facts if row["seen"] == "image"] == ["chart"]


@pytest.mark.parametrize(("precision", "close"), [("float16", 1e-3), ("int8", 2e-2)])
def test_smaller_numbers_keep_the_direction(out: Path, precision: str, close: float) -> None:
    with Server() as server:
        by_server(out, server)
        whole = vectors.read(Out(out), vectors.TEXTS)
        assert whole is not None
        exact = whole.unit()
        by_server(out, server, precision=precision)
    small = vectors.read(Out(out), vectors.TEXTS)
    assert small is not None
    assert small.array.dtype == precision
    assert np.abs((small.unit() * exact).sum(axis=1) - 1).max() < close


def test_another_engine_is_refused_in_the_same_out(out: Path) -> None:
    with Server() as server:
        by_server(out, server)
    with pytest.raises(PlanMismatch, match="engine"):
        embed_run(out)


def test_results_in_another_order_are_refused(out: Path) -> None:
    with Server() as server:
        by_server(out, server)
        lines = (out / "ocr_results.jsonl").read_text("utf-8").splitlines()
        (out / "ocr_results.jsonl").write_text("\n".join([lines[1], lines[0], lines[2]]) + "\n", "utf-8")
        with pytest.raises(UsageError, match="different from row 0"):
            by_server(out, server)
    with pytest.raises(StoreError, match="not those of"):
        vectors.read(Out(out), vectors.TEXTS)


def test_a_row_that_went_missing_is_refused(out: Path) -> None:
    with Server() as server:
        by_server(out, server)
    path = out / "embeddings" / "corpus_ocr_text.ids.jsonl"
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[:-1]) + "\n", "utf-8")
    with pytest.raises(StoreError, match="3 rows and 2 ids"):
        vectors.read(Out(out), vectors.TEXTS)
    path.unlink()
    with pytest.raises(StoreError, match="lost its ids"):
        vectors.read(Out(out), vectors.TEXTS)


@pytest.mark.slow
def test_a_vector_of_another_text_is_refused_and_then_made_anew(out: Path) -> None:
    embed_run(out)
    pages = list(penstock.read(out))
    _reread(out, pages[1].id, "entirely other words")
    with pytest.raises(UsageError, match="was read again"):
        vectors.write_pages(Out(out), regions="all")
    done = embed_run(out)
    assert (done.pages, done.skipped) == (1, 2)
    assert Ledger(out / PAGES_HOME, PAGES).entries()[pages[1].id].attempt == 2


def _reread(out: Path, page_id: str, text: str, **changes: Any) -> None:
    """A second attempt of one page, as `parse --retry-failed` would commit it."""
    page = next(page for page in penstock.read(out) if page.id == page_id)
    changed = replace(page.regions[0], content=text, **{"label": "text", **changes})
    regions = (changed, *page.regions[1:])
    writer = ShardWriter(out, PAGES)
    writer.add(replace(page, regions=regions, attempt=2))
    writer.commit()

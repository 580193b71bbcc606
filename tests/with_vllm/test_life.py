"""A real vLLM that is full, killed and stopped, with 40 pages and 40 pictures on their way."""

from __future__ import annotations

import os
import signal
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pypdfium2 as pdfium
import pytest

import penstock
from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.vllm.presets import preset
from penstock.engines.vllm.server import ManagedServer
from penstock.errors import EngineError, OpenError
from penstock.page import Page
from penstock.store.ledger import Ledger
from penstock.store.schema import PAGES
from tests.support.waiting import wait_until
from tests.with_vllm.test_recipe import SAMPLE, plan
from tests.with_vllm.tiny import ENV, KEY, PLAIN, PROMPT, SMALL, START_S, picture

pytestmark = pytest.mark.timeout(1_800)  # each blow costs a start


def open_client(server: ManagedServer, key: str = KEY, **more: int) -> ChatClient:
    return ChatClient([server.url], PLAIN, api_key=key, limit=40, down_s=900.0, **more)


def test_a_wrong_key_is_a_sentence(fragile: ManagedServer) -> None:
    with open_client(fragile, key="wrong") as client, pytest.raises(OpenError, match="Unauthorized"):
        client.ask([ChatRequest(picture(100, 100), PROMPT, 8)])


def test_a_full_server_turns_some_away_and_answers_all(fragile: ManagedServer) -> None:
    with open_client(fragile) as client:
        outcomes = client.ask([ChatRequest(picture(200, 100, n), PROMPT, 16) for n in range(40)])
        stats = client.stats()
    assert all(isinstance(outcome, Answer) for outcome in outcomes)
    assert stats["busy"] > 0
    assert stats["limit"] < 40


def test_a_picture_over_the_encoder_budget_is_scaled_and_read(fragile: ManagedServer) -> None:
    size = {"shortest_edge": 12_544, "longest_edge": 9_633_792}  # as published; this server allows less
    larger = replace(PLAIN, sampling={**PLAIN.sampling, "mm_processor_kwargs": {"size": size}})
    with ChatClient([fragile.url], larger, api_key=KEY) as client:
        (answer,) = client.ask([ChatRequest(picture(2_000, 1_800), PROMPT, 8)])
    assert isinstance(answer, Answer), answer
    assert "the server encodes at most 1024 at once" in answer.notes[0]
    assert 700 < answer.prompt_tokens < 1_100


@pytest.fixture
def forty_pages(tmp_path: Path) -> Path:
    document = pdfium.PdfDocument.new()
    document.import_pages(pdfium.PdfDocument(SAMPLE), [0, 1, 2, 3] * 10)
    document.save(tmp_path / "forty.pdf")
    return tmp_path / "forty.pdf"


@pytest.mark.usefixtures("tiny_recogniser")
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_forty_pages_and_forty_pictures_survive_a_blow(
    fragile: ManagedServer, blow: signal.Signals, forty_pages: Path, tmp_path: Path
) -> None:
    """A run and a client ask at the same time: one blow, and one start after it, is seen by both."""
    before, out = fragile.restarts, tmp_path / "out"
    done: list[Page] = []
    outcomes: list[Answer | EngineError] = []
    recipe = plan(fragile.url, labels=("text",), api_key=KEY)
    struck = Event()

    def read() -> None:
        # as they end: in the order of the file all of them may wait for the first
        for page in penstock.parse(forty_pages, out=out, recipe=recipe, order="completion"):
            done.append(page)

    def ask_until_struck() -> None:  # other pictures each time: those that were answered are not sent again
        for first in count(step=40):
            wanted = range(first, first + 40)
            outcomes.extend(client.ask([ChatRequest(picture(250, 150, n), PROMPT, 64) for n in wanted]))
            if struck.is_set():
                return

    runner, asker = Thread(target=read, daemon=True), Thread(target=ask_until_struck, daemon=True)
    with open_client(fragile) as client:
        runner.start()
        asker.start()
        try:
            wait_until(lambda: len(done) >= 2 and client.stats()["answered"] >= 1, 300.0)
            assert len(done) < 40  # the run is under way
            assert fragile.pid is not None
            os.killpg(fragile.pid, blow)
        finally:
            struck.set()  # or it would ask for ever
        asker.join(timeout=1_500)
        runner.join(timeout=1_500)
        stats = client.stats()
    assert [o for o in outcomes if not isinstance(o, Answer)] == []
    assert len(outcomes) == stats["answered"]  # each once
    assert stats["lost"] > 0
    assert not runner.is_alive() and not asker.is_alive()
    ids = Counter(entry.id for entry in Ledger(out, PAGES)._all_entries())
    assert (len(ids), set(ids.values())) == (40, {1})
    assert not [page for page in penstock.read(out) if page.failure or any(r.failure for r in page.regions)]
    assert fragile.restarts == before + 1


def test_a_server_that_cannot_start_gives_the_logs_reason(checkpoints: Path, tmp_path: Path) -> None:
    server = ManagedServer(
        str(checkpoints / "not-there"),
        preset("cpu"),
        extra_args=SMALL,
        log_path=tmp_path / "server.log",
        env=ENV,
        deadline_s=START_S,
    )
    with pytest.raises(OpenError, match=r"did not start: .*not-there"):
        server.start()

"""Claims about questions to several runs and about served rerankers."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.errors import EngineError, OpenError, UsageError
from penstock.page import Page
from penstock.passes.index import index_out
from penstock.region import Line, Region
from penstock.store.ledger import ShardWriter
from penstock.store.schema import PAGES
from tests.support.local_server import LocalServer
from tests.support.needs import needs_search

pytestmark = needs_search


def run_of(out: Path, **texts: str) -> Path:
    """A run of one page a document, with an index of words."""
    writer = ShardWriter(out, PAGES)
    for name, text in texts.items():
        line = Line(text=text, box=(0, 0, 900, 30))
        region = Region(label="text", box=(0, 0, 900, 30), lines=(line,), content=text)
        document = f"{name}.pdf"
        page = Page(
            id=name, uri="", document=document, width=900, height=900, regions=(region,), markdown=text
        )
        writer.add(page)
    writer.commit()
    index_out(out, rebuild=False)
    return out


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    first = run_of(
        folder / "first", lake="The lake lies in the valley.", road="The road leads to the turbine hall."
    )
    second = run_of(
        folder / "second", turbine="The turbine of the plant: turbine and penstock.", hut="A hut on the hill."
    )
    return first, second


class RerankServer(LocalServer):
    """Likes texts that hold `likes`. `says` takes the place of its answer; it keeps what it was sent."""

    def __init__(self, likes: str = "", says: Any = None, status: int = 200) -> None:
        self.bodies: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                self._send(200, {"data": [{"id": "judge"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.bodies.append({**body, "path": self.path, "key": self.headers["Authorization"]})
                rows = [
                    {"index": n, "relevance_score": 0.9 if likes in text else 0.1}
                    for n, text in enumerate(body["documents"])
                ]
                self._send(status, {"results": rows} if says is None else says)

            def _send(self, code: int, value: Any) -> None:
                data = json.dumps(value).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        super().__init__(Handler)


def test_several_runs_answer_as_one_and_each_hit_says_whose_it_is(runs: tuple[Path, Path]) -> None:
    hits = penstock.search(runs, "turbine")
    assert [(hit.document, hit.out) for hit in hits] == [
        ("turbine.pdf", str(runs[1])),
        ("road.pdf", str(runs[0])),
    ]
    assert [hit.out for hit in penstock.search(runs[0], "turbine")] == [""]


def test_the_shell_names_further_runs(runs: tuple[Path, Path]) -> None:
    told = CliRunner().invoke(app, ["search", str(runs[0]), "turbine", "-o", str(runs[1]), "-k", "1"])
    assert told.exit_code == 0 and f"turbine.pdf ({runs[1]}), page 1" in told.output


def test_a_locator_is_found_in_the_run_that_has_it(runs: tuple[Path, Path]) -> None:
    [hit] = penstock.search(runs, "penstock:hut.pdf/p1")
    assert hit.document == "hut.pdf"
    with pytest.raises(UsageError):
        penstock.search(runs, "penstock:nowhere.pdf/p1")


def test_a_reranker_has_the_last_word_and_reads_the_whole_text(runs: tuple[Path, Path]) -> None:
    with RerankServer(likes="road") as server:
        hits = penstock.search(runs, "turbine", rerank=server.url, rerank_key="k", top=1)
    assert [(hit.document, hit.score, hit.sources["rerank"]) for hit in hits] == [("road.pdf", 0.9, (1, 0.9))]
    [asked] = server.bodies
    assert (asked["path"], asked["model"], asked["query"], asked["key"]) == (
        "/v1/rerank", "judge", "turbine", "Bearer k",
    )  # fmt: skip
    assert "The turbine of the plant: turbine and penstock." in asked["documents"]


@pytest.mark.parametrize(
    "says",
    [
        {},
        [],
        {"results": 3},
        {"results": [{"index": 0}]},
        {"results": [{"index": 0, "relevance_score": "x"}]},
    ],
)
def test_an_answer_that_is_no_ranking_is_a_sentence(runs: tuple[Path, Path], says: Any) -> None:
    with RerankServer(says=says) as server, pytest.raises(EngineError, match="no list of relevances"):
        penstock.search(runs[0], "turbine", rerank=server.url)


def test_what_a_reranker_left_out_or_made_up_changes_nothing(runs: tuple[Path, Path]) -> None:
    rows = [{"index": 7, "relevance_score": 1.0}, {"index": -1, "relevance_score": 1.0}]
    with RerankServer(says={"results": [*rows, {"index": 1, "relevance_score": 0.5}]}) as server:
        hits = penstock.search(runs, "turbine", rerank=server.url)
    assert [hit.document for hit in hits] == ["road.pdf", "turbine.pdf"]


def test_a_reranker_that_refuses_or_is_not_there_is_named(
    runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.json_server.FIRST_PAUSE_S", 0.001)
    with RerankServer(status=400, says={"error": "no such model"}) as server:
        with pytest.raises(EngineError, match="no such model"):
            penstock.search(runs[0], "turbine", rerank=server.url, rerank_model="x")
        url = server.url
    with pytest.raises(OpenError, match="did not answer"):
        penstock.search(runs[0], "turbine", rerank=url)


def test_a_question_whose_words_no_page_holds_finds_nothing(runs: tuple[Path, Path]) -> None:
    assert penstock.search(runs, "what is the sea of the moon") == []
    assert {hit.document for hit in penstock.search(runs, "the")} >= {"lake.pdf", "turbine.pdf"}


def test_words_that_say_nothing_are_not_marked(runs: tuple[Path, Path]) -> None:
    [hit] = penstock.search(runs[0], "what is the lake in the valley", top=1)
    assert hit.snippet == "The **lake** lies in the **valley**."

"""Every request over standard input gets an answer, whatever is in it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp.server.mcpserver", reason="needs penstock-pipeline[mcp]")

from penstock.agents.documents import AgentDocuments
from penstock.agents.files import AllowedFiles
from penstock.agents.server import Auth, mcp_server
from penstock.agents.stdio import serve_stdio
from penstock.agents.tools import AgentTools
from penstock.testing.fake_recipe import fake
from tests.agents.test_clients import OverHttp

HALF = "\\ud83d"  # as JSON writes half of a character
HELLO = {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
}  # fmt: skip
GREETED = '{"jsonrpc": "2.0", "method": "notifications/initialized"}'
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[AgentTools]:
    files = AllowedFiles([], 1 << 20)
    with AgentDocuments(tmp_path / "out", fake(), files) as documents:
        yield AgentTools(documents, files)


def request(id: object, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


class Agent:
    """A program that sends lines, and goes when it has as many answers: both ends of a pipe."""

    def __init__(self, lines: list[str], wanted: int) -> None:
        self._lines, self._wanted = lines, wanted
        self._all = anyio.Event()
        self.answers: dict[Any, dict[str, Any]] = {}

    async def __aiter__(self) -> AsyncIterator[str]:
        for line in self._lines:
            yield f"{line}\n"
        await self._all.wait()

    async def write(self, line: str) -> None:
        answer = json.loads(line)
        self.answers[answer.get("id")] = answer
        if len(self.answers) == self._wanted:
            self._all.set()

    async def flush(self) -> None:
        """Nothing is kept back."""


def answers(tools: AgentTools, *lines: str, wanted: int | None = None) -> dict[Any, dict[str, Any]]:
    """What the server writes for a greeting and these lines, by id."""

    async def served() -> Agent:
        agent = Agent([request(0, "initialize", **HELLO), GREETED, *lines], wanted or 1 + len(lines))
        pipe: Any = agent
        with anyio.fail_after(60):
            await serve_stdio(mcp_server(tools), pipe, pipe)
        return agent

    return anyio.run(served).answers


def test_half_of_a_character_is_answered(tools: AgentTools) -> None:
    call = request(1, "tools/call", name="read_page", arguments={"document": "a HALF b", "page": 1})
    answer = answers(tools, call.replace("HALF", HALF))[1]
    assert "There is no document" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        ("nonsense", None, -32700),
        ("[" * 100_000, None, -32700),
        ("[]", None, -32600),
        ('{"jsonrpc": "2.0", "id": 7}', 7, -32600),
        ('{"jsonrpc": "1.0", "id": "' + HALF + '", "method": "ping"}', "?", -32600),
    ],
    ids=["no JSON", "too deep", "a list", "no method", "an id of half a character"],
)
def test_what_is_no_request_gets_an_error_and_the_next_is_answered(
    tools: AgentTools, line: str, id: object, code: int
) -> None:
    found = answers(tools, line, request(1, "ping"))
    assert found[id]["error"]["code"] == code
    assert "result" in found[1]


# what JSON can hold and no answer can bear; NaN is none of JSON, and Python writes it
UNUSABLE_IDS = ["1.5", "1.0", "null", "NaN", "1e999", "true", "[1]", '{"a": 1}']


@pytest.mark.parametrize("id", UNUSABLE_IDS)
def test_a_request_whose_id_no_answer_can_bear_gets_an_error(tools: AgentTools, id: str) -> None:
    found = answers(tools, f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/list"}}', request(1, "ping"))
    assert found[None]["error"]["code"] == -32600
    assert "result" in found[1]


@pytest.mark.parametrize("id", ["-3", str(10**40), '""', '"a"'])
def test_strings_and_whole_numbers_come_back_as_they_were(tools: AgentTools, id: str) -> None:
    found = answers(tools, f'{{"jsonrpc": "2.0", "id": {id}, "method": "ping"}}')
    assert json.loads(id) in found


def test_what_wants_no_answer_gets_none(tools: AgentTools) -> None:
    lines = ['{"jsonrpc": "2.0", "method": "tools/list"}', '{"jsonrpc": "2.0", "id": 9, "result": {}}']
    assert set(answers(tools, *lines, request(1, "ping"), wanted=2)) == {0, 1}


def test_over_http_a_request_whose_id_no_answer_can_bear_is_refused(tools: AgentTools) -> None:
    with OverHttp(tools, Auth()) as url:
        for id in UNUSABLE_IDS:
            body = f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/list"}}'.encode()
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(url, body, HEADERS), timeout=60)
            with refused.value as answer:
                told = json.loads(answer.read())
            assert (answer.code, told["id"], told["error"]["code"]) == (400, None, -32600)


def test_over_http_half_of_a_character_is_answered(tools: AgentTools) -> None:
    body = request(1, "tools/list", cursor="HALF").replace("HALF", HALF).encode()
    with OverHttp(tools, Auth()) as url:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(url, body, HEADERS), timeout=60)
        with refused.value as answer:
            assert (answer.code, json.loads(answer.read())["error"]["code"]) == (400, -32700)

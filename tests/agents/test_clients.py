"""The official SDK's client lists and calls every tool; the guide's configurations start what they name."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
import shutil
import socket
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

pytest.importorskip("mcp.server.mcpserver", reason="needs penstock-pipeline[mcp]")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from penstock.agents import sent_contents
from penstock.agents.documents import AgentDocuments
from penstock.agents.files import AllowedFiles
from penstock.agents.server import Auth, http_app, mcp_server
from penstock.agents.tools import AgentTools
from penstock.serve.guard.keys import KeyRing, new_key
from penstock.serve.server import server_of
from penstock.testing import FAKE
from penstock.testing.fake_recipe import fake
from tests.conftest import REPO
from tests.support.running_service import SAMPLE

GUIDE = REPO / "docs" / "how-to" / "mcp.md"
PHOTO = REPO / "tests" / "fixtures" / "sofa.jpg"
TOOLS = {"parse", "list_documents", "read_page", "read_region", "read_locator", "search", "measure_photo"}


async def told(client: Client, tool: str, **given: Any) -> tuple[str, bytes | None]:
    """The texts of an answer, and its picture."""
    answer = await client.call_tool(tool, given)
    texts = [part.text for part in answer.content if part.type == "text"]
    pictures = [base64.b64decode(part.data) for part in answer.content if part.type == "image"]
    assert not answer.is_error, texts
    return "\n".join(texts), pictures[0] if pictures else None


async def refusal(client: Client, tool: str, **given: Any) -> str:
    answer = await client.call_tool(tool, given)
    assert answer.is_error
    [part] = answer.content
    assert part.type == "text"
    return part.text


def started(*given: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "penstock", *given], env={**os.environ})


@pytest.mark.slow  # processes are started, an index is made, a photo is measured: 20 s
def test_the_sdks_client_calls_every_tool_over_stdio(tmp_path: Path) -> None:
    for package in ("lancedb", "kiwipiepy", "scipy"):
        pytest.importorskip(package, reason="needs penstock-pipeline[all]")
    shutil.copy(SAMPLE, tmp_path / "report.pdf")
    asyncio.run(_every_tool(tmp_path))


async def _every_tool(folder: Path) -> None:
    server = started("mcp", "--recipe", FAKE, "--allow-folder", str(folder))
    async with Client(stdio_client(server)) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == TOOLS
        assert all(tool.description and tool.annotations for tool in listed.values())
        text, _ = await told(client, "parse", path=str(folder / "report.pdf"), wait_s=200)
        assert "/report.pdf: 4 pages, all read." in text
        assert "<!-- page 4 -->" in text
        assert "report.pdf" in (await told(client, "list_documents"))[0]
        text, jpeg = await told(
            client, "read_page", document="report.pdf", page=2, regions=True, picture=True
        )
        assert "page 2 of 4: 2 regions" in text
        word = re.findall(r"\w{12}", text)[-1]
        assert jpeg is not None
        whole = Image.open(io.BytesIO(jpeg))
        text, jpeg = await told(client, "read_region", document="report.pdf", page=2, region=0, picture=True)
        assert "region 0: heading" in text
        assert jpeg is not None
        part = Image.open(io.BytesIO(jpeg))
        assert (part.width, part.height < whole.height / 5) == (whole.width, True)
        assert "page 2" in (await told(client, "search", query=word, top=1))[0]
        photo = {"content": base64.b64encode(PHOTO.read_bytes()).decode(), "name": "sofa.jpg"}
        text, jpeg = await told(client, "measure_photo", **photo, boxes=["20,60,300,150:sofa"], picture=True)
        assert re.search(r"1\. sofa, box .* m³, likely", text)
        assert jpeg is not None
        assert "may be read" in await refusal(client, "parse", path="/etc/passwd")


@pytest.mark.slow  # processes are started: 5 s each
@pytest.mark.parametrize("number", [0, 1], ids=["claude", "vscode"])
def test_a_configuration_of_the_guide_starts_a_server(number: int, tmp_path: Path) -> None:
    found = re.findall(r"```json\n(.*?)```", GUIDE.read_text("utf-8"), re.S)[number]
    [servers] = json.loads(found).values()
    given = servers["penstock"]
    assert given["command"] == "penstock"
    assert given.get("type", "stdio") == "stdio"
    arguments = [word.replace("/home/ann/Documents", str(tmp_path)) for word in given["args"]]

    async def listed() -> set[str]:
        parameters = started(*arguments)
        parameters.cwd = str(tmp_path)
        async with Client(stdio_client(parameters)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(listed()) == TOOLS


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[AgentTools]:
    files = AllowedFiles([], 1 << 20)
    with AgentDocuments(tmp_path / "out", fake(), files) as documents:
        yield AgentTools(documents, files)


def test_tools_say_what_they_take_and_wrong_calls_are_sentences(tools: AgentTools) -> None:
    async def asked() -> None:
        async with Client(mcp_server(tools, "Hello.")) as client:
            assert (client.instructions or "").endswith("Hello.")
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(listed) == TOOLS
            properties = listed["read_page"].input_schema["properties"]
            assert properties["page"]["minimum"] == 1
            assert properties["max_chars"]["maximum"] == 20_000
            assert "either `path` or `content`" in await refusal(client, "parse")
            assert "not base64" in await refusal(client, "parse", content="???")
            assert "greater than or equal to 1" in await refusal(client, "read_page", document="a", page=0)

    asyncio.run(asked())


def test_a_run_that_is_only_shown_has_no_tool_that_takes(tmp_path: Path) -> None:
    files = AllowedFiles([], 1 << 20)
    with AgentDocuments(tmp_path, None, files) as documents:
        shown = AgentTools(documents, files)
        assert {tool.__name__ for tool in shown.all()} == TOOLS - {"parse"}
        assert "no document" in str(shown.list_documents()[0])


class OverHttp:
    """The tools on a port of their own, in a thread."""

    def __init__(self, tools: AgentTools, auth: Auth) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._server = server_of(http_app(mcp_server(tools), auth))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/mcp"

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


def status(url: str, **headers: str) -> int:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, given), timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as exc:
        with exc:
            return exc.code


def test_over_http_the_client_lists_tools_and_strangers_are_refused(tools: AgentTools) -> None:
    async def listed(url: str) -> set[str]:
        async with Client(url) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    with OverHttp(tools, Auth()) as url:
        assert asyncio.run(listed(url)) == TOOLS
        assert status(url, Host="evil.example") == 403
        assert status(url, Origin="https://evil.example") == 403


def asked(url: str, body: bytes, method: str = "POST") -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    try:
        request = urllib.request.Request(url, body or None, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status), answer.read()
    except urllib.error.HTTPError as exc:
        with exc:
            return exc.code, exc.read()


def test_over_http_nobody_uses_up_the_sessions(tools: AgentTools) -> None:
    begin = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
    with OverHttp(tools, Auth()) as url:
        assert {asked(url, json.dumps(begin).encode())[0] for _ in range(70)} == {200}
        assert asked(url, b"", "GET")[0] == 405  # there is no session to be followed

        async def listed() -> int:
            async with Client(url) as client:
                return len((await client.list_tools()).tools)

        assert asyncio.run(listed()) == len(TOOLS)


def test_over_http_a_message_fills_no_memory(tools: AgentTools) -> None:
    with OverHttp(tools, Auth()) as url:
        for body in (b"[" + b"[]," * 30_000, b'{"a":"' + b"x y " * (1 << 21), b'["' + b"!" * (5 << 20)):
            status, told = asked(url, body)
            assert (status, bool(json.loads(told)["error"])) == (413, True)
        assert asked(url, b'{"a":"' + b"A" * 30_001 + b'"}')[0] == 422
        assert asked(url, b'{"a":"never ends')[0] == 400


def test_over_http_a_large_file_is_read_and_each_page_is_told(tools: AgentTools) -> None:
    large = SAMPLE.read_bytes() + b"%" * (900_000 - SAMPLE.stat().st_size)
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async def read(url: str) -> None:
        given = {"content": base64.b64encode(large).decode(), "name": "large.pdf", "wait_s": 200}
        async with Client(url) as client:
            answer = await client.call_tool("parse", given, progress_callback=note)
            assert not answer.is_error, answer.content
            assert "large.pdf" in (await told(client, "list_documents"))[0]

    with OverHttp(tools, Auth()) as url:
        asyncio.run(read(url))
    assert seen[-1] == 4
    assert not sent_contents._sent


def test_over_http_a_key_is_asked_for(tools: AgentTools, tmp_path: Path) -> None:
    key = new_key(tmp_path / "keys.json", "ann")
    reader = new_key(tmp_path / "keys.json", "bob", "read")
    with OverHttp(tools, Auth(keys=KeyRing.open(tmp_path / "keys.json"))) as url:
        assert status(url) == 401
        assert status(url, Authorization=f"Bearer {reader}") == 403
        assert status(url, Authorization=f"Bearer {key}") not in (401, 403)


def test_the_client_is_told_of_each_page(tools: AgentTools) -> None:
    seen: list[tuple[float, float | None]] = []

    async def asked() -> None:
        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))
            assert message == f"{progress:g} of 4 pages are read."

        given = {"content": base64.b64encode(SAMPLE.read_bytes()).decode(), "name": "report.pdf"}
        async with Client(mcp_server(tools)) as client:
            answer = await client.call_tool("parse", {**given, "wait_s": 200}, progress_callback=note)
            assert not answer.is_error, answer.content
            # without a wish for progress the same call says the same
            assert (await told(client, "parse", **given))[0] == answer.content[0].text  # type: ignore[union-attr]

    asyncio.run(asked())
    assert seen[-1] == (4, 4)
    assert seen == sorted(set(seen))


def test_over_http_one_key_sees_nothing_of_another(tools: AgentTools, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    keys = {name: new_key(path, name, scope) for name, scope in
            (("ann", "write"), ("bob", "write"), ("boss", "admin"))}  # fmt: skip
    given = {"content": base64.b64encode(SAMPLE.read_bytes()).decode(), "name": "secret.pdf", "wait_s": 200}
    with OverHttp(tools, Auth(keys=KeyRing.open(path))) as url:
        asyncio.run(_two_keys(url, keys, given))


async def _two_keys(url: str, keys: dict[str, str], given: dict[str, Any]) -> None:
    async with _with_key(url, keys["ann"]) as ann, _with_key(url, keys["bob"]) as bob:
        [name] = re.findall(r"\w+/secret\.pdf", (await told(ann, "parse", **given))[0])
        assert "secret" in (await told(ann, "list_documents"))[0]
        assert "secret" not in (await told(bob, "list_documents"))[0]
        for document in (name, "secret.pdf"):
            said = await refusal(bob, "read_page", document=document, page=1)
            assert said.endswith(f"There is no document {document!r}. Call parse.")
            assert "no document" in await refusal(bob, "read_region", document=document, page=1, region=0)
            assert "no document" in await refusal(bob, "search", query="a", documents=[document])
        assert "No page is read yet" in await refusal(bob, "search", query="a")
        # the same file of another key is another document
        own = re.findall(r"\w+/secret\.pdf", (await told(bob, "parse", **given))[0])
        assert own != [name]
        assert name not in (await told(bob, "list_documents"))[0]
    async with _with_key(url, keys["boss"]) as boss:
        assert (await told(boss, "list_documents"))[0].count("secret.pdf") == 2


@asynccontextmanager
async def _with_key(url: str, key: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client

"""Attacks a service and `mcp --http` on this machine, and measures what honest clients notice.

    python benchmarks/cpu/bench_attacks.py [--seconds 15] [--only lists,uploads]

Each attack has a number and a time. Meanwhile an honest client of another address asks how the service is and
uploads documents in all three forms, and the service's memory is sampled. The last line is JSON: for each
attack the memory beyond what was there before, the slowest answer, and the answers to honest uploads.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psutil

import penstock
from penstock.engines.vllm.server import free_port
from penstock.testing import FAKE

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish

SAMPLE = (Path(penstock.__file__).parent / "sample" / "sample.pdf").read_bytes()
MAX_MORE_MB, MAX_QUESTION_S = 300.0, 1.0  # what honest clients may notice
BOMB_BYTES = 62 << 20
MCP_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
JSON = {"Content-Type": "application/json"}
HONEST, ATTACKERS = "127.0.0.2", [f"127.0.1.{number}" for number in range(1, 5)]


@dataclass
class Target:
    """A server under attack."""

    url: str
    process: psutil.Process
    is_mcp: bool = False


@dataclass
class Noticed:
    """What an honest client saw during one attack."""

    questions_s: list[float] = field(default_factory=list)
    uploads: Counter[str] = field(default_factory=Counter)
    memory_mb: list[float] = field(default_factory=list)


def session(address: str) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=0, local_addr=(address, 0), force_close=True)
    return aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(60))


async def posted(address: str, url: str, body: Any, headers: dict[str, str]) -> str:
    """Returns the status of the answer, or how the connection ended."""
    try:
        async with session(address) as one, one.post(url, data=body, headers=headers) as answer:
            await answer.read()
            return str(answer.status)
    except (aiohttp.ClientError, TimeoutError, OSError) as exc:
        return type(exc).__name__


# the attacks: each is a coroutine that sends one hostile request


async def lists(target: Target, address: str, end: float) -> str:
    """62 MB of lists in lists, as JSON."""
    path = "/mcp" if target.is_mcp else "/v1/parse"
    return await posted(address, target.url + path, _streamed(b"[[],[],", BOMB_BYTES), MCP_HEADERS)


async def objects_as_question(target: Target, address: str, end: float) -> str:
    """As many objects as a question may have bytes."""
    path = "/mcp" if target.is_mcp else "/v1/search"
    return await posted(address, target.url + path, b'[{"":0},' * (1 << 17), MCP_HEADERS)


async def slow_uploads(target: Target, address: str, end: float) -> str:
    """An upload at 80 kB/s: quick enough not to be called slow."""
    if target.is_mcp:
        body = _paced(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', b"A" * 20_000, end)
        return await posted(address, f"{target.url}/mcp", body, MCP_HEADERS)
    return await posted(
        address, f"{target.url}/v1/documents?name=slow.pdf", _paced(b"%PDF-", b"x" * 20_000, end), {}
    )


async def slow_questions(target: Target, address: str, end: float) -> str:
    """A question that grows to its bound and waits."""
    path = "/mcp" if target.is_mcp else "/v1/search"
    return await posted(
        address, target.url + path, _held(b'{"question":"' + b"x y " * 250_000, end), MCP_HEADERS
    )


async def fields(target: Target, address: str, end: float) -> str:
    """300 fields of 1 MB in a form."""
    head = b'--x\r\nContent-Disposition: form-data; name="f%d"\r\n\r\n'
    parts = b"".join(head % number + b"x" * (1 << 20) + b"\r\n" for number in range(3))
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    return await posted(address, f"{target.url}/v1/parse", _streamed(parts, 300 << 20), kind)


async def sessions(target: Target, address: str, end: float) -> str:
    """A session that is begun and never ended."""
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    return await posted(address, f"{target.url}/mcp", body, MCP_HEADERS)


Attack = Callable[[Target, str, float], Awaitable[str]]
ATTACKS: dict[
    str, tuple[Attack, int, bool]
] = {  # one request, how many at once, whether mcp can be attacked by it
    "lists": (lists, 8, True),
    "objects": (objects_as_question, 32, True),
    "uploads": (slow_uploads, 64, True),
    "questions": (slow_questions, 128, True),
    "fields": (fields, 4, False),
    "sessions": (sessions, 16, True),
    "none": (lists, 0, True),  # what the same honest client sees on the same machine
}


async def _streamed(piece: bytes, size: int) -> AsyncIterator[bytes]:
    block = piece * max(1, (1 << 18) // len(piece))
    for _ in range(size // len(block)):
        yield block


async def _paced(head: bytes, piece: bytes, end: float) -> AsyncIterator[bytes]:
    yield head
    while time.monotonic() < end:
        yield piece
        await asyncio.sleep(len(piece) / 80_000)


async def _held(body: bytes, end: float) -> AsyncIterator[bytes]:
    yield body
    while time.monotonic() < end:
        await asyncio.sleep(0.2)
        yield b" "


# the honest client


async def asks(target: Target, noticed: Noticed, end: float) -> None:
    while time.monotonic() < end:
        began = time.monotonic()
        if target.is_mcp:
            ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
            status = await posted(HONEST, f"{target.url}/mcp", ping, MCP_HEADERS)
        else:
            async with session(HONEST) as one, one.get(f"{target.url}/health") as answer:
                status = str(answer.status)
        noticed.questions_s.append(time.monotonic() - began if status == "200" else 60.0)
        await asyncio.sleep(0.1)


async def uploads(target: Target, noticed: Noticed, end: float) -> None:
    numbers = iter(range(10**6))
    while time.monotonic() < end:
        body = SAMPLE + b"%" * (random.randrange(1000) + next(numbers))
        noticed.uploads[await _uploaded(target, body, sum(noticed.uploads.values()) % 3)] += 1
        await asyncio.sleep(0.3)


async def _uploaded(target: Target, body: bytes, way: int) -> str:
    text = base64.b64encode(body).decode()
    if target.is_mcp:
        params = {"name": "parse", "arguments": {"content": text, "name": "a.pdf", "wait_s": 0}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return await posted(HONEST, f"{target.url}/mcp", json.dumps(call).encode(), MCP_HEADERS)
    if way == 0:
        return await posted(HONEST, f"{target.url}/v1/documents?name=a.pdf", body, {})
    if way == 1:
        told = json.dumps({"files": [{"name": "a.pdf", "base64": text}]}).encode()
        return await posted(HONEST, f"{target.url}/v1/parse", told, JSON)
    form = aiohttp.FormData()
    form.add_field("files", body, filename="a.pdf")
    return await posted(HONEST, f"{target.url}/v1/parse", form, {})


async def watches(target: Target, noticed: Noticed, end: float) -> None:
    while time.monotonic() < end:
        noticed.memory_mb.append(target.process.memory_info().rss / 2**20)
        await asyncio.sleep(0.1)


async def attacking(target: Target, name: str, seconds: float) -> Counter[str]:
    """Attacks for so long. Returns what the attackers were answered."""
    attack, at_once, _ = ATTACKS[name]
    end, answers = time.monotonic() + seconds, Counter[str]()

    async def attacks(number: int) -> None:
        while time.monotonic() < end:
            answers[await attack(target, ATTACKERS[number % len(ATTACKERS)], end)] += 1
            await asyncio.sleep(0.1)

    await asyncio.gather(*map(attacks, range(at_once)))
    return answers


def attacked(target: Target, name: str, seconds: float) -> dict[str, Any]:
    """The attackers are another process: an honest client waits for the service only."""
    before = target.process.memory_info().rss / 2**20
    words = ["--attack", name, "--target", target.url, "--seconds", str(seconds), *["--mcp"] * target.is_mcp]
    attackers = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True)
    noticed = asyncio.run(honest(target, seconds + 3))
    answers = json.loads(attackers.communicate(timeout=120)[0])
    good = sum(count for status, count in noticed.uploads.items() if status in ("200", "202"))
    return {
        "before_mb": round(before),
        "more_mb": round(max(noticed.memory_mb) - before),
        "slowest_question_s": round(max(noticed.questions_s), 2),
        "questions": len(noticed.questions_s),
        "honest_uploads": dict(noticed.uploads),
        "all_answered": good == sum(noticed.uploads.values()) > 0,
        "attackers_were_answered": answers,
    }


async def honest(target: Target, seconds: float) -> Noticed:
    noticed, end = Noticed(), time.monotonic() + seconds
    await asyncio.gather(*(work(target, noticed, end) for work in (asks, uploads, watches)))
    return noticed


@contextmanager
def served(words: list[str], folder: Path, is_mcp: bool = False) -> Iterator[Target]:
    port = free_port()
    command = [sys.executable, "-m", "penstock", *words, str(folder), "--recipe", FAKE, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    target = Target(f"http://127.0.0.1:{port}", psutil.Process(process.pid), is_mcp)
    try:
        asyncio.run(_up(target))
        yield target
    finally:
        process.terminate()
        process.wait(60)


async def _up(target: Target) -> None:
    """Waits until it answers, and has read a document: what is loaded once is no attack's memory."""
    end = time.monotonic() + 60
    while await _uploaded(target, SAMPLE, 1) not in ("200", "202"):
        if time.monotonic() > end:
            raise SystemExit("the service did not come up")
        await asyncio.sleep(0.2)
    for way in range(3):
        await _uploaded(target, SAMPLE + b"%" * way, way)
    await asyncio.sleep(3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=15.0, help="of each attack")
    parser.add_argument("--only", default="", help="names of attacks, with commas")
    parser.add_argument("--attack", help="only attack --target with this")
    parser.add_argument("--target", default="")
    parser.add_argument("--mcp", action="store_true")
    options = parser.parse_args()
    if options.attack:
        target = Target(options.target, psutil.Process(), options.mcp)
        print(json.dumps(asyncio.run(attacking(target, options.attack, options.seconds))))
    else:
        measure(options.only.split(",") if options.only else [*ATTACKS], options.seconds)


def measure(chosen: list[str], seconds: float) -> None:
    told: dict[str, Any] = {}
    for words, is_mcp in ((["serve"], False), (["mcp", "--http"], True)):
        for name in chosen:
            if (name == "sessions" and not is_mcp) or (is_mcp and not ATTACKS[name][2]):
                continue
            with (
                tempfile.TemporaryDirectory() as folder,
                served(words, Path(folder) / "out", is_mcp) as target,
            ):
                found = attacked(target, name, seconds)
            told[f"{words[0]} {name}"] = found
            print(f"{words[0]} {name}: {found}", flush=True)
    holds = {
        "memory": all(one["more_mb"] < MAX_MORE_MB for one in told.values()),
        "questions": all(one["slowest_question_s"] < MAX_QUESTION_S for one in told.values()),
        "uploads": all(one["all_answered"] for one in told.values()),
    }
    finish("attacks", attacks=told, holds=holds)


if __name__ == "__main__":
    main()

"""Measures a service among 1,000 clients of whom a quarter is slow or broken.

    python benchmarks/cpu/bench_service.py [REQUESTS] [CLIENTS]

`penstock serve` with a stub recogniser is another process. Honest clients ask for its health and its
documents and send small documents, each request on a connection of its own. The others send half a header,
half a body, no HTTP, or go before the answer. Every honest request has to be answered 200, 202 or 429. Memory
is that of the service after a tenth of the requests, after half, and at the end; others warm it up before.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from penstock.engines.vllm.server import free_port
from penstock.testing import FAKE

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish

BROKEN = (
    b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Half:",
    b"POST /v1/documents?name=slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\nabc",
    b"\x16\x03\x01 this is no HTTP\r\n\r\n",
    b"GET /v1/documents HTTP/1.1\r\nHost: localhost\r\n\r\n",
)
HOLD_S = 5.0  # that a slow client holds its connection
ANSWER_S = 120.0


class Load:
    """Clients that take requests from one count until it is used up."""

    def __init__(self, port: int, requests: int) -> None:
        self.statuses: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.done = 0
        self._port = port
        self._left = requests
        self._random = random.Random(0)

    async def honest(self) -> None:
        while self._take():
            began = time.perf_counter()
            self.statuses[await self._asked(self._request())] += 1
            self.seconds.append(time.perf_counter() - began)
            self.done += 1

    async def broken(self) -> None:
        while self._take():
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self._port)
                writer.write(self._random.choice(BROKEN))
                await asyncio.sleep(self._random.random() * HOLD_S)
                writer.close()
            except OSError:
                pass
            self.done += 1

    def _take(self) -> bool:
        self._left -= 1
        return self._left >= 0

    def _request(self) -> bytes:
        kind, number = self._random.random(), self._random.randrange(1000)
        if kind < 0.6:
            return _head("GET /health")
        if kind < 0.9:
            return _head("GET /v1/documents?most=10")
        body = f"these are notes {number}".encode()
        return _head(f"POST /v1/documents?name=n{number}.pdf", len(body)) + body

    async def _asked(self, request: bytes) -> str:
        try:
            async with asyncio.timeout(ANSWER_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                writer.write(request)
                answer = await reader.read()
                writer.close()
        except (OSError, TimeoutError) as exc:
            return type(exc).__name__
        return answer[9:12].decode("ascii", "replace") if answer else "nothing"


def _head(what: str, length: int = 0) -> bytes:
    size = f"Content-Length: {length}\r\n" if length else ""
    return f"{what} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{size}\r\n".encode()


async def load(port: int, requests: int, clients: int, memory: psutil.Process) -> dict[str, Any]:
    work = Load(port, requests)
    began = time.perf_counter()
    tasks = [asyncio.create_task(work.broken() if n % 4 == 0 else work.honest()) for n in range(clients)]
    sizes = []
    for part in (0.1, 0.5):
        while work.done < requests * part:
            await asyncio.sleep(0.1)
        sizes.append(memory.memory_info().rss)
    await asyncio.gather(*tasks)
    seconds, times = time.perf_counter() - began, sorted(work.seconds)
    return {
        "requests": requests,
        "clients": clients,
        "statuses": dict(work.statuses),
        "honest_answered": set(work.statuses) <= {"200", "202", "429"},
        "requests_per_s": round(requests / seconds, 1),
        "p50_ms": round(1e3 * times[len(times) // 2], 1),
        "p99_ms": round(1e3 * times[int(len(times) * 0.99)], 1),
        "memory_mb": [round(size / 2**20, 1) for size in (*sizes, memory.memory_info().rss)],
    }


def main() -> None:
    requests, clients = (int(word) for word in (*sys.argv[1:], *("10000", "1000")[len(sys.argv) - 1 :]))
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "penstock", "serve", f"{folder}/out", "--recipe", FAKE]
        service = subprocess.Popen([*command, "--port", str(port)], env=dict(os.environ))
        try:
            _await_up(port)
            # as many before: a thousand connections at once take what they take, and it is not given back
            asyncio.run(load(port, requests, clients, psutil.Process(service.pid)))
            figures = asyncio.run(load(port, requests, clients, psutil.Process(service.pid)))
            finish("service", **figures)
        finally:
            service.terminate()
            service.wait(60)


def _await_up(port: int) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health"):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the service did not come up")


if __name__ == "__main__":
    main()

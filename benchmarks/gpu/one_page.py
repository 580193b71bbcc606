"""Measures one page that nobody else competes with: from its file to its finished page, servers warm.

    KNOWN_LAYOUT_MODEL=FOLDER python benchmarks/gpu/one_page.py --server http://127.0.0.1:8000
    python benchmarks/gpu/one_page.py --server URL --pages 2 --small      # a smoke test without a card

Each page of 2480 x 3508 with 8 known regions goes three ways, one way after the other:

- bare: its crops, cut beforehand, are sent all at once; the latency of the slowest is what no pipeline beats
- stream: through the recipe's plan, whose workers are open, as Python has it
- serve: sent to `penstock serve` over HTTP, until its document is told to be ready

What is compared is the whole time and the slowest region's latency plus the layout network's call. The last
line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import aiohttp

from penstock import sources
from penstock.engines.vllm.server import free_port
from penstock.executors.local import Local
from penstock.page import Page
from penstock.trace.spans import Trace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.bare_load import PROMPT, SAMPLING, crops_of, write_pages
from benchmarks.lib.common import REPOSITORY, finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH
from benchmarks.lib.known_recipe import glm_ocr_known_full

RECIPE = "benchmarks.lib.known_recipe:glm_ocr_known_full"
WARM = 3  # pages that are not counted: workers open, connections are made
WAIT_S = 300.0
LAYOUT = "doclayout"


def bare_latencies(servers: Sequence[str], model: str, crops: Sequence[tuple[str, int]]) -> list[float]:
    """Seconds of each crop's request, all sent at once."""
    return asyncio.run(_bare(servers, model, crops))


async def _bare(servers: Sequence[str], model: str, crops: Sequence[tuple[str, int]]) -> list[float]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(WAIT_S)) as session:

        async def sent(number: int, image: str, tokens: int) -> float:
            picture = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64," + image}}
            message = {"role": "user", "content": [picture, {"type": "text", "text": PROMPT}]}
            body = {"model": model, "messages": [message], "max_tokens": tokens, **SAMPLING}
            address = servers[number % len(servers)] + "/v1/chat/completions"
            began = time.perf_counter()
            async with session.post(address, json=body) as answer:
                assert answer.status == 200, await answer.text()
                await answer.read()
            return time.perf_counter() - began

        return list(
            await asyncio.gather(*(sent(n, image, tokens) for n, (image, tokens) in enumerate(crops)))
        )


class OpenStream:
    """The plan with its workers open. A page is given when the one before is finished."""

    def __init__(self, servers: Sequence[str], model: str) -> None:
        self.plan = glm_ocr_known_full(server=tuple(servers), model=model)
        self.executor = Local(Trace())
        self._given: queue.SimpleQueue[Page | None] = queue.SimpleQueue()
        self._finished = self.executor.stream(self.plan, self._listing())

    def _listing(self) -> Iterator[Page]:
        while (page := self._given.get()) is not None:
            yield page

    def seconds(self, path: Path) -> float:
        began = time.perf_counter()
        for page in sources.list_items([str(path)], Page):
            self._given.put(page)
        finished = next(self._finished)
        took = time.perf_counter() - began
        assert isinstance(finished, Page) and finished.failure is None, finished
        assert not any(finished.failed_parts()), finished
        return took

    def close(self) -> None:
        self._given.put(None)
        assert next(self._finished, None) is None

    def stage_ms(self) -> dict[str, float]:
        profile = self.executor.trace.profile(self.executor.infos(self.plan))
        return {row.name: row.p50_ms for row in profile.stages}


@contextmanager
def serving(folder: Path, servers: Sequence[str], model: str) -> Iterator[Callable[[Path], float]]:
    """`penstock serve` in a process; yields what sends it a page and tells the seconds it took."""
    port = free_port()
    options = ["--port", str(port), "--model", model, *(f"--server={server}" for server in servers)]
    command = [sys.executable, "-m", "penstock", "serve", str(folder / "served"), "--recipe", RECIPE]
    search = f"{REPOSITORY / 'src'}:{REPOSITORY}:{os.environ.get('PYTHONPATH', '')}"
    service = subprocess.Popen([*command, *options], env={**os.environ, "PYTHONPATH": search})
    address = f"http://127.0.0.1:{port}"
    try:
        _await_health(address, service)
        yield lambda path: _served_seconds(address, path)
    finally:
        service.terminate()
        service.wait(60)


def _await_health(address: str, service: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and service.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("penstock serve does not answer")


def _served_seconds(address: str, path: Path) -> float:
    began = time.perf_counter()
    sending = urllib.request.Request(f"{address}/v1/documents?name={path.name}", path.read_bytes())
    with urllib.request.urlopen(sending, timeout=WAIT_S) as answer:
        name = quote(json.loads(answer.read())["name"])
    asking = f"{address}/v1/document?name={name}&wait={WAIT_S:.0f}"
    with urllib.request.urlopen(asking, timeout=WAIT_S) as answer:
        told = answer.read()
    took = time.perf_counter() - began
    assert b'"ok":true' in told.replace(b" ", b""), told
    return took


def measure(options: argparse.Namespace, folder: Path) -> dict[str, list[float]]:
    paths = sorted((folder / "pages").glob("*.jpg"))
    regions = len(crops := crops_of([str(path) for path in paths], 1.0)) // len(paths)
    rows: dict[str, list[float]] = {"bare": [], "stream": [], "serve": []}
    stream = OpenStream(options.server, options.model)
    with serving(folder, options.server, options.model) as served:
        for number, path in enumerate(paths):
            own = crops[number * regions : (number + 1) * regions]
            slowest = max(bare_latencies(options.server, options.model, own))
            for name, took in (("bare", slowest), ("stream", stream.seconds(path)), ("serve", served(path))):
                rows[name].append(took)
    stream.close()
    stages = stream.stage_ms()
    print("busy a page, p50: " + ", ".join(f"{name} {ms:.0f} ms" for name, ms in stages.items()))
    rows["layout"] = [stages.get(LAYOUT, 0.0) / 1000]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", action="append", required=True)
    parser.add_argument("--model", default="glm-ocr")
    parser.add_argument("--pages", type=int, default=16)
    parser.add_argument("--small", action="store_true", help="pages of 620 x 877, for a CPU")
    options = parser.parse_args()
    width, height = (WIDTH // 4, HEIGHT // 4) if options.small else (WIDTH, HEIGHT)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pages").mkdir()
        write_pages(str(folder / "pages"), range(options.pages + WARM), width, height)
        rows = measure(options, folder)
    layout = rows.pop("layout")[0]
    counted = {name: times[WARM:] for name, times in rows.items()}
    least = [bare + layout for bare in counted["bare"]]
    result: dict[str, float] = {"layout_s": layout}
    for name, times in counted.items():
        ratios = [took / floor for took, floor in zip(times, least, strict=True)]
        result |= {f"{name}_s": statistics.median(times), f"{name}_ratio": statistics.median(ratios)}
        print(
            f"{name:7} {statistics.median(times):.3f} s a page ({min(times):.3f}-{max(times):.3f}),"
            f" {statistics.median(ratios):.2f} of the least ({min(ratios):.2f}-{max(ratios):.2f})"
        )
    finish("one_page", pages=options.pages, **result)


if __name__ == "__main__":
    sys.exit(main())

"""Measures what the service adds to a page, and whether a crowd of uploads is answered.

    python benchmarks/cpu/bench_uploads.py [--clients 200] [--seconds 60] [--pages 600] [--repeats 3]

`penstock serve` with a stub recogniser is another process. First documents of one page, sent one after
another and 16 at once, and documents of twenty are read by `penstock.parse` in a process of its own and by
the service, one after the other: what is compared is the CPU time a page of all processes, the slope between
two numbers of pages, so that starting is not in it. The client's own time is not in it either. Then clients
upload documents as fast as they are answered: 202 and 429 are right, all else is counted as wrong. Prints a
table; the last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import psutil
import pypdfium2 as pdfium

from penstock.engines.vllm.server import free_port
from penstock.testing import FAKE

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish

WAIT_S = 300.0
FEW = 5  # documents whose time is taken off: what starting costs
STILL_S = 2.0  # longer than rows wait for their commit
MAX_AT_REST = 0.02  # CPU seconds in STILL_S
READ = "import sys, penstock\nfor _ in penstock.parse(sys.argv[1], out=sys.argv[2], recipe=sys.argv[3]): pass"


def documents(folder: Path, pages: int, each: int) -> list[Path]:
    """Writes PDFs of `each` small pages; no two are the same."""
    folder.mkdir(parents=True)
    paths = []
    for number in range(pages // each):
        document = pdfium.PdfDocument.new()
        for _ in range(each):
            document.new_page(200 + number % 100, 280 + number // 100)
        paths.append(folder / f"{number:05d}.pdf")
        document.save(paths[-1])
    return paths


def cpu_of(process: psutil.Process) -> float:
    """CPU seconds of a process, of its children that live and of those that ended."""
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def api_cpu(paths: list[Path], scratch: Path) -> float:
    """CPU seconds of `penstock.parse` over these files in a process of its own."""
    inbox = Path(tempfile.mkdtemp(dir=scratch))
    for path in paths:
        (inbox / path.name).symlink_to(path)
    before = os.times()
    subprocess.run([sys.executable, "-c", READ, inbox, Path(tempfile.mkdtemp(dir=scratch)), FAKE], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@contextmanager
def service(scratch: Path) -> Iterator[tuple[str, psutil.Process]]:
    port = free_port()
    out = Path(tempfile.mkdtemp(dir=scratch))
    command = [sys.executable, "-m", "penstock", "serve", str(out), "--recipe", FAKE, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_up(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(60)


def _await_up(url: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the service did not come up")


async def send_all(url: str, paths: list[Path], pages: int, senders: int) -> None:
    """Sends every document, so many at once, again after each 429, and waits until all pages are read."""
    left = iter(paths)

    async def send() -> None:
        for path in left:
            while not await _taken(session, url, path):
                await asyncio.sleep(0.05)

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(WAIT_S)) as session:
        await asyncio.gather(*(send() for _ in range(senders)))
        while await _pages_done(session, url) < pages:
            await asyncio.sleep(0.2)


async def _taken(session: aiohttp.ClientSession, url: str, path: Path) -> bool:
    async with session.post(f"{url}/v1/documents?name={path.name}", data=path.read_bytes()) as answer:
        told = await answer.text()  # as every client does; one that does not has to connect anew each time
        if answer.status not in (202, 429):
            raise SystemExit(f"{answer.status}: {told}")
        return answer.status == 202


async def _pages_done(session: aiohttp.ClientSession, url: str) -> int:
    async with session.get(f"{url}/v1/run") as answer:
        told = await answer.json()
    return int(told["done"])


def service_cpu(url: str, process: psutil.Process, paths: list[Path], pages: int, senders: int = 1) -> float:
    """CPU seconds of the service for these files, with what it does after the last is read."""
    before = cpu_of(process)
    asyncio.run(send_all(url, paths, pages, senders))
    return _still(process) - before


def _still(process: psutil.Process) -> float:
    """CPU seconds of a service that rests: the rows are committed, and what that loads is loaded."""
    end, spent = time.monotonic() + WAIT_S, cpu_of(process)
    while time.monotonic() < end:
        time.sleep(STILL_S)
        before, spent = spent, cpu_of(process)
        if spent - before <= MAX_AT_REST:
            return spent
    raise SystemExit("the service does not come to rest")


async def crowd(url: str, process: psutil.Process, clients: int, seconds: float) -> dict[str, object]:
    """Clients that upload a document of one page over and over until the time is up."""
    statuses: Counter[str] = Counter()
    end = time.monotonic() + seconds
    sizes: list[float] = []

    async def upload(session: aiohttp.ClientSession, number: int, body: bytes) -> None:
        count = 0
        while time.monotonic() < end:
            count += 1
            try:
                async with session.post(
                    f"{url}/v1/documents?name=c{number}-{count}.pdf", data=body + b"%" * count
                ) as answer:
                    await answer.read()
                    statuses[str(answer.status)] += 1
                    wait = float(answer.headers.get("Retry-After", 0)) if answer.status == 429 else 0.0
            except (aiohttp.ClientError, TimeoutError) as exc:
                statuses[type(exc).__name__] += 1
                wait = 0.1
            await asyncio.sleep(min(wait, 1.0))

    async def watch() -> None:
        for _ in range(4):
            await asyncio.sleep(seconds / 4)
            sizes.append(process.memory_info().rss / 2**20)

    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(60)
    with tempfile.TemporaryDirectory() as folder:
        bodies = [path.read_bytes() for path in documents(Path(folder) / "d", clients, 1)]
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        tasks = [upload(session, number, body) for number, body in enumerate(bodies)]
        await asyncio.gather(watch(), *tasks)
    return {
        "clients": clients,
        "statuses": dict(statuses),
        "only_202_and_429": set(statuses) <= {"202", "429"},
        "memory_mb": [round(size, 1) for size in sizes],
    }


def overhead(pages: int, each: int, repeats: int, senders: int) -> dict[str, float]:
    """CPU milliseconds a page: Python, the service, and the difference of the medians."""
    ways: dict[str, list[float]] = {"python": [], "service": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            paths = documents(scratch / "all", pages + FEW * each, each)
            few, many = paths[:FEW], paths[FEW:]
            ways["python"].append((api_cpu(paths, scratch) - api_cpu(few, scratch)) / pages)
            with service(scratch) as (url, process):
                service_cpu(url, process, few, FEW * each)
                ways["service"].append(service_cpu(url, process, many, pages + FEW * each, senders) / pages)
    told = {name: round(1e3 * statistics.median(values), 2) for name, values in ways.items()}
    more = [1e3 * (b - a) for a, b in zip(ways["python"], ways["service"], strict=True)]
    return {**told, "more": round(statistics.median(more), 2), "least": min(more), "most": max(more)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--senders", type=int, default=16, help="that send documents of one page at once")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    told = {}
    for each, senders in ((1, 1), (1, options.senders), (20, 1)):
        found = overhead(options.pages, each, options.repeats, senders)
        told[f"{each} by {senders}"] = found
        print(
            f"documents of {each} pages, {senders} at once, CPU ms a page: Python {found['python']},"
            f" service {found['service']}, {found['more']} more ({found['least']:.1f} to {found['most']:.1f})"
        )
    with tempfile.TemporaryDirectory() as folder, service(Path(folder)) as (url, process):
        seen = asyncio.run(crowd(url, process, options.clients, options.seconds))
    print(f"{options.clients} clients for {options.seconds:.0f} s: {seen}")
    finish("uploads", overhead_ms=told, crowd=seen)


if __name__ == "__main__":
    main()

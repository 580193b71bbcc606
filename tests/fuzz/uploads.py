"""Sends mutated files to a real `penstock serve`: each is taken or refused, each job ends, the server lives.

    python -m tests.fuzz.uploads --count 5000 [--seed 1] [--data FOLDER] [--keep FOLDER]

Half of the files have a few bytes wrong, half are sent in requests that have. Models are stand-ins, readers
are not. What is answered with 5xx is kept. The last line is JSON; the exit code is 1 if anything broke.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from penstock.testing import FAKE
from tests.fuzz import files
from tests.fuzz.mutations import mutated
from tests.support.running_service import Client, await_up, free_port

AT_ONCE = 8
AGAIN_S = 2.0  # when the service is full
END_S = 900.0  # for the jobs that were taken
PATHS = ("/v1/parse", "/v1/documents", "/file_parse", "/v1/convert/file/async", "/tasks", "/v1/ocr")
OVER = {"done", "failed", "cancelled"}


@dataclass
class UploadFindings:
    """Counts, and everything that must not be."""

    statuses: Counter[int] = field(default_factory=Counter)
    jobs: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0
    memory_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class Upload:
    """One request."""

    path: str
    body: bytes = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict)


def uploads(chance: random.Random, right: dict[str, list[bytes]], count: int) -> Iterator[Upload]:
    for number in range(count):
        ending = chance.choice(list(right))
        whole = number % 2 == 0  # the request is right, and its file is not
        data = mutated(chance, right[ending], files.MAX_BYTES) if whole else chance.choice(right[ending])
        made = _request(chance, f"{number:05d}.{ending}", data)
        yield (
            made
            if whole
            else Upload(made.path, mutated(chance, [made.body], 2 * files.MAX_BYTES), made.headers)
        )


def _request(chance: random.Random, name: str, data: bytes) -> Upload:
    path, quoted = chance.choice(PATHS), urllib.parse.quote(name)
    if path == "/v1/documents" or (path == "/v1/parse" and chance.random() < 0.3):
        return Upload(f"{path}?name={quoted}", data, {"Content-Type": "application/octet-stream"})
    text = base64.b64encode(data).decode()
    if path == "/v1/ocr":
        document = {"type": "document_url", "document_url": f"data:application/pdf;base64,{text}"}
        return _json(path, {"model": "x", "document": document})
    if path == "/v1/parse" and chance.random() < 0.5:
        return _json(path, {"files": [{"name": name, "base64": text}]})
    boundary = "----9d1f"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
    body = head.encode() + data + f"\r\n--{boundary}--\r\n".encode()
    return Upload(path, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})


def _json(path: str, told: dict[str, Any]) -> Upload:
    return Upload(path, json.dumps(told).encode(), {"Content-Type": "application/json"})


@contextmanager
def served(out: Path) -> Iterator[tuple[Client, psutil.Process]]:
    """Gives a client of a real service in a process of its own."""
    port = free_port()
    words = [sys.executable, "-m", "penstock", "serve", str(out), "--recipe", FAKE, "--port", str(port)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        client = Client(f"http://127.0.0.1:{port}")
        try:
            await_up(client)
            yield client, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(60)


def sent(client: Client, upload: Upload, end: float) -> tuple[int, Any]:
    """Sends an upload, again while the service is full. A connection that is cut without an answer is 0."""
    while True:
        try:
            status, told = client(upload.path, upload.body, **upload.headers)
        except OSError as exc:
            return 0, str(exc)
        if status != 429 or time.monotonic() > end:
            return status, told
        time.sleep(AGAIN_S)


def run(count: int, seed: int, data: Path | None, keep: Path) -> UploadFindings:
    found, chance, began = UploadFindings(), random.Random(seed), time.monotonic()
    end = began + END_S
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "out") as (client, process):

        def one(upload: Upload) -> None:
            status, told = sent(client, upload, end)
            found.statuses[status] += 1
            if status == 0 or status >= 500:
                found.broken.append(f"{upload.path.partition('?')[0]} answered {status}: {told}")
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"upload-{len(found.broken)}").write_bytes(upload.body)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(one, uploads(chance, files.seeds(data), count)))
        found.jobs = _ended(client, end)
        found.memory_mb = process.memory_info().rss / 2**20
        if client("/health")[0] != 200:
            found.broken.append("it is not well afterwards")
    if set(found.jobs) - OVER:
        found.broken.append(f"jobs did not end: {dict(found.jobs)}")
    found.seconds = time.monotonic() - began
    return found


def _ended(client: Client, end: float) -> Counter[str]:
    """Waits for the jobs, and returns how many are in which state."""
    while True:
        states: Counter[str] = Counter()
        start = 0
        while rows := client(f"/v1/jobs?start={start}&limit=1000")[1]:
            states.update(row["state"] for row in rows)
            start += len(rows)
        if not set(states) - OVER or time.monotonic() > end:
            return states
        time.sleep(1)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="folder with more files that are right")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="folder for what breaks")
    options = parser.parse_args()
    found = run(options.count, options.seed, options.data, options.keep)
    for line in found.broken[:20]:
        print(line)
    figures = {
        "uploads": options.count,
        "statuses": dict(sorted(found.statuses.items())),
        "jobs": dict(found.jobs),
        "seconds": round(found.seconds),
        "server_memory_mb": round(found.memory_mb),
        "broken": len(found.broken),
    }
    print(json.dumps(figures))
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())

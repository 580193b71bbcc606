"""Measures what a request costs our process: encoding, HTTP, queue, limit and answer, with a fake server.

    python benchmarks/cpu/bench_chat.py [REQUESTS]

Pictures of 40 kB, 256 in flight, answers of 100 tokens after 200 ms, whole and streamed one event a token
(a managed vLLM sends one for 32). CPU time of this process; the server is another one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from penstock.engines.chat.client import ChatClient, ChatRequest
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.vllm.probe import healthy
from penstock.engines.vllm.server import free_port

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish

BYTES = 40_000
THREADS = 8
IN_FLIGHT = 256


def pictures(count: int) -> list[bytes]:
    """JPEGs of equal size whose last bytes, after the picture's end, make them distinct."""
    pixels = np.random.default_rng(0).integers(0, 255, (180, 180, 3), np.uint8)
    jpeg = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()
    return [jpeg.ljust(BYTES - 4, b"\0") + number.to_bytes(4, "big") for number in range(count)]


def measure(url: str, count: int, stream: bool) -> dict[str, Any]:
    who = replace(RECOGNISERS["glm-ocr"], stream_above=0 if stream else 1_000_000)
    requests = [ChatRequest(image, "Text Recognition:", 512) for image in pictures(count)]
    with ChatClient([url], who, limit=IN_FLIGHT) as client:
        client.ask(requests[:1])
        began, cpu = time.perf_counter(), time.process_time()
        threads = [
            threading.Thread(target=client.ask, args=(requests[1 + n :: THREADS],)) for n in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        cpu, seconds = time.process_time() - cpu, time.perf_counter() - began
        stats = client.stats()
    assert stats["answered"] == count, stats
    return {
        "cpu_ms_per_request": round(1e3 * cpu / (count - 1), 3),
        "requests_per_s": round((count - 1) / seconds),
        "filled": stats["filled"],
    }


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_001
    port = free_port()
    command = [sys.executable, "-m", "penstock.testing.fake_server", str(port)]
    with subprocess.Popen(
        [*command, "--delay-ms", "200", "--answer-tokens", "100"], env=os.environ
    ) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            while not healthy(url, 1.0):
                time.sleep(0.05)
            result = {"whole": measure(url, count, False), "streamed": measure(url, count // 4, True)}
        finally:
            server.terminate()
    for name, row in result.items():
        print(name, row)
    finish("chat", **result)


if __name__ == "__main__":
    main()

"""Penstock's half of `cpu/client_against_sdk.py`, in a process of its own like the other half.

    python benchmarks/lib/penstock_side.py pages FOLDER - COUNT URL LIMIT

Runs the glm-ocr recipe as a GPU user gets it; only the layout network is replaced by boxes that are known.
`build` and `decode` time one call each, `ready` the client alone with crops that are all there at once.
Prints one line of JSON.
"""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock import sources
from penstock.engines.chat.client import ChatClient, ChatRequest
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.chat.region_tasks import token_budget
from penstock.engines.chat.wire import request_body
from penstock.engines.image.crop import as_jpeg, cut, is_blank, scaled, sendable
from penstock.engines.image.decode import decode as decode_picture
from penstock.executors.local import Local
from penstock.page import Page
from penstock.plan import Plan
from penstock.processes.malloc import keep_pages
from penstock.recipes.regions import glm_ocr
from penstock.stages.crop_regions import MAX_PIXELS
from penstock.stages.doclayout import DocLayout
from penstock.trace.spans import Trace
from penstock.workers import recognise_remote
from penstock.workers.crop_regions import SENT_QUALITY

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.clock import mean_ms, per_call_ms
from benchmarks.lib.known_pages import REGIONS, KnownBoxes
from benchmarks.lib.requests_in_flight import RequestsInFlight

GLM_OCR = RECOGNISERS["glm-ocr"]
THREADS = 8  # that ask at once
ROUNDS = 8  # of the limit, in `ready`


class WatchedClient(ChatClient):
    """Remembers the one client of the run, so that it can be asked what waits."""

    only: WatchedClient | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        WatchedClient.only = self


def waiting() -> int:
    return int(WatchedClient.only.stats()["waiting"]) if WatchedClient.only else 0


def pages(folder: str, _: str, count: str, url: str, limit: str, watch: str = "") -> dict[str, Any]:
    """Runs pages through the recipe's own plan; with `watch`, counts the requests at the server."""
    recognise_remote.ChatClient = WatchedClient  # type: ignore[misc]
    recipe = glm_ocr(server=(url,), in_flight=int(limit), layout="pp-doclayoutv3")
    plan = Plan(*(KnownBoxes() if isinstance(stage, DocLayout) else stage for stage in recipe))
    paths = sorted(str(path) for path in Path(folder).glob("*.jpg"))[: int(count)]
    in_flight = RequestsInFlight(url, int(limit), waiting)
    began = time.perf_counter()
    if watch:
        with in_flight:
            regions = run(plan, paths)
    else:
        regions = run(plan, paths)
    figures = in_flight.figures() if watch else {}
    client = WatchedClient.only
    stats = {f"client_{key}": client.stats()[key] for key in ("filled", "ready_s")} if client else {}
    return {"regions": regions, "seconds": time.perf_counter() - began, **figures, **stats}


def run(plan: Plan, paths: list[str]) -> int:
    regions = 0
    for page in Local(Trace()).stream(plan, sources.list_items(paths, Page)) if paths else ():
        assert isinstance(page, Page) and page.failure is None and page.markdown, page
        regions += sum(bool(region.content) for region in page.regions)
    return regions


def ready(folder: str, boxes: str, count: str, url: str, limit: str) -> dict[str, Any]:
    """Runs the client alone, with every region ready from the start."""
    known = json.loads(Path(boxes).read_text())
    copies = -(-ROUNDS * int(limit) // (REGIONS * int(count)))
    requests = []
    for path in sorted(Path(folder).glob("*.jpg"))[: int(count)]:
        pixels = decode_picture(path.read_bytes()).pixels
        found = [request(cut(pixels, tuple(box))) for box in known[path.stem]]
        # bytes after a JPEG's end make it another picture: more requests without more pages
        requests += [replace(one, image=one.image + bytes([n])) for one in found for n in range(copies)]
    with ChatClient([url], GLM_OCR, limit=int(limit)) as client:
        client.ask(requests[:1])
        with RequestsInFlight(url, int(limit), lambda: int(client.stats()["waiting"])) as in_flight:
            parts = [requests[1 + n :: THREADS] for n in range(THREADS)]
            threads = [threading.Thread(target=client.ask, args=(part,)) for part in parts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        stats = client.stats()
    assert stats["answered"] == len(requests), stats
    return {
        "regions": len(requests),
        **in_flight.figures(),
        "client_filled": stats["filled"],
        "client_ready_s": stats["ready_s"],
    }


def request(piece: Any) -> ChatRequest:
    height, width = piece.shape[:2]
    budget = token_budget("text", width, height, GLM_OCR.max_tokens)
    return ChatRequest(encoded(piece), GLM_OCR.prompt("text"), budget, width * height)


def encoded(piece: Any) -> bytes:
    scale = min(1.0, math.sqrt(MAX_PIXELS / (piece.shape[0] * piece.shape[1])))
    return as_jpeg(sendable(scaled(piece, scale)), SENT_QUALITY)


def build(page: str, crops: str, rounds: str) -> dict[str, Any]:
    """CPU milliseconds from the decoded page to the bytes that are sent; and of the look for blanks."""
    keep_pages()  # as the stage that cuts does
    pixels = decode_picture(Path(page).read_bytes()).pixels
    times = {}
    for name, box in json.loads(crops).items():
        times[name] = per_call_ms(lambda box=box: body(encoded(cut(pixels, box))), int(rounds))
        times[name + " blank check"] = per_call_ms(lambda box=box: is_blank(cut(pixels, box)), int(rounds))
    return times


def body(image: bytes) -> bytes:
    settings = {**GLM_OCR.sampling, "max_tokens": 8192}
    return request_body(image, GLM_OCR.prompt("text"), "fake", settings, image_first=True, stream=None)


def decode(folder: str, count: str) -> dict[str, Any]:
    keep_pages()  # as the stage that decodes does
    pages = [path.read_bytes() for path in sorted(Path(folder).glob("*.jpg"))[: int(count)]]
    return {"decode": mean_ms(decode_picture, pages)}


if __name__ == "__main__":
    what = {"pages": pages, "ready": ready, "build": build, "decode": decode}[sys.argv[1]]
    print(json.dumps(what(*sys.argv[2:])))

"""Pass 1 against a bare load generator: how much the recipe costs on top of the server.

    python benchmarks/bench_grounded.py --pages 19                      # a scripted server of our own
    python benchmarks/bench_grounded.py --pages 512 --server http://127.0.0.1:8000 --tokens 1000

Both ask for the same pictures (A4 at 144 dpi: 903 picture tokens) with the same words and the same number
in flight. The generator sends bytes that are ready; the recipe opens a PDF, renders, asks, reads the
answers, cuts crops and commits rows. A server with random weights never stops: give `--tokens`, which
bounds every answer, and read the pages as partial.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
import cv2
import numpy as np
from PIL import Image

import penstock
from penstock.engines import deepseek
from penstock.engines.chat_wire import request_body
from penstock.engines.deepseek import page_recogniser
from penstock.engines.fake_server import Asked, FakeServer, serving

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "documents"))
from scripted_server import page_answer, sample_truth

WIDTH, HEIGHT = 1190, 1684


def picture(number: int) -> np.ndarray:
    """A page no other page is equal to: the client asks equal ones once."""
    page = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    for line in range(40):
        text = f"{number:05d} {line * 7919 % 1009:04d} the water falls through a steel pipe"
        cv2.putText(page, text, (80, 80 + 38 * line), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (30, 30, 30), 2)
    return page


def run_server(port: multiprocessing.Value, token_ms: float) -> None:  # type: ignore[valid-type]
    truth = sample_truth()
    answers = [page_answer(page, *truth["size"]) for page in truth["pages"]]

    def says(asked: Asked) -> str:
        return answers[asked.checksum % len(answers)]

    fake = FakeServer(
        says=says, token_s=token_ms / 1e3, max_model_len=8_192, encoder_tokens=8_192, keep_asked=False
    )
    with serving(fake) as url:
        port.value = int(url.rpartition(":")[2])
        time.sleep(3600)


async def bare(url: str, pages: list[bytes], in_flight: int, model: str) -> float:
    row = page_recogniser("deepseek-ocr")
    settings = {**row.sampling, "max_tokens": deepseek.MAX_TOKENS}
    bodies = [
        request_body(page, row.prompt("page"), model, settings, image_first=True, stream=row.stream_options)
        for page in pages
    ]
    gate = asyncio.Semaphore(in_flight)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:

        async def one(body: bytes) -> None:
            headers = {"Content-Type": "application/json"}
            async with (
                gate,
                session.post(f"{url}/v1/chat/completions", data=body, headers=headers) as response,
            ):
                response.raise_for_status()
                async for _ in response.content.iter_any():
                    pass

        began = time.monotonic()
        await asyncio.gather(*(one(body) for body in bodies))
        return time.monotonic() - began


def recipe(url: str, pdf: Path, out: Path, in_flight: int, model: str) -> float:
    began = time.monotonic()
    options = {"server": (url,), "in_flight": in_flight, "model": model}
    for _ in penstock.parse(pdf, out=out, recipe="grounded", **options):
        pass
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=19)
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--server", default="")
    parser.add_argument("--model", default="")
    parser.add_argument(
        "--token-ms", type=float, default=10.0, help="of the scripted server; 0.3 to 15 on cards"
    )
    parser.add_argument("--tokens", type=int, default=0, help="most tokens of an answer")
    args = parser.parse_args()
    if args.tokens:
        deepseek.MAX_TOKENS = args.tokens
    pictures = [picture(number) for number in range(args.pages)]
    jpegs = [cv2.imencode(".jpg", page, [cv2.IMWRITE_JPEG_QUALITY, 92])[1].tobytes() for page in pictures]
    url, process = args.server, None
    if not url:
        port = multiprocessing.Value("i", 0)
        process = multiprocessing.Process(target=run_server, args=(port, args.token_ms), daemon=True)
        process.start()
        while not port.value:
            time.sleep(0.05)
        url = f"http://127.0.0.1:{port.value}"
    with tempfile.TemporaryDirectory() as folder:
        pdf = Path(folder) / "pages.pdf"
        images = [Image.fromarray(page) for page in pictures]
        images[0].save(pdf, save_all=True, append_images=images[1:], resolution=144)
        bare_s = asyncio.run(bare(url, jpegs, args.in_flight, args.model or "fake"))
        recipe_s = recipe(url, pdf, Path(folder) / "out", args.in_flight, args.model)
    if process is not None:
        process.terminate()
    figures = {
        "pages": args.pages,
        "bare_s": round(bare_s, 2),
        "recipe_s": round(recipe_s, 2),
        "ratio": round(recipe_s / bare_s, 3),
        "recipe_pages_per_s": round(args.pages / recipe_s, 2),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

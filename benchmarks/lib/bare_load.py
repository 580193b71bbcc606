"""Draws pages whose regions are known, cuts their crops, and sends them: a load generator and nothing else.

The rate that servers reach with it is the limit that a pipeline on the same servers is compared with. Random
weights never write an end token, so an answer has a length drawn from its crop's size and ignores the token.
"""

from __future__ import annotations

import asyncio
import base64
import os
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
import cv2
import numpy as np

from benchmarks.lib.answer_lengths import length_of
from benchmarks.lib.known_pages import HEIGHT, boxes_of
from penstock.documents.formats.jpeg import jpeg_shape
from penstock.engines.image.crop import as_jpeg, cut, scaled
from penstock.workers.crop_regions import SENT_QUALITY

PROMPT = "Text Recognition:"
SAMPLING = {"temperature": 0.0, "ignore_eos": True}

Request = Callable[[str, str, int], tuple[str, dict[str, Any]]]  # of a model, a picture, and a length


def write_pages(folder: str, numbers: Sequence[int], width: int, height: int) -> None:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(_write_page, [(number, folder, width, height) for number in numbers]))


def _write_page(task: tuple[int, str, int, int]) -> None:
    number, folder, width, height = task
    page = np.full((height, width, 3), 255, np.uint8)
    dice = random.Random(number)
    for x0, y0, x1, y1 in boxes_of(number, width, height):
        step = max(8, round(44 * height / HEIGHT))
        for y in range(int(y0) + step, int(y1), step):
            words = "".join(chr(dice.randint(33, 122)) for _ in range(int((x1 - x0) / (0.5 * step))))
            cv2.putText(
                page, words, (int(x0) + 4, y - 4), cv2.FONT_HERSHEY_SIMPLEX, step / 44, (20, 20, 20), 2
            )
    cv2.imwrite(f"{folder}/{number:05d}.jpg", page, [cv2.IMWRITE_JPEG_QUALITY, 90])


def crops_of(paths: Sequence[str], scale: float) -> list[tuple[str, int]]:
    """Every region of the pages in base64, and the length of its answer."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        pages = list(pool.map(_page_crops, [(path, scale) for path in paths]))
    crops = []
    for crop in (crop for page in pages for crop in page):
        shape = jpeg_shape(crop)
        crops.append((base64.b64encode(crop).decode(), length_of(shape.width, shape.height)))
    return crops


def _page_crops(task: tuple[str, float]) -> list[bytes]:
    path, scale = task
    pixels = np.asarray(cv2.imread(path)[:, :, ::-1], dtype=np.uint8)
    boxes = boxes_of(int(Path(path).stem), pixels.shape[1], pixels.shape[0])
    return [as_jpeg(scaled(cut(pixels, box), scale), SENT_QUALITY) for box in boxes]


def reading(model: str, image: str, tokens: int) -> tuple[str, dict[str, Any]]:
    """Where a request for words goes, and the request."""
    content = [_picture(image), {"type": "text", "text": PROMPT}]
    message = {"role": "user", "content": content}
    return "/v1/chat/completions", {"model": model, "messages": [message], "max_tokens": tokens, **SAMPLING}


def embedding(model: str, image: str, tokens: int) -> tuple[str, dict[str, Any]]:
    """Where a request for a vector goes, and the request."""
    message = {"role": "user", "content": [_picture(image)]}
    body = {"model": model, "messages": [message], "add_generation_prompt": True, "encoding_format": "base64"}
    return "/v1/embeddings", body


def _picture(image: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64," + image}}


def send_all(
    servers: Sequence[str], model: str, crops: Sequence[tuple[str, int]], limit: int, ask: Request = reading
) -> float:
    """Seconds until every crop has its answer, `limit` in flight, the servers in turn."""
    return asyncio.run(_send_all(servers, model, crops, limit, ask))


async def _send_all(
    servers: Sequence[str], model: str, crops: Sequence[tuple[str, int]], limit: int, ask: Request
) -> float:
    gate = asyncio.Semaphore(limit)
    timeout, connector = aiohttp.ClientTimeout(900), aiohttp.TCPConnector(limit=0)

    async def send(session: aiohttp.ClientSession, number: int, image: str, tokens: int) -> None:
        path, body = ask(model, image, tokens)
        async with gate, session.post(servers[number % len(servers)] + path, json=body) as answer:
            assert answer.status == 200, await answer.text()
            await answer.read()

    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        began = time.perf_counter()
        await asyncio.gather(*(send(session, n, image, tokens) for n, (image, tokens) in enumerate(crops)))
        return time.perf_counter() - began

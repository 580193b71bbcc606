"""Pages and photos as the stage `load` gives them, and small pictures to load."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

from penstock.page import Page
from penstock.photo import Photo
from penstock.sources import list_items
from penstock.stage import Worker
from penstock.stages.load import Load

ItemT = TypeVar("ItemT", Page, Photo)


def load(path: Path, **settings: object) -> list[Page]:
    return load_items(list(list_items([str(path)], Page)), **settings)


def load_items(items: list[ItemT], **settings: object) -> list[ItemT]:
    worker: Worker = Load(**settings).open()  # type: ignore[arg-type]
    try:
        return worker(items)
    finally:
        worker.close()


def shown(path: Path) -> np.ndarray:
    (item,) = load(path)
    assert item.pixels is not None and item.pixels.dtype == np.uint8
    assert item.pixels.shape == (item.height, item.width, 3)
    return item.pixels


def colours() -> Image.Image:
    """Red top left, green top right, blue bottom left, white bottom right; wider than high."""
    image = Image.new("RGB", (64, 32), "white")
    image.paste((255, 0, 0), (0, 0, 32, 16))
    image.paste((0, 255, 0), (32, 0, 64, 16))
    image.paste((0, 0, 255), (0, 16, 32, 32))
    return image


def png16(values: np.ndarray) -> bytes:
    height, width = values.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    return made_png(struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0), zlib.compress(rows))


def made_png(header: bytes, data: bytes) -> bytes:
    chunks = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    body = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)

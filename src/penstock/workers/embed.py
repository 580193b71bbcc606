"""Embeds pages, texts and crops with one engine, a batch at a time.

An embedder that reads texts only skips pictures; a region then has the vector of its words, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from penstock.documents.pages.embedded_page import EmbeddedPage, VectorPart
from penstock.engines.embed.embedder import Embedder, open_embedder
from penstock.engines.image.codec import decode_rgb, encode_jpeg
from penstock.errors import EngineError
from penstock.stage import Worker
from penstock.stages.embed import Embed

if TYPE_CHECKING:
    from penstock.engines.embed.embedder import Vectors

SETTINGS = ("model", "dimensions", "max_image_tokens", "server", "in_flight", "device", "style", "api_key")
JPEG_QUALITY = 92


class EmbedWorker(Worker[EmbeddedPage]):
    def __init__(self, stage: Embed) -> None:
        self._engine: Embedder = open_embedder(
            stage.engine, {name: getattr(stage, name) for name in SETTINGS}
        )
        self._out = Path(stage.out)
        self._instruction = stage.instruction
        self._images = stage.images

    def __call__(self, items: list[EmbeddedPage]) -> list[EmbeddedPage]:
        """All texts, all pages and all crops of the batch, in one call of the engine each."""
        texts = self._texts([page.text for page in items])
        pictures = self._pages(items) if self._images else [None] * len(items)
        parts = iter(self._parts([part for page in items for part in page.parts]))
        return [
            replace(
                page,
                text_vector=text,
                image_vector=picture,
                parts=tuple(next(parts) for _ in page.parts),
            )
            for page, text, picture in zip(items, texts, pictures, strict=True)
        ]

    def close(self) -> None:
        self._engine.close()

    def _texts(self, texts: Sequence[str]) -> list[bytes | None]:
        """A text without a word has no vector: one made up for it would be found."""
        return _where(
            [text.strip() for text in texts], lambda some: self._engine.texts(some, self._instruction)
        )

    def _pages(self, pages: Sequence[EmbeddedPage]) -> list[bytes | None]:
        pictures = [_upright(page) for page in pages]
        return _where(pictures, lambda some: self._engine.images(some, [""] * len(some), self._instruction))

    def _parts(self, parts: Sequence[VectorPart]) -> Iterator[VectorPart]:
        crops = [part for part in parts if self._images and part.crop_path]
        words = [part for part in parts if not (self._images and part.crop_path)]
        files = [(self._out / str(part.crop_path)).read_bytes() for part in crops]
        captions = [part.words for part in crops]
        shown: Vectors | list[bytes] = (
            self._engine.images(files, captions, self._instruction) if crops else []
        )
        seen = dict(zip(map(id, crops), _rows(shown), strict=True))
        read = dict(zip(map(id, words), self._texts([part.words for part in words]), strict=True))
        for part in parts:
            if id(part) in seen:
                yield replace(part, vector=seen[id(part)], seen="image")
            else:
                vector = read[id(part)]
                yield replace(part, vector=vector, seen="text" if vector else "")


def _where(values: Sequence[str] | Sequence[bytes], embed: Callable[..., Vectors]) -> list[bytes | None]:
    """A row for each value that is not empty, None for the others."""
    some = [value for value in values if value]
    rows = iter(_rows(embed(some)) if some else [])
    return [next(rows) if value else None for value in values]


def _rows(vectors: Vectors | list[bytes]) -> list[bytes]:
    if isinstance(vectors, list):
        return vectors
    return [row.astype("<f4").tobytes() for row in vectors]


def _upright(page: EmbeddedPage) -> bytes:
    """Returns the page's encoded picture, turned as the run turned it; untouched where it was upright."""
    if page.image is None:
        raise EngineError(f"{page.id} has no picture.")
    if not page.rotation:
        return page.image
    pixels = decode_rgb(page.image)
    if pixels is None:
        raise EngineError(f"The picture of {page.id} cannot be decoded to turn it upright.")
    turned = np.ascontiguousarray(np.rot90(pixels, k=-page.rotation // 90))
    return encode_jpeg(turned, JPEG_QUALITY)

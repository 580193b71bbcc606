"""Gives pages vectors: of their picture, their text, and each chart, table and picture on them.

What is embedded is decided by whoever lists the pages (search/to_embed.py), so it travels with the item and
its digest. An embedder without eyes skips pictures; a region then has the vector of its words, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from penstock.engines.embed.embedder import REPRESENT, open_embedder
from penstock.errors import EngineError
from penstock.item import Item
from penstock.stage import Batch, Stage, tuning

if TYPE_CHECKING:
    from penstock.engines.embed.embedder import Embedder, Vectors

Regions = Literal["visual", "all"]

BATCH = 24  # pages: of 1,344 tokens each, one full batch of the network (engines/embed/qwen.py)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A region that gets a vector of its own. `words` are its caption and, of a table, its text."""

    index: int
    label: str
    words: str
    crop_path: str | None = None
    vector: bytes | None = None  # float32, little-endian
    seen: str = ""  # "image" or "text": what the vector was made from


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectored(Item):
    """A page (or a query) on its way to vectors. `digest` is of everything that is embedded."""

    text: str = ""
    digest: str = ""
    parts: tuple[Part, ...] = ()
    image_vector: bytes | None = None
    text_vector: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class Embed(Stage):
    """Embeds with one of `engines.embed.EMBEDDERS`. With `images` it reads the page's encoded picture."""

    name: ClassVar[str] = "embed"
    writes: ClassVar[tuple[str, ...]] = ("vectors",)

    engine: str = "use"
    model: str | None = None
    dimensions: int | None = None
    max_image_tokens: int | None = None
    instruction: str = REPRESENT
    images: bool = False
    regions: Regions = "visual"  # which regions the listing gave a part; see search/to_embed.py
    # where the model runs and how many requests are under way changes no vector
    out: str = tuning("")
    server: str | None = tuning(None)
    in_flight: int | None = tuning(None)
    device: str | None = tuning(None)
    style: str | None = tuning(None)
    api_key: str | None = field(default=None, repr=False, metadata={"tuning": True})

    batch: Batch = tuning(Batch(max_items=BATCH, linger_ms=200.0))

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("image",) if self.images else ()

    def open(self) -> _Embedder:
        names = (
            "model",
            "dimensions",
            "max_image_tokens",
            "server",
            "in_flight",
            "device",
            "style",
            "api_key",
        )
        engine = open_embedder(self.engine, {name: getattr(self, name) for name in names})
        return _Embedder(engine, Path(self.out), self.instruction, self.images)


class _Embedder:
    def __init__(self, engine: Embedder, out: Path, instruction: str, images: bool) -> None:
        self._engine = engine
        self._out = out
        self._instruction = instruction
        self._images = images

    def __call__(self, items: list[Item]) -> list[Item]:
        """All texts, all pages and all crops of the batch, in one call of the engine each."""
        pages = [item for item in items if isinstance(item, Vectored)]
        if len(pages) != len(items):
            raise EngineError("Only listed pages and queries can be embedded.")
        texts = self._texts([page.text for page in pages])
        pictures = self._pages(pages) if self._images else [None] * len(pages)
        parts = iter(self._parts([part for page in pages for part in page.parts]))
        return [
            replace(
                page,
                text_vector=text,
                image_vector=picture,
                parts=tuple(next(parts) for _ in page.parts),
            )
            for page, text, picture in zip(pages, texts, pictures, strict=True)
        ]

    def close(self) -> None:
        self._engine.close()

    def _texts(self, texts: Sequence[str]) -> list[bytes | None]:
        """A text without a word has no vector: one made up for it would be found."""
        return _where(
            [text.strip() for text in texts], lambda some: self._engine.texts(some, self._instruction)
        )

    def _pages(self, pages: Sequence[Vectored]) -> list[bytes | None]:
        pictures = [_upright(page) for page in pages]
        return _where(pictures, lambda some: self._engine.images(some, [""] * len(some), self._instruction))

    def _parts(self, parts: Sequence[Part]) -> Iterator[Part]:
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


def _upright(page: Vectored) -> bytes:
    """The page's encoded picture, turned as the run turned it; untouched where it stood upright."""
    if page.image is None:
        raise EngineError(f"{page.id} has no picture.")
    if not page.rotation:
        return page.image
    import cv2
    import numpy as np

    pixels = cv2.imdecode(np.frombuffer(page.image, np.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise EngineError(f"The picture of {page.id} cannot be decoded to turn it upright.")
    turned = np.ascontiguousarray(np.rot90(pixels, k=-page.rotation // 90))
    return cv2.imencode(".jpg", turned, [cv2.IMWRITE_JPEG_QUALITY, 92])[1].tobytes()

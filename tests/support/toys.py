"""A toy of each kind that docs/ARCHITECTURE.md and docs/how-to/extend.md say how to add.

`tests/test_plugins.py` installs this file as a package of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from penstock.engines.layout.cdla import Detection
from penstock.engines.segment.segmenter import FoundThing, SegmenterOptions
from penstock.exports.pages import Pages
from penstock.item import Item
from penstock.page import Page
from penstock.plan import Plan
from penstock.region import Region
from penstock.stage import Stage, Worker


class ToyEmbedder:
    """An engine: a vector that holds how often each of four letters stands in a text."""

    takes_images = False

    def texts(self, texts: Sequence[str], instruction: str = "") -> Any:
        counts = np.array([[1 + text.count(letter) for letter in "aeio"] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def close(self) -> None:
        pass


class ToySegmenter:
    """An engine: the upper left quarter is what was looked for."""

    def __init__(self, options: SegmenterOptions) -> None:
        self._label = options.labels[0]

    def find(self, pictures: Sequence[Any]) -> list[list[FoundThing]]:
        return [[self._thing(*picture.shape[:2])] for picture in pictures]

    def _thing(self, height: int, width: int) -> FoundThing:
        mask = np.zeros((height, width), bool)
        mask[: height // 2, : width // 2] = True
        return FoundThing(self._label, 1.0, (0.0, 0.0, width / 2, height / 2), mask)

    def close(self) -> None:
        pass


class ToyLayout:
    """An engine: one region holds all of the page."""

    def __init__(self, threshold: float | None) -> None:
        pass

    def detect(self, pixels: Any) -> list[Detection]:
        height, width = pixels.shape[:2]
        return [Detection("text", "everything", (0.0, 0.0, float(width), float(height)), 1.0)]

    def close(self) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class Shout(Stage):
    """A stage: the document's name in capitals is what the page says."""

    name: ClassVar[str] = "shout"
    reads: ClassVar[tuple[str, ...]] = ("document",)
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown")

    def open(self) -> ShoutWorker:
        return ShoutWorker()


class ShoutWorker(Worker[Page]):
    def __call__(self, items: list[Page]) -> list[Page]:
        return [self._page(page, page.document.upper()) for page in items]

    def _page(self, page: Page, text: str) -> Page:
        region = Region(label="text", box=(0.0, 0.0, 9.0, 9.0), content=text)
        return replace(page, width=10, height=10, regions=(region,), markdown=text)


def shouting() -> Plan:
    """A recipe."""
    return Plan(Shout(), name="shouting")


def count_up(rest: str) -> Iterator[Item]:
    """A source: `toy:3` lists three pages."""
    for number in range(int(rest)):
        yield Item(id=f"toy/{number:05d}", uri="toy", document="toy", part=number)


def write_lengths(pages: Pages) -> list[Path]:
    """An export: how long each page's Markdown is."""
    path = pages.out / "lengths.txt"
    path.write_text("\n".join(str(len(page.markdown)) for page in pages.items()))
    return [path]


def greet(name: str = "you") -> None:
    """Say hello."""
    print(f"hello {name}")

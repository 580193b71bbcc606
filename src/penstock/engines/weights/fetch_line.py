"""One line on standard error while models are fetched at their first use.

On a terminal it is drawn in place and counts. Elsewhere, and while a run draws its own display, it is
written once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TextIO

from penstock.engines.weights.builtin import BuiltinModel
from penstock.sizes import file_size

DRAW_EVERY_S = 0.25
DONE = ("fetched", "already there")
silent = False  # set by --quiet


class FetchLine:
    """Gets models and bytes from `fetch_models`, and says how far they are."""

    def __init__(
        self,
        models: Sequence[BuiltinModel],
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._all = len(models)
        self._done = self._bytes = 0
        self._clock, self._drawn_at = clock, -DRAW_EVERY_S
        size = file_size(sum(model.size for model in models))
        self._what = f"Fetching the built-in models, once, about {size}"
        # while a run draws its own display, sys.stderr is another object
        self._in_place = self._stream.isatty() and self._stream is sys.__stderr__

    def __enter__(self) -> FetchLine:
        self._write(f"\r{self._what}" if self._in_place else f"{self._what}\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self._in_place:
            self._draw()
            self._write("\n")

    def tell(self, name: str, what: str) -> None:
        self._done += what in DONE

    def told(self, count: int) -> None:
        self._bytes += count
        if self._in_place and self._clock() - self._drawn_at >= DRAW_EVERY_S:
            self._draw()

    def _draw(self) -> None:
        self._drawn_at = self._clock()
        self._write(f"\r{self._what}: {self._done} of {self._all}, {file_size(self._bytes)} have come")

    def _write(self, text: str) -> None:
        if silent:
            return
        with suppress(OSError, ValueError):  # a stream that is gone must not end a run
            self._stream.write(text)
            self._stream.flush()

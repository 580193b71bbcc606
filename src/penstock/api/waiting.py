"""Waits on a thread, so that an event loop does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from penstock.converted.collection import Documents
from penstock.converted.document import Document
from penstock.passes.in_order import OnProgress, ParseProgress

Result = TypeVar("Result")
Converted = TypeVar("Converted", Document, Documents, Document | Documents)


class Waiting:
    """One thread that waits in the loop's place. Its calls follow one another, also after it is left."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="aio")

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=False)  # it ends by itself, after what it was given

    async def do(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def later(self, call: Callable[[], object]) -> None:
        """Does it when the calls before it have ended, and does not wait for that."""
        self._thread.submit(call)


async def read_whole(convert: Callable[[], Converted]) -> Converted:
    """Returns what `convert` returns, once every page of it is read."""
    with Waiting() as waiting:
        found = await waiting.do(convert)
        try:
            await waiting.do(partial(len, found.pages if isinstance(found, Document) else found))
        except BaseException:
            waiting.later(found.close)
            raise
    return found


def on_loop(on_progress: OnProgress | None) -> Callable[[ParseProgress], Any] | None:
    """Returns a callback that may be called from any thread and runs on this loop."""
    if on_progress is None:
        return None
    loop = asyncio.get_running_loop()
    return lambda progress: loop.call_soon_threadsafe(on_progress, progress)

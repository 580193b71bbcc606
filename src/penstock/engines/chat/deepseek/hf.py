"""DeepSeek-OCR models by transformers, in this process, one page at a time: for machines without vLLM.

`HfClient` has `ChatClient`'s methods, so the grounded stage can use either. transformers has the second
model itself (native.py). The first runs by the code that its authors publish with its weights
(remote.py), and only where the user trusts that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from penstock.engines.chat.deepseek.native import NativeReader
from penstock.engines.chat.deepseek.pages import MAX_TOKENS, NgramGuard, page_recogniser
from penstock.engines.chat.deepseek.remote import RemoteCodeReader
from penstock.engines.chat.deepseek.resolution import FIRST_MODEL, resolution
from penstock.engines.chat.job import Answer
from penstock.engines.chat.recognisers import Recogniser
from penstock.errors import EngineError


class HfReader(Protocol):
    """Weights, loaded once for all documents. Writes one answer at a time."""

    def read(self, image: bytes, prompt: str, max_tokens: int, guard: NgramGuard) -> Answer:
        """Reads one page. Raises EngineError if the model fails."""

    def close(self) -> None: ...


def open_reader(recogniser: str, model: str, shown: str) -> HfReader:
    """Loads a model that shows itself pages in the resolution `shown`."""
    kind = RemoteCodeReader if recogniser == FIRST_MODEL else NativeReader
    return kind(model, resolution(shown, recogniser))


class HfClient:
    """What the grounded stage calls."""

    def __init__(self, reader: HfReader, name: str, guard: NgramGuard, max_tokens: int = MAX_TOKENS) -> None:
        self.recogniser: Recogniser = page_recogniser(name, guard, max_tokens)
        self._reader = reader
        self._guard = guard

    def ask(self, requests: Sequence[Any]) -> list[Answer | EngineError]:
        return [self._one(request) for request in requests]

    def close(self) -> None:
        """Does nothing: the stage owns the weights and closes them."""

    def _one(self, request: Any) -> Answer | EngineError:
        try:
            return self._reader.read(request.image, request.prompt, request.max_tokens, self._guard)
        except EngineError as exc:
            return exc

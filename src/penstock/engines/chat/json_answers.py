"""Gets JSON of a given shape from a served model.

The shape goes with each request (`response_format`), so that a server which decodes under constraints (vLLM,
SGLang, llama.cpp) writes nothing else. A server that ignores it is read as far as its answer is JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.engines.chat.client import Answer, ChatClient, ChatRequest
from penstock.engines.chat.lenient_json import read_object
from penstock.engines.chat.recognisers import RECOGNISERS
from penstock.engines.chat.wire import NO_PICTURE
from penstock.errors import EngineError


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """An object that a model wrote, and the model's name."""

    value: Mapping[str, Any]
    model: str


class JsonClient:
    """Sends questions about text to servers. Thread-safe; close it."""

    def __init__(
        self,
        servers: Sequence[str],
        shape: Mapping[str, Any],
        *,
        model: str = "",
        api_key: str | None = None,
        in_flight: int = 64,
        max_tokens: int = 2_000,
    ) -> None:
        wanted = {"type": "json_schema", "json_schema": {"name": "fields", "schema": shape, "strict": True}}
        plain = RECOGNISERS["openai"]
        row = replace(
            plain,
            sampling={**plain.sampling, "response_format": wanted},
            watch_loops=False,
            max_tokens=4 * max_tokens,
        )
        self._model = model
        self._max_tokens = max_tokens
        self._client = ChatClient(servers, row, model=model or None, limit=in_flight, api_key=api_key)

    def ask(self, prompts: Sequence[str]) -> list[JsonAnswer | EngineError]:
        """Returns an object, or the reason why there is none, for each question in their order."""
        requests = [ChatRequest(NO_PICTURE, prompt, self._max_tokens) for prompt in prompts]
        return [self._read(outcome) for outcome in self._client.ask(requests)]

    def close(self) -> None:
        self._client.close()

    def _read(self, outcome: Answer | EngineError) -> JsonAnswer | EngineError:
        if not isinstance(outcome, Answer):
            return outcome
        value = read_object(outcome.text)
        if value is None:
            return EngineError("The model's answer was not JSON.")
        return JsonAnswer(value, outcome.model or self._model)

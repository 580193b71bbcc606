"""Gets the relevance of texts from a server with /v1/rerank, as vLLM, Jina and Cohere have it.

One request a question. The answer is a stranger's: its size, its numbers and its indices are checked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from penstock.engines.json_server import JsonServer, ServerWords
from penstock.errors import EngineError

TIMEOUT_S = 60.0
WORDS = ServerWords("rerank server", "--rerank", "--rerank-key")


class ServerReranker:
    """Scores texts by a question. `model` empty: the first that the server lists."""

    def __init__(self, server: str, model: str = "", api_key: str | None = None) -> None:
        self._server = JsonServer(server.removesuffix("/rerank"), api_key, WORDS, TIMEOUT_S)
        self._model = model

    def scores(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Returns the relevance of each text; None for one that the server left out."""
        if not texts:
            return []
        model = self._model or self._first_model()
        body = {"model": model, "query": question, "documents": list(texts), "top_n": len(texts)}
        answer = self._server.ask("POST", "/v1/rerank", json.dumps(body).encode())
        return _scores(answer, len(texts))

    def close(self) -> None:
        self._server.close()

    def _first_model(self) -> str:
        try:
            return str(json.loads(self._server.ask("GET", "/v1/models"))["data"][0]["id"])
        except (ValueError, LookupError, TypeError, RecursionError) as exc:
            raise EngineError(
                f"The rerank server {self._server.host} does not list its models.",
                "Name one with --rerank-model.",
            ) from exc


def _scores(answer: bytes, count: int) -> list[float | None]:
    found: list[float | None] = [None] * count
    try:
        for row in json.loads(answer)["results"]:
            index, score = row["index"], float(row["relevance_score"])
            if type(index) is int and 0 <= index < count and math.isfinite(score):
                found[index] = score
    except (ValueError, LookupError, TypeError, RecursionError) as exc:
        raise EngineError("The rerank server's answer is no list of relevances.", "Check --rerank.") from exc
    return found

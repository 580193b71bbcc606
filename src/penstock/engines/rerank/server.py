"""Gets the relevance of texts from a server with /v1/rerank, as vLLM, Jina and Cohere have it.

One request a question. The answer is a stranger's: its size, its numbers and its indices are checked.
"""

from __future__ import annotations

import http.client
import json
import math
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from penstock.engines.chat.address import authorization, base_url
from penstock.engines.chat.errors import message_of
from penstock.errors import EngineError

TIMEOUT_S = 60.0
TRIES = 3
PAUSE_S = 0.5
MAX_ANSWER = 8_000_000  # bytes
BUSY = (429, 500, 502, 503, 504)


class ServerReranker:
    """Scores texts by a question. `model` empty: the first that the server lists."""

    def __init__(self, server: str, model: str = "", api_key: str | None = None) -> None:
        parts = urlsplit(base_url(server))
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._path = parts.netloc, parts.path.removesuffix("/rerank")
        self._headers = {"Content-Type": "application/json", **authorization(server)}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._model = model

    def scores(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Returns the relevance of each text; None for one that the server left out."""
        if not texts:
            return []
        model = self._model or self._first_model()
        body = {"model": model, "query": question, "documents": list(texts), "top_n": len(texts)}
        answer = self._ask("POST", "/v1/rerank", json.dumps(body).encode())
        return _scores(answer, len(texts))

    def _first_model(self) -> str:
        try:
            return str(json.loads(self._ask("GET", "/v1/models"))["data"][0]["id"])
        except (ValueError, LookupError, TypeError, RecursionError) as exc:
            raise EngineError(
                f"The rerank server {self._host} does not list its models.", "Name one with --rerank-model."
            ) from exc

    def _ask(self, method: str, route: str, body: bytes | None = None) -> bytes:
        why = ""
        for number in range(TRIES):
            if number:
                time.sleep(PAUSE_S * number)
            try:
                status, answer = self._once(method, route, body)
            except (OSError, http.client.HTTPException) as exc:
                why = f"{type(exc).__name__}: {exc}".rstrip(": ")
                continue
            if status == 200:
                return answer
            why = f"HTTP {status}: {message_of(answer[:10_000])}"
            if status not in BUSY:
                break
        raise EngineError(f"The rerank server {self._host} did not answer {route}: {why}.", "Check --rerank.")

    def _once(self, method: str, route: str, body: bytes | None) -> tuple[int, bytes]:
        connection = self._kind(self._host, timeout=TIMEOUT_S)
        try:
            connection.request(method, self._path + route, body, self._headers)
            response = connection.getresponse()
            answer = response.read(MAX_ANSWER + 1)
        finally:
            connection.close()
        if len(answer) > MAX_ANSWER:
            raise EngineError(f"The rerank server {self._host} answers more than {MAX_ANSWER} bytes.")
        return response.status, answer


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

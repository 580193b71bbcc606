"""Embeds texts through any server with /v1/embeddings, and pictures through vLLM's pooling.

Plain servers get texts as `input`. A Qwen3-VL-Embedding on vLLM (`--runner pooling`) gets messages: the
instruction as system message, then the encoded picture, unchanged, and its caption. Requests run in parallel
on connections that stay open; the server makes the batches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pybase64

from penstock.engines.chat.wire import PICTURE_URL, with_picture
from penstock.engines.embed.embedder import punctuated, unit_rows
from penstock.engines.json_server import JsonServer, ServerWords
from penstock.errors import EngineError, UsageError

if TYPE_CHECKING:
    from penstock.engines.embed.embedder import Vectors

IN_FLIGHT = 32
TIMEOUT_S = 300.0
WORDS = ServerWords("embedding server", "--server", "--api-key or PENSTOCK_API_KEY")
MAX_CHARS = 24_000  # 8,192 tokens are about 12,000 Korean or 32,000 English characters
TOO_LONG = ("maximum context", "longer than the max", "max_model_len", "too long", "context length")


class ServerEmbedder:
    """Sends messages with an instruction to a server that says it is vLLM, plain texts to any other."""

    takes_images = True

    def __init__(
        self,
        server: str = "",
        model: str = "",
        dimensions: int | None = None,
        in_flight: int = IN_FLIGHT,
        api_key: str = "",
    ) -> None:
        if not server:
            raise UsageError("No server was given.", "Name one with --server http://host:8000.")
        self._server = JsonServer(server, api_key, WORDS, TIMEOUT_S)
        self._dimensions = dimensions
        try:
            self.model, self._chat = _introduce(self._server, model)
        except (EngineError, UsageError):
            self._server.close()
            raise
        self._pool = ThreadPoolExecutor(in_flight, thread_name_prefix="embed-request")

    def texts(self, texts: Sequence[str], instruction: str = "") -> Vectors:
        calls = [lambda text=text: self._text(text, instruction) for text in texts]
        return self._all(calls)

    def images(self, images: Sequence[bytes], captions: Sequence[str], instruction: str = "") -> Vectors:
        if not self._chat:
            raise EngineError(
                "This server takes texts only: it does not say it is vLLM.",
                "Serve Qwen3-VL-Embedding with vLLM, or leave pictures out with --no-images.",
            )
        pairs = zip(images, captions, strict=True)
        calls = [lambda p=picture, c=caption: self._picture(p, c, instruction) for picture, caption in pairs]
        return self._all(calls)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._server.close()

    def _all(self, calls: Sequence[Callable[[], list[float]]]) -> Vectors:
        import numpy as np

        if not calls:
            return np.zeros((0, self._dimensions or 0), np.float32)
        rows = [future.result() for future in [self._pool.submit(ask) for ask in calls]]
        return unit_rows(np.asarray(rows, np.float32), self._dimensions)

    def _embedded(self, body: bytes) -> list[float]:
        return _vector(self._server.ask("POST", "/v1/embeddings", body))

    def _text(self, text: str, instruction: str) -> list[float]:
        shown = text[:MAX_CHARS].strip() or "NULL"
        while True:
            try:
                return self._embedded(self._text_body(shown, instruction))
            except EngineError as exc:
                if len(shown) < 64 or not any(words in exc.message for words in TOO_LONG):
                    raise
                shown = shown[: len(shown) // 2]  # the start of a page says most about it

    def _text_body(self, text: str, instruction: str) -> bytes:
        if self._chat:
            return self._messages([{"type": "text", "text": text}], instruction).encode()
        return json.dumps({"model": self.model, "input": text, "encoding_format": "float"}).encode()

    def _picture(self, image: bytes, caption: str, instruction: str) -> list[float]:
        content: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": PICTURE_URL}}]
        if caption.strip():
            content.append({"type": "text", "text": caption})
        return self._embedded(with_picture(self._messages(content, instruction), image))

    def _messages(self, content: list[dict[str, Any]], instruction: str) -> str:
        system = [{"type": "text", "text": punctuated(instruction)}]
        body = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": content}],
            "add_generation_prompt": True,
            "add_special_tokens": True,  # the tokenizer's own last token is what is pooled
            "encoding_format": "base64",
        }
        return json.dumps(body)


def _introduce(server: JsonServer, model: str) -> tuple[str, bool]:
    """Returns the model's name (the first served if none was given) and whether the server is vLLM.

    A server need not list its models, but it must answer: else every page would wait for it in vain.
    """
    try:
        rows = json.loads(server.ask("GET", "/v1/models")).get("data") or []
    except (EngineError, ValueError, AttributeError) as exc:
        if isinstance(exc, EngineError) and exc.advice:
            raise
        if model:
            return model, False
        raise EngineError(f"The server does not list its models ({exc}).", "Name one with --model.") from exc
    found = next((row for row in rows if not model or row.get("id") == model), None)
    if found is None:
        raise UsageError(f"The server has no model {model!r}.", f"It has: {[row.get('id') for row in rows]}.")
    return str(found["id"]), found.get("owned_by") == "vllm"


def _vector(answer: bytes) -> list[float]:
    import numpy as np

    try:
        value = json.loads(answer)["data"][0]["embedding"]
        if isinstance(value, str):
            return list(np.frombuffer(pybase64.b64decode(value), np.float32).astype(float))
        return [float(number) for number in value]
    except (ValueError, LookupError, TypeError) as exc:
        raise EngineError("The server's answer is not an embedding.") from exc

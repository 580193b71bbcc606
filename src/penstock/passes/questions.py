"""Turns questions into vectors by the engine that embedded a run. Light: a short command imports it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.engines.embed.embedder import RETRIEVE, open_embedder
from penstock.errors import EngineError, OpenError
from penstock.retrieval.embedded_by import embedded_by

WITHOUT_VECTORS = (
    "Start the server, tell its new address by penstock embed OUT --server,"
    " or search by words: --weights text=0,image=0,region=0"
)


def embed_question(out: Path, question: str, api_key: str | None = None) -> Any:
    """Returns one question's vector by the engine that embedded OUT, or None when OUT has no vectors."""
    with Questions(out, api_key, once=True) as questions:
        return questions.vector(question)


class Questions:
    """Turns questions into vectors by the engine that embedded OUT; keeps it open between two.

    `once`: there will be one question, and its answer is waited for.
    """

    def __init__(self, out: Path, api_key: str | None = None, once: bool = False) -> None:
        self._about = embedded_by(out)
        self._once = once
        self._api_key = api_key
        self._engine: Any = None

    def __enter__(self) -> Questions:
        return self

    def __exit__(self, *_: object) -> None:
        if self._engine is not None:
            self._engine.close()

    def vector(self, question: str) -> Any:
        """None when OUT has no vectors."""
        if not self._about:
            return None
        try:
            self._engine = self._engine or self._open()
            return self._engine.texts([question], RETRIEVE)[0]
        except (EngineError, OpenError) as exc:
            raise EngineError(f"The question cannot be embedded. {exc.message}", WITHOUT_VECTORS) from exc

    def _open(self) -> Any:
        settings = {key: self._about.get(key) for key in ("model", "dimensions", "server")}
        # a key is only for those that ask a server: the variable that holds it may be set for other things
        settings["api_key"] = self._api_key if self._about.get("server") else None
        return open_embedder(self._about["engine"], settings, self._once)

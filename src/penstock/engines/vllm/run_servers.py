"""The model servers of a run: those the user named, or its own, which end with it.

Its own start in a thread, so that a run loads and lays out its first pages meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future

from penstock.engines.chat.address import base_url
from penstock.engines.vllm.presets import cards
from penstock.engines.vllm.server import start_all
from penstock.engines.vllm.server_plan import reading_servers, requests_in_flight
from penstock.trace.server_metrics import announce


class RunServers:
    """Servers that start; `await_ready` returns when they are up.

    `urls` are their addresses; `in_flight` requests at once keep them busy. `model` is what named servers
    call it, or what our own load. `others` is how many requests each server gets at once that someone else
    runs.
    """

    def __init__(
        self,
        recogniser: str,
        named: Sequence[str],
        *,
        model: str,
        preset: str,
        dtype: str,
        memory: float | None = None,
        vision: str = "auto",
        max_model_len: int = 0,
        max_tokens: int = 0,
        in_flight: int,
        others: int,
    ) -> None:
        chosen = (
            []
            if named
            else reading_servers(
                recogniser,
                cards(),
                model=model,
                preset_name=preset,
                dtype=dtype,
                memory=memory,
                vision=vision,
                max_model_len=max_model_len,
                max_tokens=max_tokens,
            )
        )
        self._own = [choice.managed() for choice in chosen]
        self.urls = list(named) or [server.url for server in self._own]
        self.model = (model or None) if named else None  # None: the client asks them
        self.in_flight = in_flight or requests_in_flight(chosen) or others * len(named)
        for address in named:
            announce(base_url(address), in_flight=self.in_flight)
        self._started: Future[None] = Future()
        self._thread = threading.Thread(target=self._start, name="servers-start", daemon=True)
        self._thread.start()

    def await_ready(self) -> None:
        """Raises OpenError, with the log's reason, if one of them did not start."""
        self._started.result()

    def kill(self) -> None:
        """Ends a start that is under way."""
        if not self._started.done():
            for server in self._own:
                server.kill()

    def close(self) -> None:
        self.kill()
        self._thread.join()
        for server in self._own:
            server.stop()

    def _start(self) -> None:
        try:
            start_all(self._own)
        except BaseException as exc:  # a thread's end is not seen elsewhere: `await_ready` raises it
            self._started.set_exception(exc)
            return
        for server in self._own:
            announce(server.url, server.command(), self.in_flight)
        self._started.set_result(None)

"""Servers of our own that start in a thread, so that what needs no answers goes on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from penstock.engines.vllm.server import ManagedServer, start_all, stop_all


class StartingServers:
    """Servers that start with `begin`; `await_ready` returns when they are up.

    `on_ready` gets each before that.
    """

    def __init__(
        self, servers: Sequence[ManagedServer], on_ready: Callable[[ManagedServer], None] | None = None
    ) -> None:
        self._servers = list(servers)
        self.urls = [server.url for server in servers]
        self._on_ready = on_ready
        self._started: Future[None] = Future()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Starts them in a thread, once."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._start, name="servers-start", daemon=True)
                self._thread.start()

    def await_ready(self) -> None:
        """Begins if need be. Raises OpenError, with the log's reason, if one of them did not start."""
        self.begin()
        self._started.result()

    @property
    def has_failed(self) -> bool:
        return self._started.done() and self._started.exception() is not None

    def kill(self) -> None:
        """Ends a start that is under way."""
        if not self._started.done():
            for server in self._servers:
                server.kill()

    def close(self) -> None:
        self.kill()
        if self._thread is not None:
            self._thread.join()
        stop_all(self._servers)

    def _start(self) -> None:
        try:
            start_all(self._servers)
        except BaseException as exc:  # a thread's end is not seen elsewhere: `await_ready` raises it
            self._started.set_exception(exc)
            return
        for server in self._servers:
            if self._on_ready is not None:
                self._on_ready(server)
        self._started.set_result(None)

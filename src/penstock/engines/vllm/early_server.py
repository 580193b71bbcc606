"""A server that starts while others of its card run if there is room for it, else once they have ended.

with closing(EarlyServer(alone, sharing)) as server:
    server.begin_early()  # others start now
    ...
    server.begin()  # they have ended
    server.await_ready()
    ask(server.url)
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from penstock.engines.vllm.server import free_port
from penstock.engines.vllm.server_plan import ServerChoice
from penstock.engines.vllm.starting_servers import StartingServers
from penstock.errors import OpenError

log = logging.getLogger(__name__)
NICENESS = 10  # while others start, whose answers are waited for: they get the cores first


class EarlyServer:
    """`alone` is the server with the card to itself, `sharing` a smaller one; None where it does not fit.

    Thread-safe. Both have the same `url`. After `close` nothing begins it again.
    """

    def __init__(self, alone: Callable[[], ServerChoice], sharing: Callable[[], ServerChoice | None]) -> None:
        self._alone, self._sharing = alone, sharing
        self._lock = threading.RLock()
        self._port = 0
        self._starting: StartingServers | None = None
        self._ending: threading.Thread | None = None
        self._is_looked_for = self._is_early = self._is_closed = False

    @property
    def url(self) -> str:
        with self._lock:
            self._port = self._port or free_port()
            return f"http://127.0.0.1:{self._port}"

    def begin_early(self) -> None:
        """Starts it if its card has room for it and the others. Looks once."""
        with self._lock:
            if self._is_looked_for or self._is_closed:
                return
            self._is_looked_for = True
            choice = self._sharing()
            if choice is None:
                log.info("the card has no room for one more server: it starts later")
                return
            self._is_early = True
            self._start(choice, NICENESS)

    def begin(self) -> None:
        """Starts it if it does not start yet, or if it failed while others ran. They have ended."""
        with self._lock:
            starting = self._starting
            if self._is_closed or (starting and not (self._is_early and starting.has_failed)):
                return
            if starting is not None:
                starting.close()
            self._is_early = False
            self._start(self._alone(), 0)

    def await_ready(self) -> None:
        """Begins if need be. Raises OpenError, with the log's reason, if it does not start."""
        self.begin()
        try:
            self._await()
        except OpenError as exc:
            if not self._is_early:
                raise
            log.warning("a server that shared its card did not start, and starts again alone: %s", exc)
            self.begin()
            self._await()

    def end(self) -> None:
        """Begins to end it; `close` waits until it has."""
        with self._lock:
            self._is_closed = True
            if self._starting is not None and self._ending is None:
                self._ending = threading.Thread(target=self._starting.close, name="server-end", daemon=True)
                self._ending.start()

    def close(self) -> None:
        self.end()
        if self._ending is not None:
            self._ending.join()

    def _await(self) -> None:
        if self._starting is None:
            raise OpenError("The server was ended before it began.")
        self._starting.await_ready()

    def _start(self, choice: ServerChoice, niceness: int) -> None:
        _ = self.url  # has a port from now on
        self._starting = StartingServers([choice.managed(self._port, niceness)])
        self._starting.begin()

"""Requests to a model server that answers in JSON: a connection a thread, tries with pauses, bounded answers.

For few requests side by side, from threads. Thousands in flight go through chat/dispatcher.py.
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from penstock.engines.chat.address import authorization, base_url
from penstock.engines.chat.errors import message_of
from penstock.errors import EngineError, OpenError

TRIES = 5
FIRST_PAUSE_S = 0.5  # doubled after each failure: 7.5 s in all, a front end's restart
MAX_ANSWER = 64_000_000  # bytes; the vectors of a page are some 100 kB


@dataclass(frozen=True, slots=True)
class ServerWords:
    """How errors name a server, the option that holds its address, and where its key is given."""

    name: str
    option: str
    key: str


class JsonServer:
    """A server by its address. Thread-safe."""

    def __init__(self, address: str, api_key: str | None, words: ServerWords, timeout_s: float) -> None:
        parts = urlsplit(base_url(address))
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.host, self._path = parts.netloc, parts.path
        self._words, self._timeout_s = words, timeout_s
        self._headers = {"Content-Type": "application/json", **authorization(address)}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._local = threading.local()
        self._open: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def ask(self, method: str, route: str, body: bytes | None = None) -> bytes:
        """Returns the answer's body. Raises EngineError with the server's words, or why there was no answer.

        Raises OpenError, which ends a run, if the server is gone: each page would wait for it and fail.
        """
        pause, why, advice, is_gone = FIRST_PAUSE_S, "", "", False
        for number in range(TRIES):
            if number:
                time.sleep(pause)
                pause *= 2
            try:
                status, answer = self._once(method, route, body)
            except (OSError, http.client.HTTPException) as exc:
                self._drop()
                is_gone = isinstance(exc, (ConnectionRefusedError, socket.gaierror))
                why = f"{type(exc).__name__}: {exc}".rstrip(": ")
                advice = f"Is it running? Check {self._words.option}."
                continue
            if status == 200:
                return answer
            is_gone, why = False, f"HTTP {status}: {message_of(answer[:10_000])}"
            advice = f"Give its key with {self._words.key}." if status in (401, 403) else ""
            if status < 500 and status != 429:
                break
        error = OpenError if is_gone else EngineError
        raise error(f"The {self._words.name} {self.host} did not answer {route}: {why}.", advice)

    def close(self) -> None:
        with self._lock:
            for connection in self._open:
                connection.close()

    def _once(self, method: str, route: str, body: bytes | None) -> tuple[int, bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._kind(self.host, timeout=self._timeout_s)
            with self._lock:
                self._open.append(connection)
        connection.request(method, self._path + route, body, self._headers)
        response = connection.getresponse()
        answer = response.read(MAX_ANSWER + 1)
        if len(answer) > MAX_ANSWER:
            self._drop()
            raise EngineError(f"The {self._words.name} {self.host} answers more than {MAX_ANSWER:,} bytes.")
        return response.status, answer

    def _drop(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            return
        connection.close()
        with self._lock:
            self._open.remove(connection)
        self._local.connection = None

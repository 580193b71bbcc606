"""Requests to a service: forms that are streamed from files, answers with a deadline, patience with 429."""

from __future__ import annotations

import contextlib
import http.client
import json
import secrets
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError, UsageError
from penstock.sizes import file_size

MAX_TRIES = 8  # while the service says that it is full, or cannot be reached
MAX_PAUSE_S = 60.0
MAX_503_PAUSE_S = 10.0
ANSWER_S = 120.0  # without a byte, and for all headers of an answer
MIN_BYTES_S = 4096.0  # slower than any line that results are fetched over
MAX_JSON_BYTES = 64 << 20  # of an answer that is read as values
MAX_LINE_BYTES = 1 << 20  # of one event
PIECE = 256 * 1024
FULL = (429, 503)

Sleep = Callable[[float], None]
Clock = Callable[[], float]


class ServiceError(PenstockError):
    """The service refused, or cannot be reached. `status` is what it answered, 0 if nothing."""

    def __init__(self, message: str, advice: str = "", status: int = 0) -> None:
        super().__init__(message, advice)
        self.status = status


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file for a request: its name, where it is or what it holds, and the field of the form it is for."""

    name: str
    source: Path | bytes = field(repr=False)
    into: str = "files"

    @property
    def size(self) -> int:
        return len(self.source) if isinstance(self.source, bytes) else self.source.stat().st_size

    def pieces(self) -> Iterator[bytes]:
        if isinstance(self.source, bytes):
            yield self.source
            return
        with self.source.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece


class FormParts:
    """A form that can be sent again: fields, then files."""

    def __init__(self, fields: Mapping[str, Any], files: Sequence[SentFile]) -> None:
        boundary = secrets.token_hex(16)
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self._files = files
        self._heads = [_file_head(boundary, file.name, file.into) for file in files]
        self._fields = b"".join(_field(boundary, name, text) for name, text in _texts(fields))
        self._end = f"--{boundary}--\r\n".encode()

    @property
    def size(self) -> int:
        files = sum(len(head) + file.size + 2 for head, file in zip(self._heads, self._files, strict=True))
        return len(self._fields) + files + len(self._end)

    def __iter__(self) -> Iterator[bytes]:
        yield self._fields
        for head, file in zip(self._heads, self._files, strict=True):
            yield head
            yield from file.pieces()
            yield b"\r\n"
        yield self._end


Body = FormParts | bytes | None


class ServiceAnswer:
    """The body of an answer: read within a bound, and given up when it trickles."""

    def __init__(self, answer: http.client.HTTPResponse, host: str, clock: Clock = time.monotonic) -> None:
        self._answer = answer
        self._host = host
        self._clock = clock

    def pieces(self, max_bytes: int) -> Iterator[bytes]:
        """Yields what comes. Raises ServiceError if it is too much, or comes too slowly."""
        began, size = self._clock(), 0
        while piece := self._answer.read1(PIECE):
            size += len(piece)
            if size > max_bytes:
                raise ServiceError(f"{self._host} answers with more than {file_size(max_bytes)}.")
            if self._clock() - began > ANSWER_S + size / MIN_BYTES_S:
                raise ServiceError(f"{self._host} answers too slowly: {size:,} bytes came.", "Try again.")
            yield piece

    def read(self, max_bytes: int) -> bytes:
        return b"".join(self.pieces(max_bytes))

    def json(self) -> Any:
        """Returns the body as Python values; None for an empty one. Raises ServiceError."""
        data = self.read(MAX_JSON_BYTES)
        try:
            return json.loads(data) if data else None
        except (ValueError, RecursionError) as exc:
            raise ServiceError(f"{self._host} is no Penstock service: it answered no JSON.") from exc

    def lines(self) -> Iterator[bytes]:
        """Yields the lines of a stream of events. Raises ServiceError for one that does not end."""
        while line := self._answer.readline(MAX_LINE_BYTES):
            if len(line) == MAX_LINE_BYTES:
                raise ServiceError(f"{self._host} sends a line of more than {MAX_LINE_BYTES:,} bytes.")
            yield line


class ServiceConnection:
    """Sends requests to one service, each on a connection of its own, from any thread."""

    def __init__(self, url: str, key: str | None = None, sleep: Sleep = time.sleep) -> None:
        parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{url} is not the address of a service.", "Write it like http://gpu:8080.")
        self._parts = parts
        self._key = key
        self.sleep = sleep

    def json(self, method: str, path: str, body: Body = None, kind: str = "", **query: Any) -> Any:
        """Returns the answer as Python values. Raises ServiceError."""
        with self.answer(method, path, body, kind, **query) as answer:
            return answer.json()

    @contextmanager
    def answer(
        self,
        method: str,
        path: str,
        body: Body = None,
        kind: str = "",
        headers: Mapping[str, str] = {},
        **query: Any,
    ) -> Iterator[ServiceAnswer]:
        """Returns a successful answer. Tries again while the service is full. Raises ServiceError."""
        for number in range(MAX_TRIES):
            line = self._line()
            try:
                answer = self._asked(line, method, path, body, kind, headers, query)
                if answer.status < 300:
                    yield ServiceAnswer(answer, self._parts.netloc)
                    return
                refusal = _refusal(answer)
            except (OSError, http.client.HTTPException) as exc:
                what = f"{self._parts.netloc} cannot be asked: {exc or type(exc).__name__}."
                raise ServiceError(what, "Is `penstock serve` running there?") from exc
            finally:
                line.close()
            pause = _pause(answer, number)
            if answer.status not in FULL or number + 1 == MAX_TRIES or pause is None:
                raise refusal
            self.sleep(pause)

    def _line(self) -> http.client.HTTPConnection:
        assert self._parts.hostname is not None
        if self._parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._parts.hostname, self._parts.port, timeout=ANSWER_S, context=context
            )
        return http.client.HTTPConnection(self._parts.hostname, self._parts.port, timeout=ANSWER_S)

    def _asked(
        self,
        line: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Body,
        kind: str,
        headers: Mapping[str, str],
        query: Mapping[str, Any],
    ) -> http.client.HTTPResponse:
        sent = {"Accept": "*/*", **headers}
        if self._key:
            sent["Authorization"] = f"Bearer {self._key}"
        if isinstance(body, FormParts):
            sent |= {"Content-Type": body.content_type, "Content-Length": str(body.size)}
        elif kind:
            sent["Content-Type"] = kind
        asked = urllib.parse.urlencode([(name, value) for name, value in query.items() if value is not None])
        line.request(method, f"{self._parts.path.rstrip('/')}{path}{'?' if asked else ''}{asked}", body, sent)
        return _response(line)


def _response(line: http.client.HTTPConnection) -> http.client.HTTPResponse:
    """Returns the answer with its headers, which have ANSWER_S in all: a socket waits that long for each."""
    timer = threading.Timer(ANSWER_S, _shut, [line])
    timer.daemon = True
    timer.start()
    try:
        return line.getresponse()
    finally:
        timer.cancel()


def _shut(line: http.client.HTTPConnection) -> None:
    with contextlib.suppress(OSError, AttributeError):  # it may be closed in this moment
        line.sock.shutdown(socket.SHUT_RDWR)


def _refusal(answer: http.client.HTTPResponse) -> ServiceError:
    data = answer.read(1 << 20)
    try:
        refusal = json.loads(data)
        return ServiceError(str(refusal["error"]), str(refusal.get("advice", "")), answer.status)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ServiceError(f"The service answered {answer.status} {answer.reason}.", "", answer.status)


def _pause(answer: http.client.HTTPResponse, number: int) -> float | None:
    """Returns the seconds to wait before the next try; None where the service does not ask for one."""
    text = answer.headers.get("Retry-After")
    if text is None:
        return None
    pause = float(text) if text.isdecimal() else 2.0**number
    # a service without connections has one soon; one without a model waits for people
    return None if answer.status == 503 and pause > MAX_503_PAUSE_S else min(MAX_PAUSE_S, pause)


def _texts(fields: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in fields.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is not None:
                yield name, str(one).lower() if isinstance(one, bool) else str(one)


def _field(boundary: str, name: str, text: str) -> bytes:
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
    return head.encode() + text.encode() + b"\r\n"


def _file_head(boundary: str, name: str, into: str) -> bytes:
    safe = name.replace("\\", "_").replace('"', "%22").replace("\r", "_").replace("\n", "_")
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{into}"; filename="{safe}"\r\n'
    return f"{head}Content-Type: application/octet-stream\r\n\r\n".encode()

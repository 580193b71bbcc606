"""A service on a port of its own, and a client that tells what it answered."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import penstock
from penstock.serve.app import ServiceSettings, app_of
from penstock.serve.guard.connections import ConnectionBounds
from penstock.serve.reading.service import Service
from penstock.serve.server import server_of
from tests.support.waiting import wait_until

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"


class Client:
    def __init__(self, url: str) -> None:
        self.url = url

    def __call__(
        self, path: str, body: bytes | None = None, method: str | None = None, **headers: str
    ) -> tuple[int, Any]:
        asked = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=300) as answer:
                return answer.status, _read(answer)
        except urllib.error.HTTPError as exc:
            with exc:
                return exc.code, _read(exc)

    def send(self, name: str, body: bytes) -> dict[str, Any]:
        status, told = self("/v1/documents?name=" + urllib.parse.quote(name), body)
        assert status == 202, told
        return dict(told)

    def wait(self, name: str) -> dict[str, Any]:
        status, told = self(f"/v1/document?name={urllib.parse.quote(name)}&wait=60")
        assert status == 200, told
        assert told["ready"], told
        return dict(told)


def request(client: Client, path: str, body: bytes | None = None) -> urllib.request.Request:
    return urllib.request.Request(client.url + path, body)


def _read(answer: Any) -> Any:
    data = answer.read()
    return json.loads(data) if answer.headers.get_content_type() == "application/json" else data


class Running:
    """The application on a port of its own, in a thread."""

    def __init__(
        self,
        service: Service,
        most_mb: int = 4,
        names: Sequence[str] = (),
        connections: ConnectionBounds | None = None,
        **settings: Any,
    ) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        chosen = ServiceSettings(max_mb=most_mb, names=names, **settings)
        self._server = server_of(app_of(service, chosen), connections)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self) -> Client:
        self._thread.start()
        return Client(f"http://127.0.0.1:{self._socket.getsockname()[1]}")

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_up(client: Client) -> None:
    def is_up() -> bool:
        with contextlib.suppress(OSError):
            return bool(client("/health")[0] == 200)
        return False

    wait_until(is_up, pause_s=0.05)

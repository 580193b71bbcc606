"""A real S3 server here (moto, or SeaweedFS), with a proxy in front that fails as a busy store does."""

from __future__ import annotations

import http.client
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from unittest.mock import patch
from urllib.parse import urlsplit

import obstore
from obstore.store import S3Store

from tests.support.local_server import LocalServer

KEEP_NOT = {"transfer-encoding", "connection", "content-length"}


Server = Callable[[], AbstractContextManager[str]]


@dataclass(frozen=True)
class Faults:
    """A share of answers is 503 or none at all. The first `conflicts` puts "if absent" of each name are
    answered 409, and the store never hears of them."""

    share: float = 0.0
    conflicts: int = 0
    seed: int = 0


@contextmanager
def moto() -> Iterator[str]:
    """Gives the host and port of a server. Imported here: it takes a second, and most tests want no store."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"{host}:{port}"
    finally:
        server.stop()


@contextmanager
def bucket(
    name: str,
    fault: float = 0.0,
    seed: int = 0,
    conflicts: int = 0,
    server: Server = moto,
    requests: list[str] | None = None,
) -> Iterator[str]:
    """Gives the address of an empty bucket. A share of its answers are faults. `requests` gets all."""
    with server() as target:
        connection = http.client.HTTPConnection(target)
        connection.request("PUT", f"/{name}")
        connection.getresponse().read()
        connection.close()
        proxy = LocalServer(
            _flaky(target, Faults(fault, conflicts, seed), [] if requests is None else requests)
        )
        environment = {
            "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": proxy.url,
        }  # fmt: skip
        with proxy, patch.dict(os.environ, environment):
            yield f"s3://{name}"


def names_at(address: str) -> list[str]:
    """Returns the names of all objects there."""
    store = S3Store.from_url(address, client_options={"allow_http": True})
    return sorted(row["path"] for batch in obstore.list(store) for row in batch)


def put_at(address: str, name: str, data: bytes) -> None:
    """Puts an object as other programs do, under any name."""
    _asked("PUT", address, name, data)


def content_at(address: str, name: str) -> bytes:
    return _asked("GET", address, name)


def _asked(method: str, address: str, name: str, data: bytes | None = None) -> bytes:
    connection = http.client.HTTPConnection(urlsplit(os.environ["AWS_ENDPOINT_URL"]).netloc)
    try:
        headers = {"x-amz-acl": "public-read"}  # so that it can be read without a signature
        connection.request(method, f"/{address.partition('://')[2]}/{name}", data, headers)
        answer = connection.getresponse()
        assert answer.status == 200, (answer.status, answer.read())
        return answer.read()
    finally:
        connection.close()


def _flaky(target: str, faults: Faults, requests: list[str]) -> type[BaseHTTPRequestHandler]:
    lock, chance, fault = threading.Lock(), random.Random(faults.seed), faults.share
    raced: Counter[str] = Counter()

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                requests.append(f"{self.command} {self.path}")
                luck = chance.random()
                raced[self.path] += bool(self.headers.get("If-None-Match"))
            if self.headers.get("If-None-Match") and raced[self.path] <= faults.conflicts:
                self._answer(409, [], b"<Error><Code>ConditionalRequestConflict</Code></Error>")
                return
            if luck < fault / 2:  # torn before the store hears of it
                self.close_connection = True
                return
            status, headers, data = self._ask(body)
            if luck < fault * 3 / 4:  # torn after: the writer cannot know that it was done
                self.close_connection = True
                return
            if luck < fault:
                status, headers, data = 503, [], b"<Error><Code>SlowDown</Code></Error>"
            self._answer(status, headers, data)

        def _answer(self, status: int, headers: list[tuple[str, str]], data: bytes) -> None:
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            if self.command == "HEAD":
                length = dict(headers).get("Content-Length", "0")
                self.send_header("Content-Length", length)
            else:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            connection = http.client.HTTPConnection(target, timeout=30)
            try:
                connection.request(self.command, self.path, body, dict(self.headers.items()))
                answer = connection.getresponse()
                rows = [(name, value) for name, value in answer.getheaders() if name.lower() not in KEEP_NOT]
                data = answer.read()
                if self.command == "HEAD" and (length := answer.getheader("Content-Length")):
                    rows.append(("Content-Length", length))
                return answer.status, rows, data
            finally:
                connection.close()

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = handle_any

        def log_message(self, *_: object) -> None:
            pass

    assert urlsplit(f"http://{target}").port
    return Proxy

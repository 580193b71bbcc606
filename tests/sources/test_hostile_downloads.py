"""Addresses whose servers mean harm: loops of redirects, bodies without end, bytes that unfold, slow ones."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from penstock.errors import BadInput, UsageError
from penstock.sources.remote.download import Download, downloaded, open_download
from tests.support.local_server import LocalServer

MEGABYTE = 1 << 20


class Enemy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        with contextlib.suppress(ConnectionError):
            getattr(self, self.path.strip("/").partition("?")[0])()

    def circle(self) -> None:
        self._redirect("/circle")

    def chain(self) -> None:
        number = int(self.path.partition("?")[2] or 0)
        self._redirect(f"/chain?{number + 1}")

    def file(self) -> None:
        self._redirect("file:///etc/passwd")

    def endless(self) -> None:
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(bytes(65536))

    def folded(self) -> None:
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(gzip.compress(b"%PDF-1.7\n" + bytes(64 * MEGABYTE)))

    def cut(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"%PDF-1.7\n")

    def _redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[str]:
    with LocalServer(Enemy) as running:
        yield running.url


@pytest.mark.parametrize("path", ["circle", "chain", "file", "endless", "cut"])
def test_a_download_that_leads_nowhere_ends_in_a_sentence(server: str, tmp_path: Path, path: str) -> None:
    with pytest.raises(BadInput) as raised:
        open_download()(Download(f"{server}/{path}", str(tmp_path / "part"), 2 * MEGABYTE))
    assert str(raised.value)
    part = tmp_path / "part"
    assert not part.exists() or part.stat().st_size <= 2 * MEGABYTE


def test_a_body_that_was_folded_without_being_asked_is_not_unfolded(server: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a document"):
        downloaded(f"{server}/folded", tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < MEGABYTE

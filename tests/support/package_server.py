"""A package index and an npm registry on this machine, with the faults of a bad network.

It answers as PEP 503 and npm's registry describe, and knows ranges.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import dumps
from urllib.parse import unquote


def wheel(members: dict[str, bytes]) -> bytes:
    """A wheel that holds these files; nobody installs it, so it needs no more."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return packed.getvalue()


def tarball(member: str, content: bytes) -> bytes:
    """An npm tarball with one file, zipped once more if its name says so."""
    inner = gzip.compress(content, mtime=0) if member.endswith(".gz") else content
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        info = tarfile.TarInfo(member)
        info.size = len(inner)
        archive.addfile(info, io.BytesIO(inner))
    return packed.getvalue()


@dataclass
class PackageServer:
    """`asked` holds the path and the Range of every request, in order."""

    url: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    breaks_after: list[int] = field(default_factory=list)  # for the next files: bytes until the line is cut
    knows_ranges: bool = True
    login: str = ""  # user:password that every request must bring

    @property
    def index(self) -> str:
        return f"{self.url}/simple"

    def add_wheel(self, name: str, version: str, archive: bytes, digest: str = "") -> None:
        file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        digest = digest or hashlib.sha256(archive).hexdigest()
        self.files[f"/files/{file}"] = archive
        other = f'<a href="../../files/{name}-{version}.tar.gz#sha256={"0" * 64}">{name}.tar.gz</a>'
        link = f'<a href="../../files/{file}#sha256={digest}" data-requires-python="&gt;=3.8">{file}</a>'
        self.pages[f"/simple/{name}/"] = f"<!DOCTYPE html><body>{other}<br/>{link}</body>".encode()

    def add_npm(self, name: str, version: str, archive: bytes, host: str = "") -> None:
        file = f"/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        dist = {"tarball": f"{host or self.url}{file}", "integrity": integrity}
        self.files[file] = archive
        self.pages[f"/{name}"] = dumps({"name": name, "versions": {version: {"dist": dist}}}).encode()

    def add_to_hub(self, repository: str, commit: str, file: str, content: bytes) -> None:
        """As the Hugging Face Hub has large files: at another address, which it tells."""
        self.moved[f"/{repository}/resolve/{commit}/{file}"] = f"/cdn/{commit}-{file}"
        self.files[f"/cdn/{commit}-{file}"] = content

    def ranges(self, ending: str) -> list[str]:
        return [wanted for path, wanted in self.asked if path.endswith(ending)]


@contextmanager
def serving() -> Iterator[PackageServer]:
    """Runs until the block ends."""
    shop = PackageServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, wanted = unquote(self.path), self.headers.get("Range", "")
            shop.asked.append((path, wanted))
            if shop.login and self.headers.get("Authorization", "") != "Basic " + _encoded(shop.login):
                self._answer(401, b"")
            elif path in shop.moved:
                self._answer(302, b"", {"Location": shop.url + shop.moved[path]})
            elif path in shop.pages:
                self._answer(200, shop.pages[path])
            elif path in shop.files:
                self._send_file(shop.files[path], wanted)
            else:
                self._answer(404, b"")

        def _send_file(self, body: bytes, wanted: str) -> None:
            cut = shop.breaks_after.pop(0) if shop.breaks_after else len(body)
            if not (wanted and shop.knows_ranges):
                self._answer(200, body, cut=cut)
                return
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            begin = int(first) if first else max(0, len(body) - int(last))
            end = min(len(body), int(last) + 1) if first and last else len(body)
            if begin >= len(body):
                self._answer(416, b"")
                return
            told = {"Content-Range": f"bytes {begin}-{end - 1}/{len(body)}"}
            self._answer(206, body[begin:end], told, cut)

        def _answer(
            self, code: int, body: bytes, headers: dict[str, str] | None = None, cut: int | None = None
        ) -> None:
            self.send_response(code)
            for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(body if cut is None else body[:cut])

        def log_message(self, *_: object) -> None:
            """Tests look at `asked`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    shop.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="package-server")
    thread.start()
    try:
        yield shop
    finally:
        server.shutdown()
        thread.join(5.0)
        server.server_close()


def _encoded(login: str) -> str:
    return base64.b64encode(login.encode()).decode()

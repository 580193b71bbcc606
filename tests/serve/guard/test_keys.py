"""Keys and what they may do; files by address, and every way into the inside that was thought of."""

from __future__ import annotations

import asyncio
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.command import here
from tests.support.made_pdf import pdf

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.keys import KeyOwner, KeyRing, hash_of, new_key, read_keys
from penstock.serve.guard.remote_files import RemoteFiles
from tests.support.private_addresses import INSIDE
from tests.support.running_service import Client, Running

KEYS = {"ann": "write", "bob": "write", "eve": "read", "root": "admin"}


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer key-of-{name}"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    ring = KeyRing(
        [KeyOwner(name=name, scope=scope, sha256=hash_of(f"key-of-{name}")) for name, scope in KEYS.items()]
    )
    with Service(tmp_path_factory.mktemp("out"), fake()) as service, Running(service, keys=ring) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/v1/jobs", None, {}, 401),
        ("/v1/jobs", None, {"Authorization": "Bearer wrong"}, 401),
        ("/v1/jobs", None, {"Authorization": "Basic key-of-ann"}, 401),
        ("/metrics", None, {}, 401),
        ("/openapi.json", None, {}, 401),
        ("/v1/parse?name=a.pdf", b"%PDF-", {}, 401),
        ("/v1/documents?name=a.pdf", b"%PDF-", bearer("eve"), 403),
        ("/v1/parse?name=a.pdf", b"%PDF-", bearer("eve"), 403),
        ("/v1/jobs", None, bearer("eve"), 200),
        ("/v1/jobs", None, {"X-Api-Key": "key-of-eve"}, 200),
        ("/health", None, {}, 200),
        ("/health/live", None, {}, 200),
        ("/", None, {}, 200),
    ],
)
def test_who_has_no_key_or_the_wrong_one_is_refused(
    client: Client, path: str, body: bytes | None, headers: dict[str, str], status: int
) -> None:
    code, told = client(path, body, **headers)
    assert code == status, told


def test_one_keys_jobs_are_not_there_for_another(client: Client) -> None:
    data = pdf(["secret"])
    _, job = client("/v1/parse?name=a.pdf", data, **bearer("ann"))
    name = client(f"/v1/jobs/{job['id']}?wait=60", **bearer("ann"))[1]["documents"][0]["name"]
    document = f"name={name}"
    for path in (
        f"/v1/jobs/{job['id']}",
        f"/v1/jobs/{job['id']}/result",
        f"/v1/jobs/{job['id']}/events",
        f"/v1/document?{document}",
        f"/v1/markdown?{document}",
        f"/v1/page?{document}&page=1",
        f"/v1/picture?{document}&page=1",
    ):
        assert client(path, **bearer("bob"))[0] == 404, path
        assert client(path, **bearer("ann"))[0] == 200, path
        assert client(path, **bearer("root"))[0] == 200, path
    assert client(f"/v1/jobs/{job['id']}", method="DELETE", **bearer("bob"))[0] == 404
    assert client(f"/v1/jobs/{job['id']}/cancel", b"", **bearer("bob"))[0] == 404
    assert client("/v1/jobs", **bearer("bob"))[1] == client("/v1/documents", **bearer("bob"))[1] == []
    same = client("/v1/documents?name=a.pdf", data, **bearer("bob"))[1]
    assert same["name"] != name  # nor does it tell that someone has sent the same
    assert len(client("/v1/jobs", **bearer("root"))[1]) == 2


def test_a_key_has_a_rate_and_a_size() -> None:
    now = [0.0]
    owner = KeyOwner(name="a", per_minute=2, sha256=hash_of("k"))
    ring = KeyRing([owner], clock=lambda: now[0])
    assert [ring.retry_after(owner) for _ in range(3)] == [0.0, 0.0, 30.0]
    now[0] = 30.0
    assert ring.retry_after(owner) == 0.0
    assert ring.retry_after(owner) > 0


def test_too_many_requests_and_too_many_bytes_of_a_key_are_told(tmp_path: Path) -> None:
    owner = KeyOwner(name="a", per_minute=2, max_mb=1, sha256=hash_of("k"))
    with Service(tmp_path, fake()) as service, Running(service, keys=KeyRing([owner])) as client:
        key = {"Authorization": "Bearer k"}
        assert client("/v1/parse?name=a", bytes(3 << 20), **key)[0] == 413
        assert [client("/v1/jobs", **key)[0] for _ in range(2)] == [200, 429]


def test_keys_are_made_once_and_kept_as_hashes(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key = here("serve", "--keys", path, "--new-key", "ann:read").stdout.strip()
    other = new_key(path, "bob", per_minute=5)
    assert key not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert [(one.name, one.scope, one.per_minute) for one in read_keys(path)] == [
        ("ann", "read", 0),
        ("bob", "write", 5),
    ]
    ring = KeyRing.open(path)
    assert ring.owner({"authorization": f"Bearer {key}"}).name == "ann"  # type: ignore[union-attr]
    assert ring.owner({"x-api-key": other}).name == "bob"  # type: ignore[union-attr]
    assert ring.owner({"x-api-key": hash_of(key)}) is None
    new_key(path, "ann")
    assert KeyRing.open(path).owner({"x-api-key": key}) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '[{"name": "a", "scope": "all"}]', '[{"nam": 1}]'])
def test_a_broken_file_of_keys_ends_the_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "keys.json").write_text(text)
    with pytest.raises(UsageError):
        KeyRing.open(tmp_path / "keys.json")


def test_to_listen_for_others_without_a_key_warns(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock", "serve", str(tmp_path), "--host", "0.0.0.0", "--port", "0"]
    service = subprocess.Popen(
        [*command, "--recipe", "penstock.testing.fake_recipe:fake"], stderr=subprocess.PIPE
    )
    assert service.stderr is not None
    told = service.stderr.readline() + service.stderr.readline()
    service.terminate()
    service.communicate(timeout=100)
    assert b"Warning" in told and b"--keys" in told


@pytest.mark.parametrize("address", INSIDE)
def test_a_name_that_leads_inside_is_not_fetched_from(address: str) -> None:
    async def leading(host: str, port: int) -> list[str]:
        return ["8.8.8.8", address]

    with pytest.raises(HttpRefusal, match="no public host"):
        asyncio.run(fetched(RemoteFiles(["docs.example"], leading), "http://docs.example/x.pdf"))


async def fetched(remote: RemoteFiles, address: str) -> bytes:
    async with remote.opened(address) as stream:
        return b"".join([piece async for piece in stream])


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("http://other.example/a.pdf", 403),
        ("http://files.example.evil.example/a", 403),
        ("http://127.0.0.1/a", 403),
        ("http://2130706433/a", 403),
        ("http://[::1]/a", 403),
        ("http://files.example:22/a", 403),
        ("http://user:pass@files.example/a", 422),
        ("file:///etc/passwd", 422),
        ("gopher://files.example/a", 422),
        ("http://[files.example/a", 422),
        ("http://files.example/a", 422),  # allowed, and it means an address of the inside
    ],
)
def test_nothing_is_fetched_from_the_inside(address: str, status: int) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        assert host == "files.example"
        return ["93.184.215.14", "10.0.0.7"]

    remote = RemoteFiles(["files.example", "127.0.0.1", "2130706433"], resolve)
    with pytest.raises(HttpRefusal) as refused:
        asyncio.run(fetched(remote, address))
    assert refused.value.status == status


def test_the_address_that_was_checked_is_the_one_that_is_asked() -> None:
    """A name is resolved once: what it means a moment later is never asked."""
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["192.0.2.1"] if len(asked) > 1 else ["127.0.0.1"]

    with pytest.raises(HttpRefusal, match="no public host"):
        asyncio.run(fetched(RemoteFiles(["*.example"], rebinding), "https://files.example/a"))
    assert len(asked) == 1


class _Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(302 if self.path == "/away" else 200)
        self.send_header("Location", "http://127.0.0.1:1/inside")
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"%PDF-")

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def test_an_allowed_host_is_read_and_its_redirects_are_not_followed(tmp_path: Path) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()

    async def here(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    remote = RemoteFiles(["files.example"], here, inside=True)
    base = f"http://files.example:{server.server_port}"
    try:
        with Service(tmp_path, fake()) as service, Running(service, remote=remote) as client:
            asks = {"Content-Type": "application/json"}
            told = [
                client("/v1/parse", json.dumps({"files": [{"url": base + path}]}).encode(), **asks)
                for path in ("/report.pdf", "/away")
            ]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert (told[0][0], told[0][1]["files"]) == (202, ["report.pdf"])
    assert (told[1][0], "302" in told[1][1]["error"]) == (422, True)

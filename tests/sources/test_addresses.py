"""Addresses as inputs: fetched once, kept in OUT, failing alone, never led inside by a redirect.

The servers are real, on ports of this machine; pictures are drawn by Pillow.
"""

from __future__ import annotations

import io
import json
import os
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.errors import BadInput, UsageError
from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_work
from penstock.sources import list_items
from penstock.sources.remote import download
from penstock.sources.remote.download import Download
from penstock.sources.remote.public_address import is_public
from penstock.store.out import Out
from tests.support.local_server import LocalServer
from tests.support.private_addresses import INSIDE, PUBLIC


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (80, 60), "white").save(file, "PNG")
    return file.getvalue()


class Pictures(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        path, _, to = self.path.partition("?to=")
        if to:
            self.send_response(302)
            self.send_header("Location", to)
            self.end_headers()
        elif path.startswith("/gone"):
            self.send_error(404)
        else:
            self.send_response(200)
            if path.startswith("/dated"):
                self.send_header("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
            self.end_headers()
            self.wfile.write(picture())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[str]:
    Pictures.asked = []
    with LocalServer(Pictures) as running:
        yield running.url


def run(inputs: list[str], out: Path, fresh: bool = False, keep: int | None = None) -> list[str]:
    options = ParseOptions(
        inputs=tuple(inputs),
        settings={"layout": "rules"},
        executor="inline",
        fresh=fresh,
        keep_downloads=keep,
    )
    return [page.document for page in parse_work(options, out)]


def test_what_was_deleted_when_it_was_read_is_not_fetched_again(server: str, tmp_path: Path) -> None:
    out, inputs = tmp_path / "out", [f"{server}/scan.png?signature=secret", f"{server}/dated.png"]
    assert run(inputs, out, keep=0) == ["scan.png", "dated.png"]
    assert not list((out / "downloads").rglob("*.png"))
    assert run(inputs, out, keep=0) == []
    assert len(Pictures.asked) == 2
    assert run(inputs, out) == []  # without a bound what is gone is fetched again, and stays
    assert len(Pictures.asked) == 4
    assert len(list((out / "downloads").rglob("*.png"))) == 2
    assert run(inputs, out, fresh=True, keep=0) == ["scan.png", "dated.png"]
    assert len(Pictures.asked) == 6
    assert run(inputs[:1], out, fresh=True, keep=0) == ["scan.png"]
    assert len(Pictures.asked) == 7


def test_an_address_is_fetched_once_kept_in_out_and_anew_with_fresh(server: str, tmp_path: Path) -> None:
    out, address = tmp_path / "out", f"{server}/scan.png?signature=secret"
    assert run([address], out) == ["scan.png"]
    assert run([address], out) == []  # done before: neither fetched nor read again
    assert len(Pictures.asked) == 1
    [kept] = (out / "downloads").glob("127.0.0.1-*/*")
    assert kept.name == "scan.png"
    assert "secret" not in (out / "run.json").read_text("utf-8")
    assert run([address], out, fresh=True) == ["scan.png"]
    assert len(Pictures.asked) == 2


def test_an_address_that_gives_nothing_fails_alone(server: str, tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text(f"{server}/gone.pdf?key=secret\n{server}/a/x.png\n{server}/b/x.png\n")
    items = list(list_items([f"@{listed}"], Page, downloads=tmp_path / "kept"))
    assert [item.document.rpartition("/")[2] for item in items] == ["gone.pdf", "x.png", "x.png"]
    assert len({item.document for item in items}) == 3
    assert items[0].failure is not None
    assert items[0].failure.message.startswith("gone.pdf cannot be downloaded: the server answered 404")
    with pytest.raises(UsageError, match="cannot be downloaded"):
        list(list_items(["http://127.0.0.1:9/x.pdf"], Page))
    with pytest.raises(UsageError, match="not an address"):
        list(list_items(["http://host:port/x.pdf"], Page))
    with pytest.raises(UsageError, match="does not exist"):
        list(list_items([f"ftp://host{listed}"], Page))


def test_of_many_addresses_each_that_fails_is_a_row_that_names_it(server: str, tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    gone = [f"{server}/gone/{folder}/report.pdf" for folder in "abc"]
    listed.write_text("\n".join([*gone, f"{server}/x.png"]))
    run([f"@{listed}"], tmp_path / "out")
    failed = [page for page in Out(tmp_path / "out").read_pages() if page.failure]
    assert sorted(page.uri for page in failed) == gone


def test_pages_of_an_address_have_the_same_ids_on_every_machine(server: str, tmp_path: Path) -> None:
    ids = []
    for machine in ("one", "two"):
        for item in list_items(
            [f"{server}/x.png", f"{server}/dated.png"], Page, downloads=tmp_path / machine
        ):
            ids.append(item.id)
            os.utime(item.uri)  # nothing is made of when it came
    assert ids[:2] == ids[2:]


def test_a_file_may_be_named_by_its_address(tmp_path: Path) -> None:
    path = tmp_path / "한 장.png"
    path.write_bytes(picture())
    listed = tmp_path / "list.txt"
    listed.write_text(path.as_uri())
    [by_path] = list_items([str(path)], Page)
    assert list(list_items([listed.read_text()], Page)) == [by_path]
    assert list(list_items([f"@{listed}"], Page)) == [by_path]
    made = CliRunner().invoke(
        app, ["parse", str(path), "-o", (tmp_path / "out").as_uri(), "--layout", "rules", "--quiet"]
    )
    assert made.exit_code == 0, made.output
    assert (tmp_path / "out" / "run.json").is_file()
    with pytest.raises(UsageError, match="lies in OUT"):
        run([(tmp_path / "out" / "items").as_uri()], tmp_path / "out")


def test_who_names_this_machine_may_be_led_around_in_it(server: str, tmp_path: Path) -> None:
    asked = Download(f"{server}/a?to={server}/b.png", str(tmp_path / "x"), 1 << 20)
    assert download._fetch(asked) == len(picture())


class Names:
    """A resolver whose names change: each look at one gives the next of its addresses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **found: list[list[str]]) -> None:
        self._found = {name: iter(addresses) for name, addresses in found.items()}
        self.connected: list[str] = []
        monkeypatch.setattr(download, "addresses_of", lambda host, port: next(self._found[host]))
        self._connect = socket.create_connection
        monkeypatch.setattr(download.socket, "create_connection", self._connected)

    def _connected(self, place: tuple[str, int], *given: Any) -> socket.socket:
        """Takes public addresses to this machine, where the test's server is."""
        self.connected.append(place[0])
        return self._connect(("127.0.0.1", place[1]), *given)


@pytest.mark.parametrize("inside", INSIDE)
def test_a_redirect_leads_from_a_public_address_to_no_private_one(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    names = Names(monkeypatch, docs=[["8.8.8.8"]], evil=[["8.8.4.4", inside]])
    port = server.rpartition(":")[2]
    asked = Download(f"http://docs:{port}/a?to=http://evil:{port}/b.png", str(tmp_path / "x"), 1 << 20)
    with pytest.raises(BadInput, match="inside this network"):
        download._fetch(asked)
    assert names.connected == ["8.8.8.8"]
    assert len(Pictures.asked) == 1


def test_a_name_that_changes_its_meaning_is_checked_at_each_hop(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: public when it is first asked, this machine a moment later."""
    names = Names(monkeypatch, evil=[["8.8.8.8"], ["127.0.0.1"]])
    port = server.rpartition(":")[2]
    asked = Download(f"http://evil:{port}/a?to=http://evil:{port}/b.png", str(tmp_path / "x"), 1 << 20)
    with pytest.raises(BadInput, match="inside this network"):
        download._fetch(asked)
    assert names.connected == ["8.8.8.8"]


def test_a_name_with_public_and_private_addresses_is_asked_at_the_public_ones(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names(monkeypatch, evil=[["127.0.0.1", "8.8.8.8"]])
    asked = Download(f"http://evil:{server.rpartition(':')[2]}/a", str(tmp_path / "x"), 1 << 20)
    assert download._fetch(asked) == len(picture())
    assert names.connected == ["8.8.8.8"]


@pytest.mark.parametrize(
    ("address", "expected"), [*((one, False) for one in INSIDE), *((one, True) for one in PUBLIC)]
)
def test_addresses_of_this_machine_and_its_network_are_not_public(address: str, expected: bool) -> None:
    assert is_public(address) is expected
    assert not is_public(f"{address} and more")


def test_parse_says_that_it_reads_an_address(server: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    called = CliRunner().invoke(
        app, ["parse", f"{server}/s.png?key=secret", "-o", str(out), "--layout", "rules"]
    )
    assert f"reading {server}/s.png\n" in called.stderr
    assert "secret" not in called.stderr + called.stdout
    assert json.loads((out / "run.json").read_text("utf-8"))["inputs"] == [f"{server}/s.png"]


def test_a_pipeline_takes_addresses_too_and_quiet_says_nothing(server: str, tmp_path: Path) -> None:
    out, address = tmp_path / "out", f"{server}/scan.png?signature=secret"
    words = ["run", "pages", address, "--output-dir", str(out), "--step", "ocr", "--layout", "rules", "-q"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert (done.exit_code, done.output) == (0, "")
    assert [page.document for page in Out(out).read_pages()] == ["scan.png"]
    assert "secret" not in (out / "run.json").read_text("utf-8")

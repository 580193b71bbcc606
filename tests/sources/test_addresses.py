"""Addresses as inputs: fetched once, kept in OUT, failing alone, never led inside by a redirect.

The servers are real, on ports of this machine; pictures are drawn by Pillow.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.errors import BadInput, UsageError
from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_work
from penstock.sources import download, list_items
from penstock.sources.download import Download
from penstock.store.out import Out
from tests.support.local_server import LocalServer


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
            self.end_headers()
            self.wfile.write(picture())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[str]:
    Pictures.asked = []
    with LocalServer(Pictures) as running:
        yield running.url


def run(inputs: list[str], out: Path, fresh: bool = False) -> list[str]:
    options = ParseOptions(inputs=tuple(inputs), settings={"layout": "rules"}, executor="inline", fresh=fresh)
    return [page.document for page in parse_work(options, out)]


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
        list(list_items([f"file://{listed}"], Page))


def test_a_redirect_leads_from_a_public_address_to_no_private_one(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "x")
    inside = Download(f"{server}/a?to={server}/b.png", path, 1 << 20)
    assert download._fetch(inside) == len(picture())  # who names this machine may be led around in it
    answers = iter([True, False])  # first a public address, then one inside
    monkeypatch.setattr(download, "_is_public", lambda address: next(answers))
    with pytest.raises(BadInput, match="inside this network"):
        download._fetch(inside)
    assert Pictures.asked[-1].startswith("/a")  # the second was never asked


@pytest.mark.parametrize(
    ("address", "is_public"),
    [("93.184.215.14", True), ("127.0.0.1", False), ("10.1.2.3", False), ("169.254.169.254", False),
     ("::1", False), ("fe80::1%eth0", False), ("2606:4700::1111", True)],
)  # fmt: skip
def test_addresses_of_this_machine_and_its_network_are_not_public(address: str, is_public: bool) -> None:
    assert download._is_public(address) is is_public


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

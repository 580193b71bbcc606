"""`parse --service` against a service that lies: no file of the user changes, nothing grows for ever."""

from __future__ import annotations

import http.server
import io
import itertools
import json
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

import penstock
from penstock.client import connection, results_zip
from penstock.client.connection import ServiceAnswer, ServiceError
from penstock.client.folder import fetch_into, page_texts
from penstock.client.results_zip import FILES, FOLDERS, ZipBounds
from penstock.errors import StoreError
from penstock.exports.export import PAGE_FORMATS, export
from penstock.testing import FAKE
from tests.support.local_server import LocalServer
from tests.support.running_service import SAMPLE

BOUNDS = ZipBounds(max_zip_bytes=1 << 20, max_bytes=1 << 20, max_files=10, small_bytes=1 << 19, max_ratio=20)


def packed(*members: tuple[str | zipfile.ZipInfo, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as made:
        for name, data in members:
            made.writestr(name, data, kind)
    return file.getvalue()


class Lying(http.server.BaseHTTPRequestHandler):
    body: ClassVar[bytes] = b""
    endless: ClassVar[bool] = False

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.end_headers()
        try:
            self.wfile.write(self.body)
            while self.endless:
                self.wfile.write(self.body)
        except ConnectionError:
            pass

    do_POST = do_GET

    def log_message(self, *_: object) -> None: ...


@contextmanager
def answering(body: bytes, endless: bool = False) -> Iterator[penstock.Client]:
    Lying.body, Lying.endless = body, endless
    with LocalServer(Lying) as server:
        yield penstock.Client(server.url)


def fetched(body: bytes, out: Path, bounds: ZipBounds = BOUNDS) -> None:
    with answering(body) as client:
        fetch_into(client, "1", out, ["md"], bounds)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def linked(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


@pytest.mark.parametrize(
    "name",
    ["notes.txt", ".bashrc", "run.json", "items/00000.parquet", "uploads/x", "service.json", "crops",
     "/etc/passwd", "../x.md", "markdown/../../x.md", "markdown/./x.md", "markdown//x.md", "markdown/",
     "markdown/a\\b.md", "markdown/C:x.md", "markdown/nul", "markdown/con.md", "markdown/a\nb.md",
     "markdown/x.md.", "markdown/" + "x" * 300, "markdown/" + "d/" * 40 + "x.md", "MARKDOWN/x.md"],
)  # fmt: skip
def test_names_that_no_service_writes_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("mine")
    out = tmp_path / "out"
    with pytest.raises(StoreError, match="no ZIP of results"):
        fetched(packed(("markdown/good.md", b"good"), (name, b"evil")), out)
    assert tree(tmp_path) == {"x.md": b"mine"}  # nor was the good one kept


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_links_and_double_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no plain file"):
        fetched(packed((linked("markdown/x.md"), b"/etc/passwd")), tmp_path)
    with pytest.raises(StoreError, match="twice"):
        fetched(packed(("markdown/x.md", b"1"), ("markdown/x.md", b"2")), tmp_path)
    assert tree(tmp_path) == {}


def test_a_file_that_no_service_wrote_stays(tmp_path: Path) -> None:
    (tmp_path / "markdown").mkdir()
    (tmp_path / "markdown" / "a.md").write_text("my own notes")
    with pytest.raises(StoreError, match=r"a\.md is there already"):
        fetched(packed(("markdown/a.md", b"theirs"), ("markdown/b.md", b"theirs")), tmp_path)
    assert tree(tmp_path) == {"markdown/a.md": b"my own notes"}


def test_what_a_service_wrote_is_replaced_until_someone_changes_it(tmp_path: Path) -> None:
    fetched(packed(("markdown/a.md", b"one")), tmp_path)
    fetched(packed(("markdown/a.md", b"two"), ("crops/x.jpg", b"jpg")), tmp_path)
    assert (tmp_path / "markdown" / "a.md").read_bytes() == b"two"
    (tmp_path / "markdown" / "a.md").write_text("two, and what I added")
    before = tree(tmp_path)
    with pytest.raises(StoreError, match="there already"):
        fetched(packed(("markdown/a.md", b"three")), tmp_path)
    assert tree(tmp_path) == before


def test_no_link_in_out_is_followed(tmp_path: Path) -> None:
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    out.mkdir()
    (out / "markdown").symlink_to(elsewhere)
    with pytest.raises(StoreError, match="no folder of ours"):
        fetched(packed(("markdown/a.md", b"theirs")), out)
    (out / "ocr_results.jsonl").symlink_to(elsewhere / "x")
    with pytest.raises(StoreError, match="there already"):
        fetched(packed(("ocr_results.jsonl", b"theirs")), out)
    (out / "service.json").symlink_to(elsewhere / "y")
    with pytest.raises(StoreError, match="there already"):
        fetched(packed(("chunks.jsonl", b"theirs")), out)
    assert tree(elsewhere) == {}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (packed(("markdown/a.md", bytes(2 << 20))), "unpacks to more"),
        (packed(*((f"markdown/{n}.md", b"") for n in range(11))), "more than 10 files"),
        (packed(("markdown/a.md", b"x"), kind=zipfile.ZIP_LZMA), "no plain file"),
        (b"no zip", "no ZIP"),
        (packed(("markdown/a.md", b"some text that is packed" * 9))[:-40], "no ZIP"),
    ],
)
def test_a_zip_is_bounded_and_whole_or_nothing_is_written(tmp_path: Path, body: bytes, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        fetched(body, tmp_path)
    assert tree(tmp_path) == {}


def test_a_list_of_members_that_fills_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_zip, "MAX_DIRECTORY_BYTES", 1000)
    body = packed(*((f"markdown/{'x' * 200}{n}.md", b"") for n in range(9)))
    with pytest.raises(StoreError, match="list of files is too long"):
        fetched(body, tmp_path)


def test_an_endless_answer_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_JSON_BYTES", 1 << 20)
    monkeypatch.setattr(penstock.client.client, "MAX_RESULT_BYTES", 1 << 20)
    with answering(b'"' + b"x" * (1 << 16), endless=True) as client:
        with pytest.raises(ServiceError, match="more than 1 MB"):
            fetch_into(client, "1", tmp_path, ["md"], BOUNDS)
        for call in (client.health, client.jobs, lambda: client.submit(b"x"), lambda: client.result("1")):
            with pytest.raises(ServiceError, match="more than 1 MB"):
                call()
        with pytest.raises(ServiceError, match="a line of more than"):
            next(client.events("1"))
    assert tree(tmp_path) == {}


class Trickle:
    """An answer of a byte each time; the clock runs on by a second with each."""

    def read1(self, _: int) -> bytes:
        return b"x"


def test_an_answer_that_trickles_is_given_up() -> None:
    clock = itertools.count(0.0, 1.0)
    answer = ServiceAnswer(Trickle(), "host", lambda: next(clock))  # type: ignore[arg-type]
    with pytest.raises(ServiceError, match="too slowly: 121 bytes"):
        answer.read(1 << 20)


@pytest.mark.parametrize(
    "told", [[], {}, "x", 7, {"id": "1"}, {"documents": 7}, {"documents": [{"pages": [{}]}]}, None]
)
def test_answers_of_another_shape_are_sentences(told: Any, tmp_path: Path) -> None:
    with answering(json.dumps(told).encode()) as client:
        calls = (client.job, lambda _: client.submit(b"x"), lambda id: list(page_texts(client, id, ["md"])))
        for call in calls:
            with pytest.raises(ServiceError, match="The service answered"):
                call("1")
    with answering(b"[" * 100_000) as client, pytest.raises(ServiceError, match="no JSON"):
        client.job("1")


def test_every_format_writes_names_that_are_accepted(tmp_path: Path) -> None:
    list(penstock.parse(SAMPLE, out=tmp_path, recipe=FAKE))
    for name in PAGE_FORMATS:
        for path in export(tmp_path, [name]):
            parts = path.relative_to(tmp_path).parts
            assert parts[0] in (FOLDERS if len(parts) > 1 else FILES), path

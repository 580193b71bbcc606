"""A service among strangers: pages that may not reach it, clients that trickle, runs that change below it."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.serve.answers import bounded_calls
from penstock.serve.reading.catalogue import Catalogue
from penstock.serve.reading.progress import ReadingProgress
from penstock.serve.reading.service import Service
from penstock.store.ledger import Ledger
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from penstock.testing.fake_stages import FakeRecognise
from tests.support.made_pdf import pdf
from tests.support.waiting import wait_until

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.guard.upload_deadlines import ArrivalBounds
from penstock.testing import FAKE
from tests.support.running_service import SAMPLE, Client, Running, await_up, free_port


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    out = tmp_path_factory.mktemp("out")
    with Service(out, fake()) as service, Running(service, names=["docs.example"]) as client:
        yield client


def said(client: Client, head: str, body: bytes = b"", timeout_s: float = 100.0) -> bytes:
    """The whole answer to a request written by hand."""
    address = urllib.parse.urlsplit(client.url)
    with socket.create_connection((address.hostname, address.port), timeout=timeout_s) as line:
        line.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    return answer


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("evil.example:8080", "", 403),  # a name that was made to mean our address
        ("evil.example:8080", "http://evil.example:8080", 403),
        ("127.0.0.1:8080", "http://evil.example", 403),
        ("127.0.0.1:8080", "http://127.0.0.1:9999", 403),
        ("127.0.0.1:8080", "null", 403),
        ("127.0.0.1:8080", "http://[", 403),
        ("127.0.0.1.evil.example", "", 403),
        ("[::1", "", 403),
        ("[::1]:8080", "http://[::1]:8080", 200),
        ("localhost:8080", "http://localhost:8080", 200),
        (socket.gethostname(), "", 200),
        ("192.168.7.7:8080", "", 200),
        ("docs.example", "https://docs.example", 200),  # allowed by name
        ("127.0.0.1:8080", "https://docs.example", 200),  # by a proxy that names itself as host
    ],
)
def test_only_who_knows_us_by_name_is_answered(client: Client, host: str, origin: str, status: int) -> None:
    lines = [f"GET /health HTTP/1.1\nHost: {host}\nConnection: close", f"Origin: {origin}" if origin else ""]
    answer = said(client, "\n".join(filter(None, lines)))
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer


def test_no_other_page_may_hold_ours_in_a_frame(client: Client) -> None:
    with urllib.request.urlopen(client.url + "/") as answer:
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Content-Encoding": "gzip"}, "compressed"),
        ({"Content-Type": "multipart/form-data; boundary=x"}, "--data-binary"),
        ({"Content-Type": "Multipart/Form-Data; boundary=x"}, "--data-binary"),
    ],
)
def test_what_would_be_kept_wrongly_is_refused(client: Client, headers: dict[str, str], words: str) -> None:
    request = urllib.request.Request(client.url + "/v1/documents?name=a.pdf", SAMPLE.read_bytes(), headers)
    with pytest.raises(urllib.error.HTTPError) as refused, urllib.request.urlopen(request):
        pass
    with refused.value as answer:
        assert (answer.code, words in answer.read().decode()) == (415, True)


def test_every_error_has_a_sentence(client: Client) -> None:
    for path, status in (("/v1/page?name=a&page=0", 422), ("/v1/documents?start=x", 422), ("/nothing", 404)):
        code, told = client(path)
        assert (code, bool(told["error"])) == (status, True)


def test_a_body_that_is_too_long_by_its_own_words_is_not_read(client: Client) -> None:
    head = (
        "POST /v1/documents?name=a HTTP/1.1\nHost: localhost\nConnection: close\nContent-Length: 9999999999"
    )
    assert said(client, head, b"abc").startswith(b"HTTP/1.1 413 ")


def test_a_client_that_trickles_is_told_so(tmp_path: Path) -> None:
    head = "POST /v1/documents?name=a HTTP/1.1\nHost: localhost\nConnection: close\nContent-Length: 99"
    with (
        Service(tmp_path, fake()) as service,
        Running(service, arrivals=ArrivalBounds(grace_s=0.3)) as client,
    ):
        assert said(client, head, b"abc").startswith(b"HTTP/1.1 408 ")


def test_a_client_that_goes_leaves_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        address = urllib.parse.urlsplit(client.url)
        with socket.create_connection((address.hostname, address.port)) as line:
            line.sendall(
                b"POST /v1/documents?name=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc"
            )
            wait_until(lambda: list(tmp_path.glob("uploads/.incoming*")))
        wait_until(lambda: not list(tmp_path.glob("uploads/.incoming*")))
        assert client("/v1/documents")[1] == []
    assert "Traceback" not in caplog.text


def test_only_so_many_documents_arrive_at_once(tmp_path: Path) -> None:
    bounds = ArrivalBounds(max_arriving=0)
    with Service(tmp_path, fake()) as service, Running(service, arrivals=bounds) as client:
        status, told = client("/v1/documents?name=a.pdf", b"%PDF-")
    assert (status, "arriving" in told["error"]) == (429, True)


def test_only_so_many_wait_for_a_picture(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_calls, "MAX_ASKING", 0)
    name = client.send("p.pdf", SAMPLE.read_bytes())["name"]
    client.wait(name)
    assert client(f"/v1/picture?name={name}&page=1")[0] == 503


def rows(values: list[int]) -> bytes:
    pictures = [cv2.imencode(".png", np.full((60, 80, 3), value, np.uint8))[1].tobytes() for value in values]
    ids = [f"p{number}" for number in range(len(values))]
    cells = pa.array(
        [{"bytes": picture, "path": None} for picture in pictures],
        pa.struct({"bytes": pa.binary(), "path": pa.string()}),
    )
    file = io.BytesIO()
    pq.write_table(pa.table({"id": pa.array(ids, pa.string()), "image": cells}), file)
    return file.getvalue()


@pytest.mark.slow
def test_two_datasets_with_the_same_ids_are_both_kept(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        names = [client.send(f"{n}.parquet", rows([n, n + 1]))["name"] for n in (1, 2)]
        assert all(client.wait(name)["done"] == 2 for name in names)
    with Service(tmp_path, fake()) as service, Running(service) as client:
        assert all(client.wait(name)["done"] == 2 for name in names)


def test_a_document_without_a_page_fails_alone(client: Client) -> None:
    empty = client.send("empty.parquet", rows([]))["name"]
    assert client.wait(empty)["failed"] == 1
    other = client.send("other.pdf", SAMPLE.read_bytes())["name"]
    assert client.wait(other)["done"] == 4


def test_a_document_that_claims_a_million_pages_is_soon_ready(client: Client) -> None:
    data = pdf(["", ""]).replace(b"/Count 2 ", b"/Count 1000000 ") + b"%" * (1 << 20)
    told = client.wait(client.send("liar.pdf", data)["name"])
    assert (told["pages"], told["done"], told["failed"]) == (3, 2, 1)


def test_one_process_counts_all_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To start one takes a third of a second, which a document that comes alone would wait."""
    from penstock.sources import probe

    started: list[probe.PageCounter] = []
    made = probe.PageCounter.__init__

    def counted(self: probe.PageCounter, *given: Any, **named: Any) -> None:
        started.append(self)
        made(self, *given, **named)

    monkeypatch.setattr(probe.PageCounter, "__init__", counted)
    for number in range(30):
        folder = tmp_path / "uploads" / f"{number:016x}"
        folder.mkdir(parents=True)
        (folder / "a.pdf").write_bytes(b"%PDF-1.4 broken")
    with Service(tmp_path, fake()) as service:
        wait_until(lambda: not service.waiting)
        assert len([one for one in service.documents() if one.failed == 1]) == 30
        with Running(service) as client:
            for count in (1, 2):
                assert client.wait(client.send(f"{count}.pdf", pdf([""] * count))["name"])["done"] == count
    assert sum(one._child.starts for one in started) == 1


def test_a_long_document_holds_up_no_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    put = Catalogue.put

    def noted(self: Catalogue, item: Any) -> None:
        read.append(item.document.rpartition("/")[2])
        put(self, item)

    monkeypatch.setattr(Catalogue, "put", noted)
    for number, (name, pages) in enumerate([("long.pdf", 60), ("short.pdf", 3), ("last.pdf", 3)]):
        folder = tmp_path / "uploads" / f"{number:016x}"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(pdf([""] * pages))
        os.utime(folder / name, ns=(number, number))  # the long one was sent first
    with Service(tmp_path, fake()) as service:
        wait_until(lambda: not service.waiting)
    assert len(read) == 66
    assert "long.pdf" in read[max(index for index, name in enumerate(read) if name != "long.pdf") :]
    assert {"short.pdf", "last.pdf"} <= set(read[:40])


def test_one_long_document_does_not_keep_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.serve.reading.progress.MAX_WAITING", 8)
    monkeypatch.setattr("penstock.serve.reading.progress.MAX_SHARE", 5)
    progress = ReadingProgress()
    progress.start([Path("1/long.pdf"), Path("2/other.pdf")])
    progress.count("1/long.pdf", pages=40_000, left=40_000)
    progress.cancel("2/other.pdf")
    assert (progress.is_full, progress.waiting) == (False, 40_000)
    progress.promise(Path("2/other.pdf"))
    progress.count("2/other.pdf", pages=4, left=4)
    assert progress.is_full


@pytest.mark.slow
def test_the_service_ends_although_someone_is_still_sending(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "penstock", "serve", str(tmp_path / "out"), "--port", str(port)]
    service = subprocess.Popen([*command, "--recipe", FAKE], stderr=subprocess.PIPE, text=True)
    await_up(Client(f"http://127.0.0.1:{port}"))
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.sendall(b"POST /v1/documents?name=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc")
        wait_until(lambda: list(tmp_path.glob("out/uploads/.incoming*")))
        service.send_signal(signal.SIGTERM)
        _, told = service.communicate(timeout=300)
    assert service.returncode == 0
    assert "Traceback" not in told


def test_a_service_with_a_long_queue_ends_at_once(tmp_path: Path) -> None:
    with Service(tmp_path, fake(seconds=1.0)) as service, Running(service) as client:
        for number in range(40):
            client.send(f"{number}.pdf", SAMPLE.read_bytes())
    assert len(Ledger(tmp_path, PAGES).entries()) < 160  # the rest is read after the next start


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        (tmp_path / "uploads").write_text("a file where a folder should be")
        status, told = client("/v1/documents?name=a.pdf", b"%PDF-")
    assert (status, "not a folder" in told["error"]) == (507, True)


def test_what_cannot_go_on_says_so_to_who_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: FakeRecognise) -> None:
        raise penstock.errors.OpenError("The model is not there.")

    plan = fake()
    monkeypatch.setattr(type(plan.stages[1]), "open", broken)
    with Service(tmp_path, plan) as service, Running(service) as client:
        name = client.send("a.pdf", SAMPLE.read_bytes())["name"]
        status, told = client(f"/v1/document?wait=60&name={name}")
        assert (status, told["error"]) == (503, "The model is not there.")
        assert client("/health")[0] == 503
        assert client("/v1/documents?name=b.pdf", b"%PDF-")[1]["error"] == "The model is not there."


@pytest.mark.slow
def test_what_broke_is_tried_again_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model server may be started after us, a disk be emptied."""
    plan, there = fake(), threading.Event()
    layout = type(plan.stages[1])
    opened = layout.open

    def missing(self: Any) -> Any:
        if not there.is_set():
            raise penstock.errors.OpenError("The model is not there.")
        return opened(self)

    monkeypatch.setattr(layout, "open", missing)
    monkeypatch.setattr("penstock.serve.reading.reading_run.AGAIN_S", 0.2)
    monkeypatch.setattr("penstock.executors.local.JOIN_S", 0.1)
    with Service(tmp_path, plan) as service, Running(service) as client:
        first = client.send("a.pdf", SAMPLE.read_bytes())["name"]
        assert client(f"/v1/document?wait=60&name={first}")[0] == 503
        there.set()
        wait_until(lambda: client("/health")[0] == 200)
        second = client.send("b.pdf", SAMPLE.read_bytes())["name"]
        assert [client.wait(name)["done"] for name in (first, second)] == [4, 4]
        assert client("/health")[1]["waiting_pages"] == 0


def test_a_file_that_has_changed_shows_its_new_pages(tmp_path: Path) -> None:
    """As the exports do: pages of a file as it was before are not shown."""
    source = tmp_path / "in.pdf"
    source.write_bytes(SAMPLE.read_bytes())
    list(penstock.parse(source, out=tmp_path / "out", recipe=FAKE))
    picture = np.full((60, 80, 3), 255, np.uint8)
    source.write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    list(penstock.parse(source, out=tmp_path / "out", recipe=FAKE))
    with Service(tmp_path / "out") as service:
        [status] = service.documents()
        assert (status.name, status.pages) == ("in.pdf", 1)
        page = service.catalogue.page("in.pdf", 0)
        assert page is not None
        assert (page.width, page.height) == (80, 60)


def test_a_run_that_is_started_over_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.serve.reading import catalogue

    monkeypatch.setattr(catalogue, "LOOK_S", 0.0)
    monkeypatch.setattr(catalogue, "SPARING", 0.0)
    list(penstock.parse(SAMPLE, out=tmp_path, recipe=FAKE))
    picture = tmp_path.parent / "picture.png"
    picture.write_bytes(cv2.imencode(".png", np.full((60, 80, 3), 255, np.uint8))[1].tobytes())
    with Service(tmp_path) as service:
        assert service.catalogue.page("sample.pdf", 3) is not None
        list(penstock.parse(picture, out=tmp_path, recipe=FAKE, fresh=True))
        assert [status.name for status in service.documents()] == ["picture.png"]
        assert service.catalogue.page("sample.pdf", 3) is None


def test_a_page_with_a_region_that_failed_is_not_called_well(tmp_path: Path) -> None:
    from dataclasses import replace

    from penstock.errors import Failure
    from penstock.page import Page
    from penstock.region import Region
    from penstock.serve.reading.catalogue import Catalogue

    failure = Failure(stage="recognise", kind="EngineError", message="No server answered.")
    region = replace(Region(label="text", box=(0, 0, 1, 1), index=0), failure=failure)
    catalogue = Catalogue(tmp_path, follows=False)
    catalogue.put(Page(id="a/00000", uri="a", document="a", regions=(region,)))
    assert not catalogue.places("a")[0].ok


def test_names_of_every_kind_at_once(client: Client) -> None:
    names = [
        "보고서.pdf",
        "<img src=x onerror=alert(1)>.pdf",
        "con.pdf",
        "x" * 300,
        "a\r\nb.pdf",
        "",
        "@l.txt",
    ]
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda name: client.send(name, SAMPLE.read_bytes()), names))
    assert len({one["name"] for one in told}) == len(names)
    assert all(client.wait(one["name"])["done"] == 4 for one in told)
    assert not any(set('<>"\r\n') & set(one["name"]) for one in told)


@pytest.mark.skipif(not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists(), reason="needs IPv6")
def test_it_listens_on_an_ipv6_address_too() -> None:
    from penstock.cli.running.listening import address, listening_on

    with listening_on("::1", 0) as listening:
        assert address(listening).startswith("http://[::1]:")

"""`penstock.Client` and `parse --service` against a real service."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import app
from penstock.client.connection import ServiceError
from penstock.client.results import documents_in, hits_in, photos_in
from penstock.client.settings import ServiceParseSettings, ServicePhotoSettings
from penstock.errors import Failure, UsageError
from penstock.exports.page_rows import result_row
from penstock.page import Page
from penstock.passes.parse import ParseOptions
from penstock.photo import Photo, PhotoObject
from penstock.region import CellPlace, FormField, Line, Link, Region, Signals
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.guard.keys import KeyOwner, KeyRing, hash_of
from penstock.serve.jobs.results import photo_rows
from penstock.serve.requests.options import ParseRequest, VolumesRequest
from penstock.testing import FAKE
from tests.support.running_service import SAMPLE, Running


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    ring = KeyRing([KeyOwner(name="me", sha256=hash_of("key"))])
    reading = ParseOptions(inputs=(), recipe=FAKE)
    out = tmp_path_factory.mktemp("out")
    with Service(out, fake()) as service, Running(service, keys=ring, reading=reading) as client:
        yield client.url


@pytest.fixture
def client(url: str) -> penstock.Client:
    return penstock.Client(url, key="key")


def test_a_document_comes_back_as_markdown_and_as_rows(client: penstock.Client) -> None:
    assert "<!-- page 4 -->" in client.markdown(SAMPLE)
    documents = client.parse([SAMPLE, ("two.pdf", pdf(["a", "b"]))])
    assert [(one.name, len(one.pages), one.failures) for one in documents] == [
        ("sample.pdf", 4, []),
        ("two.pdf", 2, []),
    ]
    assert [page.number for page in documents[0].pages] == [1, 2, 3, 4]
    labels = [[region.label for region in page.regions] for page in documents[0].pages]
    assert labels == [["paragraph_title", "text"]] * 4


def test_what_a_service_answers_is_what_python_gives(client: penstock.Client, tmp_path: Path) -> None:
    [document] = client.parse(SAMPLE, pages="1")
    [page] = penstock.parse(SAMPLE, recipe=fake(), pages="1")
    [other] = document.pages
    assert (other.document, other.number, other.width) == (page.document, page.number, page.width)
    assert other.markdown == "\n\n".join(region.content or "" for region in other.regions)
    for there, here in zip(other.regions, page.regions, strict=True):
        assert (there.label, there.index, there.score) == (here.label, here.index, here.score)
        assert there.box == pytest.approx(here.box, abs=page.height / 1000)


def test_how_surely_a_page_was_read_comes_through_a_service() -> None:
    line = Line(text="1,200 t", box=(0, 0, 90, 9), confidence=0.5, other="1,260 t", words=(0.25, 0.75))
    cell = CellPlace(0, 1, (0, 0, 90, 9), 0.5, "1,260")
    signals = Signals(network=0.5, weakest=0.25, other="1,260 t", marks=("cut off",))
    link = Link(text="t", address="https://example.org")
    region = Region(
        label="table", box=(0.0, 0.0, 1000.0, 1000.0), content="1,200 t", confidence=0.5, reader="ppocr",
        lines=(line,), cells=(cell,), signals=signals, links=(link,),
    )  # fmt: skip
    page = Page(id="a/0", uri="", document="a.pdf", width=1000, height=1000, regions=(region,), layout="cdla")
    page = replace(page, form=(FormField("b", "Born", "1984", (10.0, 20.0, 30.0, 40.0)),))
    answer = {"documents": [{"name": "a.pdf", "pages": [result_row(page)]}]}
    [document] = documents_in(json.dumps(answer).encode())
    assert document.pages == (page,)


def test_photos_of_a_result_are_photos() -> None:
    thing = PhotoObject(
        label="chair", box=(1.0, 2.0, 30.0, 40.0), kind="chair", size=(0.5, 0.6, 0.9),
        bbox_cbm=0.27, low_cbm=0.2, high_cbm=0.4, moving_cbm=0.27, estimate="prior",
    )  # fmt: skip
    unread = Failure(stage="load", kind="BadInput", message="damaged")
    photos = [
        Photo(id="a/0", uri="a.jpg", document="a.jpg", width=60, height=80, objects=(thing,)),
        Photo(id="b/0", uri="b.jpg", document="b.jpg", failure=unread),
    ]
    rows = photo_rows(photos, same_room=False)
    found = photos_in("".join(rows).encode())
    assert found.photos == tuple(replace(photo, uri="") for photo in photos)
    assert found.total.low < 0.27 < found.total.high


def test_the_clients_options_are_those_of_a_service() -> None:
    files = {"depths", "furniture"}
    assert set(ServicePhotoSettings.__annotations__) - files == set(VolumesRequest.model_fields)
    assert set(ParseRequest.model_fields) <= set(ServiceParseSettings.__annotations__)


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b'{"documents": [{"name": "a", "pages": [{}]}]}', b"7"])
def test_an_answer_that_is_no_result_is_a_sentence(answer: bytes) -> None:
    for read in (documents_in, photos_in):
        with pytest.raises(ServiceError, match="The service answered with what"):
            read(answer)


def test_hits_are_those_of_search() -> None:
    hit = penstock.Hit(
        page_id="a/0", document="a", page=1, score=0.5, snippet="words", sources={"text": (1, 0.9)},
        pages=(1, 2), box=(1, 2, 3, 4),
    )  # fmt: skip
    assert hits_in(json.loads(json.dumps([{**asdict(hit), "new": 1}]))) == [hit]


def test_jobs_are_followed_cancelled_and_deleted(client: penstock.Client, tmp_path: Path) -> None:
    job = client.submit(pdf(["a"]), pages="1", idempotency_key="once")
    assert client.submit(pdf(["a"]), pages="1", idempotency_key="once").id == job.id
    states = list(client.events(job.id))
    assert (states[-1].state, states[-1].done) == ("done", 1)
    assert client.save(job.id, tmp_path / "a.zip").read_bytes().startswith(b"PK")
    assert client.cancel(job.id).state == "done"
    client.delete(job.id)
    with pytest.raises(ServiceError, match="no job") as refused:
        client.job(job.id)
    assert refused.value.status == 404
    assert client.health()["ready"] and client.engines()["recipe"] == "fake"


def test_wrong_calls_are_sentences(client: penstock.Client, url: str) -> None:
    with pytest.raises(UsageError, match="no file"):
        client.submit("nowhere.pdf")
    with pytest.raises(UsageError, match="no file"):
        client.submit([])
    with pytest.raises(UsageError, match="not the address"):
        penstock.Client("ftp://x")
    with pytest.raises(ServiceError, match="does not take --dpi"):
        client.parse(SAMPLE, dpi=100)
    with pytest.raises(ServiceError, match="key"):
        penstock.Client(url).jobs()
    with pytest.raises(ServiceError, match="cannot be asked"):
        penstock.Client("http://127.0.0.1:1").health()


def test_the_loop_is_free_while_it_waits(url: str) -> None:
    async def asked() -> list[str]:
        client = penstock.AsyncClient(url, key="key")
        texts = await asyncio.gather(*(client.markdown(("a.pdf", pdf([str(n)]))) for n in range(3)))
        job = await client.submit(pdf(["x"]))
        states = [one.state async for one in client.events(job.id)]
        await client.delete(job.id)
        return [*texts, states[-1]]

    *texts, last = asyncio.run(asked())
    assert (len(texts), last) == (3, "done")


class _Full(http.server.BaseHTTPRequestHandler):
    tries = 0

    def do_GET(self) -> None:
        type(self).tries += 1
        status = 429 if self.tries < 3 else 200
        self.send_response(status)
        self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(b'{"ready": true}' if status == 200 else b'{"error": "full"}')

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def test_a_full_service_is_asked_again_when_it_says_so() -> None:
    pauses: list[float] = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Full) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        client = penstock.Client(f"http://127.0.0.1:{server.server_port}", sleep=pauses.append)
        assert client.health() == {"ready": True}
        server.shutdown()
        thread.join()
    assert pauses == [7.0, 7.0]


def test_parse_lets_a_service_read(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf(["a"]))
    (folder / "b.pdf").write_bytes(SAMPLE.read_bytes())
    words = ["parse", str(folder), "--service", url, "--api-key", "key"]
    shown = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "out")])
    assert shown.exit_code == 0, shown.output
    assert "5 pages read" in shown.stderr
    assert (tmp_path / "out" / "markdown" / "b.md").is_file()
    assert len((tmp_path / "out" / "ocr_results.jsonl").read_text().splitlines()) == 5
    printed = CliRunner().invoke(app, [*words, "--pages", "1", "--to", "jsonl", "-q"])
    assert (printed.exit_code, len(printed.stdout.splitlines())) == (0, 2)
    refused = CliRunner().invoke(app, [*words, "--recipe", "glm-ocr"])
    assert isinstance(refused.exception, UsageError) and "--recipe" in str(refused.exception)

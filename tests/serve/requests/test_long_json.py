"""JSON bodies and forms are bounded before they are parsed; files in them are decoded on their way."""

from __future__ import annotations

import asyncio
import base64
import json
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.passes.parse import ParseOptions
from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.upload_deadlines import ArrivalBounds
from penstock.serve.reading.service import Service
from penstock.serve.requests import form as forms
from penstock.serve.requests.base64_stream import Base64Stream
from penstock.serve.requests.form import FormBody
from penstock.serve.requests.long_json import LONG_BYTES, MAX_VALUES, LongJson
from penstock.sizes import MB
from penstock.testing import FAKE
from penstock.testing.fake_recipe import fake
from tests.serve.jobs.test_jobs import form
from tests.support.made_pdf import pdf
from tests.support.running_service import SAMPLE, Client, Running

JSON = {"Content-Type": "application/json"}


async def in_pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def read(data: bytes, size: int = 1000) -> tuple[Any, list[tuple[bytes, str | None]]]:
    """The JSON with a word for each file, and the files with what their data URIs said."""
    files: list[tuple[bytes, str | None]] = []

    async def take(pieces: AsyncIterator[bytes]) -> str:
        content = await Base64Stream(pieces).opened()
        files.append((b"".join([piece async for piece in content]), content.media))
        return f"file-{len(files)}"

    return json.loads(asyncio.run(LongJson(in_pieces(data, size), take).short())), files


@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 20])
@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda told: json.dumps(told).replace("/", "\\/"),
        lambda told: json.dumps(told).replace("+", "\\u002B"),
        lambda told: json.dumps(told, indent=1),
    ],
)
def test_files_are_taken_out_however_they_are_written_and_cut(
    size: int, write: Callable[[object], str]
) -> None:
    data = random.Random(1).randbytes(LONG_BYTES if size == 1 else 100_000)
    text = base64.b64encode(data).decode()
    told = {
        "a": [text, f"data:image/png;base64,{text}"],
        'b\\"': 'x"\\',
        "한": ["글", 1.5, None],
        "short": text[:80],
    }
    short, files = read(write(told).encode(), size)
    assert short == {**told, "a": ["file-1", "file-2"]}
    assert files == [(data, None), (data, "image/png")]


def test_a_long_text_that_is_no_file_stays() -> None:
    text = "한글, and more. " * 5000
    assert read(json.dumps({"prompt": text}).encode()) == ({"prompt": text}, [])


@pytest.mark.parametrize(
    "data",
    [
        b"[" + b"[]," * MAX_VALUES,
        b"{" * (MAX_VALUES + 1),
        b'""' * (MAX_VALUES + 1),
        b'{"a":' + b"1," * MAX_VALUES,
        b" " * (5 << 20),
        b'"' + "한 ".encode() * (2 << 20),
    ],
)
def test_what_would_fill_memory_is_refused_before_it_is_parsed(data: bytes) -> None:
    with pytest.raises(HttpRefusal) as refused:
        read(data, 1 << 16)
    assert refused.value.status == 413


@pytest.mark.parametrize(
    "content",
    ["=" * 30_000, "A" * 30_001, "AAA=" * 9_000, "A" * 30_000 + "!" * 99, "data:text/plain," + "a" * 30_000],
)
def test_a_file_that_is_no_base64_is_refused(content: str) -> None:
    with pytest.raises(HttpRefusal, match="base64") as refused:
        read(json.dumps([content]).encode())
    assert refused.value.status == 422


@pytest.mark.parametrize(
    "data", [b'"never ends', b'"\\', b'"\\u00', b'"\\uZZZZ and more"', b'"' + b"A" * 30_000]
)
def test_a_string_without_an_end_is_refused(data: bytes) -> None:
    with pytest.raises(HttpRefusal, match="no JSON") as refused:
        read(data)
    assert refused.value.status == 400


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    reading = ParseOptions(inputs=(), recipe=FAKE)
    bounds = ArrivalBounds(max_held_bytes=6 << 20)
    with (
        Service(tmp_path_factory.mktemp("out"), fake()) as service,
        Running(service, reading=reading, arrivals=bounds) as client,
    ):
        yield client


def test_files_in_json_come_up_to_the_limit_of_uploads(client: Client) -> None:
    whole = SAMPLE.read_bytes()
    large = whole + b"%" * (4 * MB - len(whole) - 9)
    text = base64.b64encode(large).decode()
    status, job = client(
        "/v1/parse?wait=100", json.dumps({"files": [{"name": "a.pdf", "base64": text}]}).encode(), **JSON
    )
    assert status == 200, job
    assert [(one["name"], len(one["pages"])) for one in job["documents"]] == [("a.pdf", 4)]
    uri = {"file": f"data:application/pdf;base64,{text}", "end_page_id": 1}
    status, told = client("/api/paas/v4/layout_parsing", json.dumps(uri).encode(), **JSON)
    assert status == 200, told
    status, told = client("/v1/parse", json.dumps({"files": [{"base64": text + text}]}).encode(), **JSON)
    assert (status, "4 MB at most" in told["error"]) == (413, True)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"files": [], "prompt": "A" * 40_000}, "no field for files"),
        ({"files": [{"base64": "data:image/png;base64," + "A" * 40_000}]}, "not base64"),
        ({"files": [{"url": "A" * 40_000}]}, "Only http and https"),
    ],
)
def test_files_in_other_places_are_refused(client: Client, told: dict[str, Any], words: str) -> None:
    status, answer = client("/v1/parse", json.dumps(told).encode(), **JSON)
    assert (status, words in answer["error"]) == (422, True), answer


@pytest.mark.parametrize(
    "path", ["/v1/parse", "/v1/ocr", "/v1/convert/source", "/glmocr/parse", "/v1/search", "/v1/embed"]
)
def test_lists_of_lists_are_refused_everywhere(client: Client, path: str) -> None:
    status, told = client(path, b'{"files":[' + b"[]," * 100_000, **JSON)
    assert (status, "values" in told["error"]) == (413, True), told
    assert client("/health")[0] == 200


def test_fields_of_a_form_are_bounded_together(client: Client) -> None:
    fields = {f"f{number}": "x" * 10_000 for number in range(200)}
    body, headers = form(files=[("a.pdf", pdf(["a"]))], **fields)
    status, told = client("/v1/parse", body, **headers)
    assert (status, "1 MB in all" in told["error"]) == (413, True), told


def parts_of(
    body: bytes, kind: str = "multipart/form-data; boundary=x", size: int = 7
) -> list[tuple[Any, ...]]:
    async def read_all() -> list[tuple[Any, ...]]:
        read = FormBody({"content-type": kind}, in_pieces(body, size))
        return [(part.name, part.filename, await read.text_of(part)) async for part in read.parts()]

    return asyncio.run(read_all())


def part(head: str, text: str) -> bytes:
    return f"--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n".encode()


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_form_has_its_parts_however_it_is_cut(size: int) -> None:
    body = (
        part('name="a"', "1\r\n--y")
        + part('name="f"; filename="한글.pdf"', "")
        + part("name=b", "x")
        + b"--x--\r\n"
    )
    assert parts_of(body, size=size) == [("a", None, "1\r\n--y"), ("f", "한글.pdf", ""), ("b", None, "x")]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (part('name="a"', "1"), "multipart/form-data; boundary=x"),
        (part('name="a"', "1") + b"--x--\r\nand more" * 30_000, "multipart/form-data; boundary=x"),
        (part('name="a"', "1") + b"--x--", "multipart/form-data"),
        (b"", "multipart/form-data; boundary=x"),
        (b"--x\r\n" + b"A: " + b"b" * 99_999, "multipart/form-data; boundary=x"),
        (part('name="a"', "") * 3000, "multipart/form-data; boundary=x"),
        (
            part('name="a"\r\nContent-Type: multipart/mixed; boundary=y', "1"),
            "multipart/form-data; boundary=x",
        ),
    ],
)
def test_a_broken_form_is_a_sentence(body: bytes, kind: str) -> None:
    with pytest.raises(HttpRefusal, match="The form") as refused:
        parts_of(body, kind, 1000)
    assert refused.value.status == 400


def test_the_parts_of_a_form_are_as_many_as_files_and_fields_may_be() -> None:
    assert forms.MAX_PARTS >= 2000

"""Requests with bytes changed, cut and doubled: each is answered, none by a bug, and the service goes on."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.passes.parse import ParseOptions
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.testing import FAKE
from tests.serve.jobs.test_jobs import form
from tests.support.running_service import Client, Running

TEXT = base64.b64encode(b"no document").decode()
JSON = {"Content-Type": "application/json"}
WAITS = ("/file_parse", "/glmocr/parse")  # for documents that are read, which takes its time
KNOWN = {200, 202, 204, 400, 403, 404, 405, 408, 409, 413, 415, 422, 429}


def seeds() -> Iterator[tuple[str, bytes, dict[str, str]]]:
    body, headers = form(files=[("a.pdf", pdf(["a"]))], pages="1")
    for path in ("/v1/parse", "/file_parse", "/v1/convert/file/async", "/tasks", "/glmocr/parse"):
        yield path, body, headers
    body, headers = form(file=[("a.pdf", pdf(["a"]))], purpose="ocr")
    yield "/v1/files", body, headers
    wishes = {
        "/v1/parse": {"files": [{"name": "a.pdf", "base64": TEXT}], "lang": ["ko"], "pages": "1-2"},
        "/v1/volumes": {"files": [{"url": f"data:image/png;base64,{TEXT}"}], "boxes": ["1,2,3,4:chair"]},
        "/v1/convert/source/async": {"sources": [{"kind": "file", "base64_string": TEXT, "filename": "a"}]},
        "/v1/search": {"question": "what", "top": 3, "pages": "1-2", "labels": ["text"]},
        "/v1/embed": {"texts": ["what"]},
        "/v1/ocr": {"document": {"type": "document_url", "document_url": "https://example.org/a"}},
        "/api/paas/v4/layout_parsing": {"file": "https://example.org/a", "start_page_id": 1},
        "/layout-parsing": {"file": "https://example.org/a", "fileType": 0},
    }
    for path, wish in wishes.items():
        yield path, json.dumps(wish).encode(), JSON


def mutated(data: bytes, chance: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(made) + 1)
        match chance.randrange(4):
            case 0:
                made[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[place : place + chance.randrange(1, 40)]
            case 2:
                made[place:place] = made[: chance.randrange(60)]
            case _:
                made[place:place] = chance.choice(
                    [b"null", b"[]", b'"', b"\r\n", b"--xyz", b"-1", b"\0", b"1e999"]
                )
    return bytes(made)


def answers(client: Client, rounds: int, paths: list[tuple[str, bytes, dict[str, str]]]) -> Counter[int]:
    chance, statuses = random.Random(0), Counter[int]()
    for _ in range(rounds):
        for path, body, headers in paths:
            status, told = client(path, mutated(body, chance), **headers)
            assert status in KNOWN, (path, told)
            statuses[status] += 1
    return statuses


def run(out: Path, rounds: int, leave_out: tuple[str, ...] = ()) -> Counter[int]:
    reading = ParseOptions(inputs=(), recipe=FAKE)
    with Service(out, fake()) as service, Running(service, reading=reading) as client:
        told = answers(client, rounds, [seed for seed in seeds() if seed[0] not in leave_out])
        assert client("/health")[0] == 200
    assert not list(out.glob("uploads/.incoming*"))
    return told


@pytest.mark.slow
def test_mutated_requests_are_answered(tmp_path: Path) -> None:
    told = run(tmp_path, 3, WAITS)
    assert told[422] and told[400]


@pytest.mark.slow
def test_many_mutated_requests_are_answered(tmp_path: Path) -> None:
    assert sum(run(tmp_path, 10).values()) == 10 * 14

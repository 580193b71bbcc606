"""Over HTTP: what a person should look at, what they put right, and who may."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.guard.keys import KeyRing, new_key
from penstock.serve.reading.service import Service
from penstock.store.out import Out
from tests.exports.test_correct import CELL, REGION, written
from tests.exports.test_located import KOREAN
from tests.exports.test_review import page
from tests.support.running_service import Client, Running


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    written(tmp_path / "out", page())
    with Service(tmp_path / "out") as service, Running(service) as client:
        yield client


def corrected(
    client: Client, headers: dict[str, str] | None = None, **typed: str
) -> tuple[int, dict[str, str]]:
    body = json.dumps(typed).encode()
    return client("/v1/corrections", body, **{"Content-Type": "application/json", **(headers or {})})


def test_a_place_is_listed_corrected_and_read_as_it_was_typed(client: Client, tmp_path: Path) -> None:
    status, places = client("/v1/review?top=1")
    assert (status, places[0]["locator"], places[0]["other"]) == (200, CELL, "1,260")
    status, row = corrected(client, locator=CELL, text="1,260", before="1,200", who="kim")
    assert (status, row["who"], row["before"], row["after"]) == (200, "kim", "1,200", "1,260")
    asked = urllib.parse.quote(CELL)
    assert client(f"/v1/at?locator={asked}")[1]["text"] == "1,260"
    assert [one["after"] for one in client(f"/v1/corrections?locator={asked}")[1]] == ["1,260"]
    assert client("/v1/review?top=1")[1][0]["locator"] != CELL
    [read] = Out(tmp_path / "out").read_pages()
    assert "1,260" in read.markdown


def test_who_is_slower_is_told_and_nothing_is_lost(client: Client) -> None:
    assert corrected(client, locator=CELL, text="1,260", before="1,200")[0] == 200
    status, told = corrected(client, locator=CELL, text="1,300", before="1,200")
    assert status == 409 and "something else by now" in told["error"]
    assert corrected(client, locator="penstock:no.pdf/p1/r0", text="x")[0] == 404
    assert corrected(client, locator="no locator", text="x")[0] == 404
    assert corrected(client, locator=f"penstock:{urllib.parse.quote(KOREAN, safe='')}/p1", text="x")[0] == 409
    assert client("/v1/review?name=no.pdf")[0] == 404


def test_a_page_of_a_stranger_corrects_nothing(client: Client, tmp_path: Path) -> None:
    status, _ = corrected(client, {"Origin": "https://evil.example"}, locator=CELL, text="0")
    assert status == 403
    assert Out(tmp_path / "out").corrections.all() == []


def test_with_keys_the_key_says_who_and_a_reading_key_corrects_nothing(tmp_path: Path) -> None:
    written(tmp_path / "out", page())
    file = tmp_path / "keys.json"
    boss, reader = new_key(file, "boss", "admin"), new_key(file, "reader", "read")
    with Service(tmp_path / "out") as service, Running(service, keys=KeyRing.open(file)) as client:
        assert corrected(client, {"X-API-Key": reader}, locator=REGION, text="x")[0] == 403
        assert corrected(client, {}, locator=REGION, text="x")[0] == 401
        status, row = corrected(client, {"X-API-Key": boss}, locator=REGION, text="x", who="someone else")
        assert (status, row["who"]) == (200, "boss")

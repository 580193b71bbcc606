"""Over HTTP: fields by a schema, for whoever may read the document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

import penstock
from penstock.page import Page
from penstock.region import Region
from penstock.serve.guard.keys import KeyRing, new_key
from penstock.serve.reading.service import Service
from tests.exports.test_correct import written
from tests.support.running_service import Client, Running

BILL = {"properties": {"invoice_number": {"type": "string"}, "total": {"type": "number"}}}


def bill() -> Page:
    said = ("Invoice number: A-17", "Total: 1,280.00", "Thank you")
    regions = tuple(
        Region(label="text", box=(10, 40 * n, 400, 40 * n + 30), index=n, content=text, reader="layer")
        for n, text in enumerate(said)
    )
    return Page(id="bill", uri="bill.pdf", document="bill.pdf", width=500, height=700, regions=regions)


def asked(client: Client, headers: dict[str, str] | None = None, **question: Any) -> tuple[int, Any]:
    body = json.dumps(question).encode()
    return client("/v1/extract", body, **{"Content-Type": "application/json", **(headers or {})})


def test_values_come_with_the_places_that_prove_them(tmp_path: Path) -> None:
    written(tmp_path / "out", bill())
    with Service(tmp_path / "out") as service, Running(service) as client:
        status, found = asked(client, name="bill.pdf", fields=BILL)
        assert (status, found["values"]) == (200, {"invoice_number": "A-17", "total": 1280.0})
        assert {row["path"]: row["locators"] for row in found["fields"]} == {
            "/invoice_number": ["penstock:bill.pdf/p1/r0"],
            "/total": ["penstock:bill.pdf/p1/r1"],
        }
        typed = penstock.Client(client.url).extract("bill.pdf", BILL)
        assert typed == found
        lacking = {"properties": {"iban": {"type": "string"}}}
        assert asked(client, name="bill.pdf", fields=lacking)[1]["missing"] == ["/iban"]


def test_a_schema_that_cannot_be_used_and_a_document_that_is_not_there_are_sentences(tmp_path: Path) -> None:
    written(tmp_path / "out", bill())
    with Service(tmp_path / "out") as service, Running(service) as client:
        status, told = asked(
            client,
            name="bill.pdf",
            fields={"properties": {"total": {"$ref": "http://elsewhere.example/a.json"}}},
        )
        assert status == 400 and "elsewhere" in told["error"]
        status, told = asked(client, name="no.pdf", fields=BILL)
        assert (status, told["error"]) == (404, "There is no document 'no.pdf'.")


def test_a_key_that_may_read_may_extract_and_only_from_its_own_documents(tmp_path: Path) -> None:
    written(tmp_path / "out", bill())
    keys = tmp_path / "keys.json"
    boss, stranger = new_key(keys, "boss", "admin"), new_key(keys, "stranger", "read")
    with Service(tmp_path / "out") as service, Running(service, keys=KeyRing.open(keys)) as client:
        assert asked(client, {"X-API-Key": boss}, name="bill.pdf", fields=BILL)[0] == 200
        assert asked(client, {"X-API-Key": stranger}, name="bill.pdf", fields=BILL)[0] == 404
        assert asked(client, name="bill.pdf", fields=BILL)[0] == 401

"""Search over the service: what was sent is found, what was deleted is not, and no folder is named."""

from __future__ import annotations

import json
import urllib.parse
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.errors import without_paths
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf
from tests.support.needs import needs_search
from tests.support.running_service import Client, Running

pytestmark = needs_search


def words_of(client: Client, name: str) -> str:
    _, row = client(f"/v1/page?page=1&name={name}")
    return urllib.parse.quote(row["regions"][1]["content"].partition(" ")[2])


def found(client: Client, words: str) -> list[str]:
    status, hits = client(f"/v1/search?q={words}")
    assert status == 200, hits
    return [hit["document"] for hit in hits]


def test_what_was_sent_is_found_and_what_was_deleted_is_not(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        assert found(client, "anything") == []
        first = client.send("a.pdf", pdf(["a"]))
        client.wait(first["name"])
        of_first = words_of(client, first["name"])
        assert found(client, of_first) == [first["name"]]
        second = client.send("b.pdf", pdf(["b"]))
        client.wait(second["name"])
        assert second["name"] in found(client, words_of(client, second["name"]))
        client(f"/v1/jobs/{first['job']}", method="DELETE")
        assert first["name"] not in found(client, of_first)
    with Running(Service(tmp_path)) as client:  # it shows what is there, and finds it
        assert second["name"] in found(client, words_of(client, second["name"]))


def test_an_address_is_a_question_and_leads_only_where_the_asker_may_look(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        name = client.send("a.pdf", pdf(["a"]))["name"]
        client.wait(name)
        _, row = client(f"/v1/page?page=1&name={name}")
        for place in (row, row["regions"][1]):
            status, [hit] = client("/v1/search?q=" + urllib.parse.quote(place["locator"]))
            assert (status, hit["locator"], hit["page"]) == (200, place["locator"], 1)
            assert hit["page_id"] == row["page_id"]
        assert hit["snippet"] == row["regions"][1]["content"]
        body = json.dumps({"question": row["locator"], "documents": ["other.pdf"]}).encode()
        assert client("/v1/search", body, **{"Content-Type": "application/json"}) == (200, [])
        assert found(client, "penstock:nothing.pdf/p1") == []
        status, told = client("/v1/search?q=" + urllib.parse.quote(f"{row['locator']}/r99"))
        assert (status, "no region" in told["error"]) == (409, True)


def test_a_search_that_does_not_work_names_no_folder_and_no_command(tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        client.wait(client.send("a.pdf", pdf(["a"]))["name"])
        (tmp_path / "index").write_text("no folder")
        status, told = client("/v1/search?q=a")
        assert status == 503
        assert not any(word in str(told) for word in (str(tmp_path), "index", "penstock "))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/srv/run/items cannot be written.", "OUT/items cannot be written."),
        ("The index '/srv/run/index' is damaged: /srv/run.", "The index 'OUT/index' is damaged: OUT."),
        ("/srv/running and a/srv/run/b", "/srv/running and a/srv/run/b"),
    ],
)
def test_errors_name_no_folder_of_the_server(text: str, left: str) -> None:
    assert without_paths(text, Path("/srv/run")) == left

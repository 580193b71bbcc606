"""The API's description, its list of paths at /docs, and its reference: nothing that a browser would run."""

from __future__ import annotations

import urllib.error
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from tools.http_reference import reference

from penstock.serve.app import app_of
from penstock.serve.guard.keys import KeyRing, new_key
from penstock.serve.paths_page import paths_page
from penstock.serve.reading.service import Service
from tests.support.running_service import Running

HOSTILE = '</code><script>alert(1)</script>" onload="x'


class Seen(HTMLParser):
    """The ids, links, tags and text of a page; fails for one that is not closed as it was opened."""

    EMPTY = frozenset({"meta", "link", "br", "img"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.attributes |= set(given)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]
        if tag not in self.EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return app_of(Service(tmp_path_factory.mktemp("out"))).openapi()


def test_the_page_has_every_path_and_the_reference_every_model(description: dict[str, Any]) -> None:
    page, whole = Seen(paths_page(description)), Seen(reference(description))
    for path, methods in description["paths"].items():
        assert path in page.text
        assert path in whole.text
        assert all(operation["tags"] for operation in methods.values()), path
    assert all(f"model-{name.lower()}" in whole.ids for name in description["components"]["schemas"])
    assert len(whole.ids) == len(set(whole.ids))
    assert {link.removeprefix("#") for link in whole.links} <= set(whole.ids)
    assert set(page.links) == {"openapi.json", "web/colours.css", "web/reference.css"}
    assert not page.tags & {"script", "style", "img", "iframe"}  # the service's policy refuses them
    assert "style" not in page.attributes


def test_every_option_is_explained(description: dict[str, Any]) -> None:
    for path in ("/v1/parse", "/v1/volumes"):
        content = description["paths"][path]["post"]["requestBody"]["content"]
        fields = content["application/json"]["schema"]["properties"]
        assert [
            name for name, told in fields.items() if name != "files" and not told.get("description")
        ] == []


def test_no_words_of_a_description_become_markup() -> None:
    told = {
        "description": HOSTILE,
        "tags": [HOSTILE],
        "parameters": [{"name": HOSTILE, "in": HOSTILE, "schema": {"type": HOSTILE, "default": HOSTILE}}],
        "requestBody": {"content": {HOSTILE: {"schema": {"enum": [HOSTILE]}, "example": {HOSTILE: HOSTILE}}}},
        "responses": {HOSTILE: {"description": HOSTILE, "content": {HOSTILE: {"schema": {"$ref": HOSTILE}}}}},
    }
    description = {
        "info": {"title": HOSTILE, "version": HOSTILE},
        "paths": {HOSTILE: {"get": told}},
        "components": {"schemas": {HOSTILE: {"description": HOSTILE, "properties": {HOSTILE: {}}}}},
    }
    for seen in (Seen(paths_page(description)), Seen(reference(description))):
        assert "script" not in seen.tags
        assert "onload" not in seen.attributes


def test_it_is_served_to_browsers_that_have_no_key(tmp_path: Path) -> None:
    new_key(tmp_path / "keys.json", "ann")
    keys = KeyRing.open(tmp_path / "keys.json")
    with Running(Service(tmp_path), keys=keys) as client:
        status, page = client("/docs")
        assert (status, page.startswith(b"<!doctype html>")) == (200, True)
        assert client("/v1/jobs")[0] == 401
        for link in Seen(page.decode()).links:
            assert not link.endswith(".css") or client(f"/{link}")[0] == 200


def test_a_refused_method_says_which_there_are(tmp_path: Path) -> None:
    with Running(Service(tmp_path)) as client:
        for path, methods in (("/v1/search", "GET, POST"), ("/v1/jobs/a", "DELETE, GET"), ("/health", "GET")):
            asked = urllib.request.Request(client.url + path, method="PUT")
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked, timeout=60)
            with refused.value as answer:
                assert (answer.code, answer.headers["Allow"]) == (405, methods)


def test_operations_have_clear_names_of_their_own(description: dict[str, Any]) -> None:
    operations = [one for methods in description["paths"].values() for one in methods.values()]
    ids = [one["operationId"] for one in operations]
    assert len(ids) == len(set(ids))
    assert {
        "listJobs",
        "getJob",
        "cancelJob",
        "retryDocument",
        "uploadDocument",
        "parse",
        "mistralOcr",
    } <= set(ids)
    assert all(id.isalnum() and id[0].islower() for id in ids), ids
    assert not {"All", "One", "Again"} & {one["summary"] for one in operations}


@pytest.mark.parametrize("has_keys", [True, False])
def test_the_keys_that_are_accepted_are_described(tmp_path: Path, has_keys: bool) -> None:
    key = new_key(tmp_path / "keys.json", "ann")
    keys = KeyRing.open(tmp_path / "keys.json") if has_keys else KeyRing()
    (tmp_path / "out").mkdir()
    with Running(Service(tmp_path / "out"), keys=keys) as client:
        description = client("/openapi.json", Authorization=f"Bearer {key}")[1]
        schemes = description["components"]["securitySchemes"]
        assert schemes["bearer"]["scheme"] == "bearer"
        name = schemes["apiKey"]["name"]
        for headers in ({"Authorization": f"Bearer {key}"}, {name: key}):
            assert client("/v1/jobs", **headers)[0] == 200
        assert ({} in description["security"]) == (client("/v1/jobs")[0] == 200) == (not has_keys)
        assert description["paths"]["/health"]["get"]["security"] == []
        assert client("/health")[0] == 200

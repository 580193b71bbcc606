"""Words that want to be markup, wherever the web page, the photo report and the HTML export show them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import cv2
import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock import export
from penstock.errors import Failure
from penstock.exports.photo_report import report
from penstock.page import Page
from penstock.photo import Photo, PhotoObject
from penstock.region import Region
from penstock.serve.reading.service import Service
from penstock.store import manifest
from penstock.store.ledger import ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from tests.support.browser import Browser, needs_chromium
from tests.support.needs import needs_search
from tests.support.running_service import Client, Running
from tests.support.served_page import EVIL, EVIL_NAME, visit

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400), needs_chromium, needs_search]
WORD = "overflowing"
WRONG = Failure(stage=EVIL, kind=EVIL, message=EVIL, advice=EVIL)
OURS = "document.querySelectorAll('script:not([src=\"web/main.js\"])').length"
RUNS = (
    "[...document.querySelectorAll('*')].flatMap((node) => [...node.attributes])"
    ".filter((one) => one.name.startsWith('on') || /^\\s*javascript/i.test(one.value))"
    ".map((one) => one.value)"
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    out = tmp_path_factory.mktemp("hostile") / "out"
    words = f"{WORD} {EVIL} **{EVIL}**"
    parts = (
        Region(label="paragraph_title", box=(0, 0, 90, 20), content=f"{WORD} {EVIL}", index=0),
        Region(label="text", box=(0, 30, 90, 90), content=words, index=1),
        Region(label="image", box=(0, 100, 90, 190), index=2, note=EVIL),
        Region(label="text", box=(0, 200, 90, 290), index=3, failure=WRONG),
    )
    known: dict[str, Any] = {"uri": "no.pdf", "document": EVIL_NAME, "width": 99, "height": 299}
    writer = ShardWriter(out, PAGES)
    writer.add(Page(id="evil/0", part=0, regions=parts, markdown=f"# {EVIL}\n\n{words}", **known))
    writer.add(Page(id="evil/1", part=1, failure=WRONG, **known))
    writer.commit()
    with Service(out) as service, Running(service) as client:
        yield client


def is_inert(browser: Browser) -> None:
    """No script of a document's has run, and there is nothing that could."""
    assert browser.ask("document.title") != "owned"
    assert browser.ask(OURS) == 0
    assert browser.ask(RUNS) == []
    assert not [line for line in browser.console if "Content Security Policy" in line], browser.console


def test_search_hits_are_text(browser: Browser, served: Client) -> None:
    visit(browser, served)
    browser.click("#question")
    browser.type(WORD)
    browser.press("Enter")
    browser.await_("document.querySelector('.found')")
    told = browser.text("#search")
    assert EVIL_NAME in told
    assert "onerror" in told.replace(EVIL_NAME, "")
    assert browser.count("#search .found a") == browser.count("#search .found script") == 0
    is_inert(browser)


@pytest.mark.parametrize("page", [1, 2])
def test_words_and_failures_of_a_page_are_text(browser: Browser, served: Client, page: int) -> None:
    visit(browser, served, f"#name={quote(EVIL_NAME)}&page={page}")
    browser.await_("document.querySelector('#text .part')")
    assert "<script>" in browser.text("#text")
    is_inert(browser)


def test_failures_of_the_runs_view_are_text(browser: Browser, served: Client) -> None:
    visit(browser, served)
    browser.click(".views [data-view=runs]")
    browser.await_("document.querySelector('#runs .rows .bad')")
    assert "<script>" in browser.text("#runs")
    is_inert(browser)


def test_a_jobs_names_and_its_error_are_text(browser: Browser, tmp_path: Path) -> None:
    with Service(tmp_path, fake()) as service, Running(service) as client:
        _, job = client(f"/v1/parse?name={quote(EVIL_NAME)}", b"%PDF-1.7 no more")
        job = client(f"/v1/jobs/{job['id']}?wait=60")[1]
        assert (job["state"], "onerror" in job["error"]) == ("failed", True), job
        visit(browser, client)
        browser.click(".views [data-view=runs]")
        browser.await_("document.querySelector('#runs .rows .wrong')")
        assert "onerror" in browser.text("#runs .rows .wrong")
        assert browser.count("#runs .rows img") == 0
        is_inert(browser)


def test_the_photo_report_is_text(browser: Browser, tmp_path: Path) -> None:
    name = "x' onload='document.title=1' <img src=x onerror=document.title='owned'>.jpg"
    cv2.imwrite(str(tmp_path / "room.jpg"), np.full((200, 300, 3), 200, np.uint8))
    shutil.copy(tmp_path / "room.jpg", tmp_path / name)
    thing = PhotoObject(
        label=EVIL,
        box=(10, 10, 90, 90),
        note=EVIL,
        estimate=EVIL,
        measurement_notes=(EVIL,),
        kind=EVIL,
        size=(1.0, 1.0, 1.0),
        bbox_cbm=1.0,
        moving_cbm=1.0,
    )
    failed = PhotoObject(label=EVIL, box=(10, 10, 90, 90), index=1, failure=WRONG)
    photos = [
        Photo(
            id="a", uri=str(tmp_path / name), document=name, width=300, height=200, objects=(thing, failed)
        ),
        Photo(id="b", uri=name, document=EVIL, failure=WRONG),
    ]
    manifest.write(tmp_path / "out", fake())
    page = tmp_path / "report.html"
    page.write_text(report(Out(tmp_path / "out"), photos), "utf-8")
    browser.open(page.as_uri())
    assert "<script>" in browser.text("main")
    is_inert(browser)


def test_the_html_of_a_document_is_text(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "out"
    manifest.write(out, fake())
    writer = ShardWriter(out, PAGES)
    text = Region(label="text", box=(0, 0, 90, 20), content=EVIL, index=0)
    table = Region(
        label="table", box=(0, 30, 90, 90), index=1, content=f"<table><tr><td>{EVIL}</td></tr></table>"
    )
    title = Region(label="doc_title", box=(0, 100, 90, 120), content=EVIL, index=2)
    writer.add(
        Page(id="e/0", uri="no.pdf", document="e.pdf", width=99, height=299, regions=(title, text, table))
    )
    writer.commit()
    [page] = [path for path in export(out, ["html"]) if path.suffix == ".html"]
    browser.open(Path(page).absolute().as_uri())
    assert "<script>" in browser.text("body")
    is_inert(browser)

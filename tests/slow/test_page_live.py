"""The web page in a real Chromium while a service works: pages appear, failures are told, keys are asked."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.passes.parse import ParseOptions
from penstock.serve.guard.keys import KeyOwner, KeyRing, hash_of
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.engines.office import made_files
from tests.support.browser import Browser, needs_chromium
from tests.support.running_service import SAMPLE, Running
from tests.support.served_page import visit

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400), needs_chromium]

NOTE_THUMBNAILS = """(() => {
  globalThis.seen = [];
  const count = () => seen.push(document.querySelectorAll(".thumb").length);
  new MutationObserver(count).observe(document.querySelector("#thumbs"), {childList: true, subtree: true});
})()"""


def test_pages_appear_while_the_document_is_read(browser: Browser, tmp_path: Path) -> None:
    with Service(tmp_path / "out", fake(seconds=2.0)) as service, Running(service) as client:
        visit(browser, client)
        browser.await_("!document.querySelector('#drop').hidden")
        browser.ask(NOTE_THUMBNAILS)
        browser.choose_file("#drop input", SAMPLE)
        browser.await_("document.querySelectorAll('#text .part').length", "the first page")
        browser.await_("document.querySelectorAll('.thumb').length === 4")
        assert browser.ask("seen[0]") < 4  # two pages are read at a time
        assert browser.text(".where") == "Page 1 of 4"
        browser.await_("document.querySelector('#names small').textContent === '4 pages'")


def test_a_failure_is_told_and_tried_again(browser: Browser, tmp_path: Path) -> None:
    with Service(tmp_path / "out", fake(fails=(2,))) as service, Running(service) as client:
        name = client.send("report.pdf", SAMPLE.read_bytes())["name"]
        client.wait(name)
        visit(browser, client)
        browser.click(".views [data-view=runs]")
        browser.await_("document.querySelector('#runs .rows .bad')")
        told = browser.text("#runs")
        assert "asked to fail" in told
        assert "report.pdf · 3" in told
        assert "fake_recognise" in told
        assert client("/v1/failures")[1][0]["can_try_again"]
        browser.click("#runs .rows .bad .plain")
        browser.await_("document.querySelector('#state').textContent.includes('again')")
        client.wait(name)
        item = service.catalogue.places(name)[2]
        assert item.attempt == 2


def test_a_key_is_asked_for_and_kept_in_the_tab(browser: Browser, tmp_path: Path) -> None:
    owners = [KeyOwner(name=name, sha256=hash_of(f"key-of-{name}")) for name in ("ann", "bob")]
    settings: dict[str, Any] = {"keys": KeyRing(owners)}
    with Service(tmp_path / "out", fake()) as service, Running(service, **settings) as client:
        visit(browser, client)
        browser.await_("document.querySelector('#key').open")
        browser.type("wrong")
        browser.press("Enter")
        browser.await_("document.querySelector('#key .wrong').textContent")
        browser.type("key-of-ann")
        browser.press("Enter")
        browser.await_("!document.querySelector('#key').open && !document.querySelector('#none').hidden")
        browser.choose_file("#drop input", SAMPLE)
        browser.await_("document.querySelectorAll('#text .part').length")
        browser.await_("document.querySelector('.sheet-picture').naturalWidth", "the picture, with the key")
        assert browser.ask("sessionStorage.getItem('penstock-key')") == "key-of-ann"
        assert "key-of-ann" not in browser.ask(
            "JSON.stringify(localStorage) + location.href + document.cookie"
        )
        browser.ask("sessionStorage.setItem('penstock-key', 'key-of-bob')")
        browser.open(client.url + "/")
        browser.await_("!document.querySelector('#none').hidden", "another key's documents are not there")


def test_an_archive_and_a_way_to_read_office_files_are_jobs_of_their_own(
    browser: Browser, tmp_path: Path
) -> None:
    archive, sheet = tmp_path / "both.zip", tmp_path / "plan.xlsx"
    sheet.write_bytes(made_files.xlsx())
    with zipfile.ZipFile(archive, "w") as package:
        package.write(SAMPLE, "one.pdf")
        package.write(sheet, "b/two.xlsx")
    names = "[...document.querySelectorAll('#names .name')].map((one) => one.textContent)"
    reading = ParseOptions(inputs=(), recipe=fake())
    with (
        Service(tmp_path / "out", fake()) as service,
        Running(service, reading=reading) as client,
    ):
        visit(browser, client)
        browser.await_("!document.querySelector('#office').hidden")
        browser.choose_file("#drop input", archive)
        browser.await_(f"{names}.join() === 'both.zip/one.pdf,both.zip/b/two.xlsx'")
        browser.await_("document.querySelectorAll('#text .part').length", "its first document")
        browser.ask("{ const box = document.querySelector('#office select'); box.value = 'structure'; }")
        browser.choose_file("#drop input", sheet)
        browser.await_(f"{names}[0] === 'plan.xlsx'")
        browser.await_("document.querySelectorAll('#text .part').length", "the sheet")
        jobs = client("/v1/jobs")[1]
        assert [job["files"] for job in jobs] == [["plan.xlsx"], ["both.zip"]]
        assert [job["documents"] for job in jobs] == [[], []]  # each has a run of its own
        browser.choose_file("#drop input", SAMPLE)  # a PDF is read by the service's run, whatever is chosen
        browser.await_(f"{names}.includes('sample.pdf')")
        assert len(client("/v1/jobs")[1][0]["documents"]) == 1
        assert browser.console == []

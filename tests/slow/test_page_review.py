"""A correction typed on the web page, in a real Chromium, is read by everyone after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

import penstock
from penstock.exports.correct import history
from penstock.serve.reading.service import Service
from penstock.store.ledger import ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PAGES
from tests.support.browser import Browser, needs_chromium
from tests.support.running_service import Client, Running
from tests.support.served_page import read_sample, visit

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400), needs_chromium]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, whose second region somebody should look at."""
    folder = tmp_path_factory.mktemp("reviewed") / "out"
    read_sample(folder)
    page = next(iter(Out(folder).read_pages()))
    regions = list(page.regions)
    regions[1] = replace(regions[1], confidence=0.4, reader="ppocr")
    writer = ShardWriter(folder, PAGES)
    writer.add(replace(page, attempt=page.attempt + 1, regions=tuple(regions)))
    writer.commit()
    return folder


@pytest.fixture(scope="module")
def served(out: Path) -> Iterator[Client]:
    with Service(out) as service, Running(service) as client:
        yield client


def test_a_correction_is_typed_beside_its_picture_and_kept(
    browser: Browser, served: Client, out: Path
) -> None:
    before = next(iter(Out(out).read_pages())).regions[1].content
    visit(browser, served, "#")
    browser.click(".views [data-view=review]")
    browser.await_("document.querySelector('.place img')?.naturalWidth")
    cut = browser.ask(
        "(({width, height}) => [width, height])(document.querySelector('.cut').getBoundingClientRect())"
    )
    assert min(cut) > 10
    browser.await_(f"document.querySelector('.place textarea').value === {before!r}")
    browser.ask("document.querySelector('.place textarea').value = ''")
    browser.click(".place textarea")
    browser.type("Typed by <b>hand</b>")
    browser.click(".place form button")
    browser.await_("document.querySelector('.place .history li')")
    assert "Typed by <b>hand</b>" in browser.text(".place .history")
    page = next(iter(Out(out).read_pages()))
    assert page.regions[1].content == "Typed by <b>hand</b>" and "Typed by" in page.markdown
    locator = page.locator.at_region(1)
    assert [one.after for one in history(Out(out), locator)] == ["Typed by <b>hand</b>"]
    penstock.index(out)
    assert penstock.search(out, "typed hand")[0].page == 1
    visit(browser, served, f"#{locator}")
    browser.await_("document.querySelector('#text [data-index=\"1\"]')")
    assert "Typed by <b>hand</b>" in browser.text("#text [data-index='1']")
    browser.click(".views [data-view=review]")
    browser.await_("document.querySelector('#review .note')")
    assert browser.count(".place") == 0
    assert not browser.console

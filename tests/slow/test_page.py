"""The web page of the service in a real Chromium: clicked, typed into, looked at."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.reading.service import Service
from tests.support.browser import Browser, BrowserError, needs_chromium
from tests.support.running_service import Client, Running
from tests.support.served_page import (
    EVIL,
    EVIL_LABELS,
    EVIL_NAME,
    FORMULA_NAME,
    FORMULAS,
    LONG,
    NUM_LONG,
    add_formulas,
    add_hostile_page,
    add_long_document,
    read_sample,
    visit,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400), needs_chromium]

AXE = "axe_core_python"  # the package that brings axe-core's one file
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shown") / "out"
    read_sample(out)
    add_hostile_page(out)
    add_formulas(out)
    add_long_document(out, out.parent)
    return out


@pytest.fixture(scope="module")
def served(out: Path) -> Iterator[Client]:
    with Service(out) as service, Running(service) as client:
        yield client


def open_sample(browser: Browser, client: Client, page: int = 1) -> None:
    visit(browser, client, f"#name=sample.pdf&page={page}")
    browser.await_("document.querySelectorAll('#boxes .box').length")
    browser.await_("document.querySelector('.sheet-picture').naturalWidth")


def lit(browser: Browser, where: str) -> Any:
    return browser.ask(f"document.querySelector('{where} .lit')?.dataset.index ?? null")


def test_a_box_and_its_text_light_each_other(browser: Browser, served: Client) -> None:
    open_sample(browser, served)
    browser.hover("#boxes [data-index='3']")
    browser.await_("document.querySelector('#text .lit')")
    assert lit(browser, "#text") == "3"
    browser.hover("#text [data-index='1'] h3")
    browser.await_("document.querySelector('#boxes .lit')?.dataset.index === '1'")
    last = browser.ask("[...document.querySelectorAll('#boxes .box')].pop().dataset.index")
    browser.click(f"#boxes [data-index='{last}']")  # its text was below the edge
    seen = f"document.querySelector('#text [data-index=\"{last}\"]').getBoundingClientRect()"
    browser.await_(f"{seen}.top >= 0 && {seen}.bottom <= innerHeight")
    browser.ask("document.querySelector('#stage').scrollTop = 1e6")
    browser.click("#text [data-index='1'] .tag")
    seen = "document.querySelector('#boxes [data-index=\"1\"]').getBoundingClientRect()"
    browser.await_(f"{seen}.top >= 0 && {seen}.bottom <= innerHeight")
    browser.hover("h1")
    assert lit(browser, "#boxes") == lit(browser, "#text") == "1"  # what was chosen stays lit
    assert browser.console == []


def test_boxes_lie_where_the_words_are(browser: Browser, served: Client) -> None:
    open_sample(browser, served)
    _, row = served("/v1/page?name=sample.pdf&page=1")
    x0, y0, x1, _ = row["regions"][1]["bbox_2d"]
    told = browser.ask(
        "(() => { const box = document.querySelector('#boxes [data-index=\"1\"]').getBoundingClientRect();"
        "const sheet = document.querySelector('.sheet').getBoundingClientRect();"
        "return [box.left - sheet.left, box.top - sheet.top, box.right - sheet.left]"
        ".map((v, n) => 1000 * v / (n === 1 ? sheet.height : sheet.width)) })()"
    )
    assert told == pytest.approx([x0, y0, x1], abs=2)


def test_a_locator_in_the_address_lights_its_box(browser: Browser, served: Client) -> None:
    _, row = served("/v1/page?name=sample.pdf&page=2")
    region = row["regions"][3]
    visit(browser, served, f"#{region['locator']}")
    browser.await_("document.querySelector('#boxes .hit')")
    assert browser.ask("document.querySelector('#boxes .hit').dataset.index") == "3"
    assert browser.ask("location.hash").endswith("page=2")
    browser.await_("document.querySelector('#text .lit')?.dataset.index === '3'")
    visit(browser, served, f"#{region['locator']}/l0")  # a line has a box of its own in the region's
    browser.await_("document.querySelector('#boxes .hit:not([data-index])')")
    assert browser.console == []


def test_kinds_are_left_out_and_the_page_is_zoomed(browser: Browser, served: Client) -> None:
    open_sample(browser, served)
    texts = "[...document.querySelectorAll('#boxes [data-label=text]')]"
    assert browser.ask(f"{texts}.some((box) => !box.hidden)")
    browser.click("#chips [data-kind=text]")
    assert browser.ask(f"{texts}.every((box) => box.hidden)")
    assert browser.ask(
        "[...document.querySelectorAll('#text [data-label=text]')].every((part) => part.hidden)"
    )
    assert browser.ask("document.querySelector('#chips [data-kind=text]').ariaPressed") == "false"
    browser.click("#chips [data-kind=text]")
    assert browser.ask(f"{texts}.every((box) => !box.hidden)")
    width = browser.ask("document.querySelector('.sheet').clientWidth")
    browser.click("[data-act=larger]")
    assert browser.ask("document.querySelector('.sheet').clientWidth") == pytest.approx(1.5 * width, abs=2)
    browser.await_("document.querySelector('.sheet-picture').naturalWidth > 1400", "a sharper picture")


def test_keys_turn_pages_and_walk_over_boxes(browser: Browser, served: Client) -> None:
    open_sample(browser, served)
    browser.press("ArrowRight")
    browser.await_(
        "location.hash.endsWith('page=2') && document.querySelector('#text').innerText.includes('물길')"
    )
    browser.press("ArrowLeft")
    browser.await_("location.hash.endsWith('page=1')")
    browser.await_(
        "[...document.querySelectorAll('#boxes button')].some((box) => /Turbines/.test(box.ariaLabel))"
    )
    browser.ask("document.querySelector('#boxes button').focus()")
    browser.press("ArrowDown")
    assert browser.ask("document.activeElement.dataset.index") == "1"
    assert lit(browser, "#text") == "1"
    assert "Turbines" in browser.ask("document.activeElement.ariaLabel")
    assert browser.ask("location.hash").endswith("page=1")


def test_tables_are_tables_and_a_page_can_be_copied_and_downloaded(browser: Browser, served: Client) -> None:
    open_sample(browser, served, page=4)
    assert browser.text("#text table tr:nth-child(2)").split() == ["3", "May", "412.6", "1.00", "0.25"]
    browser.ask(
        "navigator.clipboard.writeText = async (words) => { globalThis.copied = words }; undefined"
    )  # headless, nobody grants it
    browser.click(".acts .copy")
    assert "Gate 1" in browser.await_("globalThis.copied")
    browser.ask("URL.createObjectURL = (blob) => (globalThis.saved = blob, 'blob:x'); undefined")
    browser.click(".downloads summary")
    browser.click(".menu button:nth-child(2)")
    saved = json.loads(browser.await_("globalThis.saved?.text()"))
    assert saved["document"] == "sample.pdf"
    assert saved["page_idx"] == 3


def test_formulas_are_drawn_and_stay_text_where_they_are_not_understood(
    browser: Browser, served: Client
) -> None:
    visit(browser, served, f"#name={FORMULA_NAME}")
    browser.await_("document.querySelectorAll('#text .part').length === 3")
    assert browser.count("#text math") == 2
    assert browser.count("math mfrac > mrow:nth-child(1) > msup") == 1
    assert browser.count("math munderover") == browser.count("math mroot > msub") == 1
    assert browser.ask("document.querySelector('math').textContent").startswith("P=ηρgQ(H−")
    assert browser.ask("document.querySelector('math').getBoundingClientRect().height") > 30
    assert "<img src=x" in browser.ask("document.querySelector('math mtext').textContent")
    assert browser.text("#text pre code") == FORMULAS[2]
    assert browser.ask("document.title") == "Penstock"


def test_a_search_shows_where_it_works_what_it_found_and_lights_the_box(
    browser: Browser, served: Client
) -> None:
    visit(browser, served)
    browser.ask(
        "(() => { globalThis.busy = 0; new MutationObserver(() => busy += document.querySelector('#search')"
        ".ariaBusy === 'true').observe(document.querySelector('#search'), {attributes: true}) })()"
    )
    browser.click("#question")
    browser.type("trash rack")
    browser.press("Enter")
    browser.await_("document.querySelector('.found')")
    assert browser.ask("busy") >= 1
    assert "sample.pdf · 4" in browser.text(".found .from")
    assert {"trash", "rack"} & set(browser.text(".found mark").split())
    browser.await_("document.querySelector('.found img').naturalWidth")
    assert browser.count(".found .mark") >= 1
    browser.click(".found")
    browser.await_("document.querySelector('.box.hit')")
    assert "trash rack" in browser.ask("document.querySelector('.box.hit').ariaLabel")
    browser.await_("document.querySelector('#text .lit')")
    assert "trash rack" in browser.text("#text .lit")
    browser.click("#tools [data-act=hits]")
    assert "sample.pdf · 4" in browser.text(".found .from")


def test_nothing_that_a_document_says_runs(browser: Browser, served: Client) -> None:
    visit(browser, served)
    browser.await_("document.querySelectorAll('#names .row').length >= 3")
    assert EVIL_NAME in browser.text("#names")
    browser.click(f"#names [aria-posinset='{_place(served, EVIL_NAME)}'] button")
    browser.await_("document.querySelectorAll('#text .part').length")
    assert browser.ask("document.title") == "Penstock"
    assert browser.text("#text").count("document.title='owned'") >= 2 * len(EVIL_LABELS)
    assert browser.count("#text script") == browser.count("#text a") == browser.count("#text img") == 0
    attributes = "[...document.querySelectorAll('#documents *')].flatMap((node) => [...node.attributes])"
    assert not browser.ask(f"{attributes}.some((one) => one.name.startsWith('on'))")
    assert not browser.ask(
        f"{attributes}.some((one) => /^(src|href)$/.test(one.name) && /^javascript/i.test(one.value))"
    )
    assert "link" in browser.text("#text td")
    assert browser.ask("document.querySelector('#text td').colSpan") == 2
    browser.click("#text td")
    assert browser.ask("document.title") == "Penstock"


def test_the_browser_itself_refuses_markup_and_foreign_scripts(browser: Browser, served: Client) -> None:
    visit(browser, served)
    with pytest.raises(BrowserError, match="TrustedHTML"):
        browser.ask(f"document.body.innerHTML = {json.dumps(EVIL)}")
    with pytest.raises(BrowserError, match="TrustedTypePolicy"):
        browser.ask("trustedTypes.createPolicy('another', {})")
    browser.ask(
        "const style = document.createElement('style'); style.textContent = 'body { color: red }';"
        "document.body.append(style)"
    )
    assert browser.ask("getComputedStyle(document.body).color") != "rgb(255, 0, 0)"


def test_the_reference_has_our_type_and_colours(browser: Browser, served: Client) -> None:
    browser.open(f"{served.url}/docs")
    assert browser.ask("getComputedStyle(document.body).fontFamily").startswith("system-ui")
    assert browser.ask("getComputedStyle(document.querySelector('.get')).color") == "rgb(35, 128, 77)"
    assert browser.console == []


def _place(client: Client, name: str) -> int:
    return [row["name"] for row in client("/v1/documents")[1]].index(name) + 1


def test_of_1000_pages_only_those_to_be_seen_are_in_the_page(browser: Browser, served: Client) -> None:
    visit(browser, served, f"#name={LONG}&page=1")
    browser.await_("document.querySelectorAll('.thumb').length > 3")
    assert browser.count(".thumb") < 30
    browser.await_("document.querySelector('.thumb img').naturalWidth")
    browser.ask("document.querySelector('#thumbs').scrollTop = 1e9")
    last = f".thumb[aria-label='Open page {NUM_LONG}']"
    browser.click(last)
    browser.await_(f"document.querySelector('#text').innerText.includes('Page {NUM_LONG}')")
    browser.await_(f'document.querySelector("{last} img").naturalWidth', "the last page's picture")
    assert browser.count(".thumb") < 30
    longest = browser.ask(
        "(async () => { const box = document.querySelector('#thumbs'); let longest = 0;"
        "for (let n = 0; n < 60; n++) { const since = performance.now(); box.scrollTop = n * 2400;"
        "await new Promise(requestAnimationFrame); longest = Math.max(longest, performance.now() - since) }"
        "return longest })()"
    )
    assert longest < 1000  # against hanging: a still machine takes some 20 ms


@pytest.mark.parametrize("language", ["en-US", "ko-KR"])
def test_a_phone_shows_one_part_at_a_time_in_both_languages(
    browser: Browser, served: Client, language: str
) -> None:
    browser.speaks(language)
    browser.screen(360, 740, phone=True)
    visit(browser, served)
    browser.await_("document.querySelector('#names .row')")
    assert browser.ask("document.documentElement.lang") == language[:2]
    assert fits(browser)
    browser.click("#names .row")
    browser.await_("document.querySelector('#boxes .box')")
    assert fits(browser)
    browser.click("#boxes [data-index='2']")
    browser.await_("document.body.dataset.pane === 'text'")
    assert fits(browser)
    browser.click("#text .lit .tag")
    browser.await_("document.body.dataset.pane === 'page'")
    browser.click(".views [data-view=runs]")
    browser.await_("document.querySelector('#runs .card')")
    assert fits(browser)
    browser.click("#question")
    browser.type("lake")
    browser.press("Enter")
    browser.await_("document.querySelector('.found')")
    assert fits(browser)
    assert ("찾음" in browser.text("#search")) == (language == "ko-KR")


def fits(browser: Browser) -> bool:
    return bool(browser.ask("document.documentElement.scrollWidth === 360"))


def test_the_language_is_switched_and_kept(browser: Browser, served: Client) -> None:
    open_sample(browser, served)
    assert browser.text(".where") == "Page 1 of 4"
    browser.click("#language")
    assert browser.text(".where") == "4쪽 중 1쪽"
    assert "제목" in browser.text("#text")
    browser.open(served.url + "/")
    browser.await_("document.documentElement.lang === 'ko'")
    browser.click("#language")
    assert browser.text(".views").split() == ["Documents", "Review", "Runs"]


def test_light_and_dark_by_the_machine_and_by_a_switch(browser: Browser, served: Client) -> None:
    def brightness() -> float:
        words = browser.ask("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, words.removeprefix("rgb(").removesuffix(")").split(","))) / 3

    visit(browser, served)
    assert brightness() > 200
    browser.is_dark(True)
    assert brightness() < 60
    browser.click("#theme")
    assert brightness() > 200
    browser.click("#theme")
    browser.is_dark(False)
    assert brightness() < 60
    browser.open(served.url + "/")
    assert brightness() < 60


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_serious_fault(browser: Browser, served: Client, dark: bool, width: int) -> None:
    package = importlib.util.find_spec(AXE)
    if package is None or package.origin is None:
        pytest.skip(f"needs {AXE} (pip install axe-core-python)")
    axe = Path(package.origin).with_name("axe.min.js").read_text("utf-8")
    browser.screen(width, 900)
    browser.is_dark(dark)
    open_sample(browser, served, page=4)
    found = {"page": faults(browser, axe)}
    if width == 360:
        browser.click(".panes [data-pane=text]")
        found["text"] = faults(browser, axe)
    browser.click("#question")
    browser.type("lake")
    browser.press("Enter")
    browser.await_("document.querySelector('.found')")
    found["search"] = faults(browser, axe)
    browser.click(".views [data-view=runs]")
    browser.await_("document.querySelector('#runs .card')")
    found["runs"] = faults(browser, axe)
    assert found == {view: [] for view in found}


def faults(browser: Browser, axe: str) -> list[str]:
    """Serious faults by axe-core, each with the elements that have it."""
    browser.ask(f"{axe}; undefined")
    told = browser.ask("axe.run().then((found) => found.violations)")
    return [
        f"{one['id']}: {[node['html'][:200] for node in one['nodes']]}"
        for one in told
        if one["impact"] in SERIOUS
    ]

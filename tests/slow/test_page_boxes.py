"""A box drawn on a photo in a real Chromium, by mouse, keys and finger; the service measures it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import cv2
import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.browser import Browser, needs_chromium
from tests.support.running_service import Client, Running
from tests.support.served_page import visit

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400), needs_chromium]

EVIL = "<img src=x onerror=\"document.title='owned'\">"
LABELS = "[...document.querySelectorAll('.things [type=text]')].map((field) => field.value)"

WIDTH = (  # of the chair, whichever line it has
    f"document.querySelectorAll('.things tbody tr')[{LABELS}.indexOf('chair')].querySelector('[type=number]')"
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, str]]:
    """A photo of two things by its job, of which only the left one is measured."""
    photo = np.full((540, 720, 3), 200, np.uint8)
    photo[150:450, 150:350] = (60, 90, 120)
    photo[120:460, 500:660] = (160, 70, 30)
    body = cv2.imencode(".png", photo)[1].tobytes()
    with Service(tmp_path_factory.mktemp("out"), fake()) as service, Running(service) as client:
        status, told = client("/v1/volumes?name=room.png&boxes=150,150,200,300:chair", body)
        assert status == 202, told
        assert client(f"/v1/jobs/{told['id']}?wait=60")[1]["state"] == "done"
        name = client(f"/v1/jobs/{told['id']}/documents")[1][0]["name"]
        yield client, f"#name=job:{told['id']}/{name}"


def _begin(browser: Browser, shown: tuple[Client, str], act: str = "draw") -> None:
    visit(browser, *shown)
    browser.await_("document.querySelector('.sheet-picture')?.naturalWidth", "the photo")
    browser.click(f"[data-act={act}]")
    browser.await_("document.querySelector('.adding')")


def _drawn(browser: Browser) -> list[float]:
    """The box as shares of the picture in percent: left, top, width, height."""
    style = "document.querySelector('.drawn').style"
    return [round(float(browser.ask(f"parseFloat({style}.{side})"))) for side in
            ("left", "top", "width", "height")]  # fmt: skip


def test_the_page_asks_what_is_missing(browser: Browser, shown: tuple[Client, str]) -> None:
    visit(browser, *shown)
    browser.await_("document.querySelector('.missing')")
    assert browser.text(".missing p") == "What is missing?"
    browser.speaks("ko-KR")
    browser.screen(390, 844, phone=True)
    visit(browser, *shown)
    browser.await_("document.querySelector('.missing')")
    browser.click("button[data-pane=text]")
    assert browser.text(".missing p") == "빠진 것이 있나요?"
    browser.click(".missing button")  # leads to the photo, with the box at hand
    browser.await_("document.querySelector('.adding')")
    assert browser.ask("document.body.dataset.pane") == "page"
    assert "침대" in browser.ask(
        "[...document.querySelectorAll('#known-things option')].map((one) => one.value)"
    )


def test_a_mouse_draws_a_thing_and_the_total_follows(browser: Browser, shown: tuple[Client, str]) -> None:
    _begin(browser, shown, "missing")
    browser.ask(f"{WIDTH}.value = '3.21'; {WIDTH}.dispatchEvent(new Event('change', {{bubbles: true}}))")
    before = float(browser.text("#total"))
    browser.drag(".drawing", (500 / 720, 120 / 540), (660 / 720, 460 / 540))
    assert _drawn(browser) == [69, 22, 22, 63]
    assert browser.ask("document.activeElement.name") == "label", "what it is comes next"
    browser.type("wardrobe")
    browser.press("Enter")
    browser.await_("document.querySelectorAll('.things tbody tr').length === 2", "it is measured")
    assert set(browser.ask(LABELS)) == {"chair", "wardrobe"}
    browser.await_(f"{WIDTH}.value === '3.21'", "the chair is as wide as it was made")
    assert float(browser.text("#total")) > before
    assert browser.count("#boxes .box") == 2
    assert not browser.count(".drawing, .adding"), "the drawing is over"
    assert browser.console == []


def test_keys_draw_a_box_and_leave_it(browser: Browser, shown: tuple[Client, str]) -> None:
    _begin(browser, shown)
    page = browser.text(".where")
    assert browser.ask("document.activeElement.className") == "drawn", "keys move the box at once"
    assert _drawn(browser) == [35, 35, 30, 30]
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        browser.press(key)
    for key in ("ArrowDown", "ArrowLeft"):
        browser.press(key, shift=True)
    assert _drawn(browser) == [37, 34, 29, 31]
    assert browser.text(".adding .drawn-at") == "37 % from the left, 34 % from the top, 29 % wide, 31 % high"
    assert browser.text(".where") == page, "arrows turn no page meanwhile"
    browser.press("Enter")
    assert browser.ask("document.activeElement.name") == "label"
    browser.press("Escape")
    assert not browser.count(".drawing, .adding")
    assert browser.ask("document.activeElement.dataset.act") == "draw"


def test_a_finger_draws_on_a_phone_in_korean_and_dark(browser: Browser, shown: tuple[Client, str]) -> None:
    browser.screen(390, 844, phone=True)
    browser.speaks("ko-KR")
    browser.is_dark(True)
    _begin(browser, shown)
    num_before = len(browser.ask(LABELS))
    assert "상자" in browser.text(".adding .note")
    assert browser.ask("document.documentElement.scrollWidth") <= 390
    browser.drag(".drawing", (0.05, 0.05), (0.18, 0.2), finger=True)
    assert _drawn(browser) == [5, 5, 13, 15]
    browser.ask("document.querySelector('.adding [name=label]').focus()")
    browser.type(EVIL)
    browser.press("Enter")
    browser.await_(f"{LABELS}.length === {num_before + 1}", "it is measured")
    assert EVIL.replace("=", " ") in browser.ask(LABELS)
    assert browser.ask("document.title") == "Penstock", "its name stays text"
    assert json.loads(browser.ask("JSON.stringify(sessionStorage)")) == {}

"""Photos on the service's web page in a real Chromium: outlines, sizes, totals, clouds."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs penstock-pipeline[serve]")

from penstock.photos.user_boxes import GivenBox
from penstock.recipes.photos import photos
from penstock.serve.reading.service import Service
from penstock.testing.fake_recipe import fake
from tests.support.browser import Browser, needs_chromium
from tests.support.running_service import Running
from tests.support.served_page import visit

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400), needs_chromium]


def test_things_of_a_photo_have_outlines_and_a_total_that_follows(browser: Browser, tmp_path: Path) -> None:
    boxes = (
        GivenBox("", (300.0, 300.0, 700.0, 900.0), "chair"),
        GivenBox("", (900.0, 200.0, 1300.0, 950.0), "<b>sofa"),
    )
    photo = np.full((1080, 1440, 3), 200, np.uint8)
    photo[300:900, 300:700] = (60, 90, 120)
    photo[200:950, 900:1300] = (120, 90, 60)
    with Service(tmp_path / "out", photos(boxes=boxes)) as service, Running(service) as client:
        name = client.send("room.jpg", cv2.imencode(".jpg", photo)[1].tobytes())["name"]
        client.wait(name)
        visit(browser, client, f"#name={name}")
        browser.await_("document.querySelector('.things tbody tr')")
        assert browser.count("#boxes .box") == browser.count(".mask") == 2
        browser.await_("document.querySelector('.mask').style.maskImage.startsWith('url')")
        assert browser.ask("document.querySelector('.things tr:nth-child(2) [type=text]').value") == "<b>sofa"
        before = float(browser.text("#total"))
        fits = "(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.things .wide'))"
        for width in (390, 1280):
            browser.screen(width, 900)
            assert browser.ask(fits), f"the m³ column is cut off at {width} px"
        browser.hover(".things tbody tr:nth-child(2)")
        browser.await_("document.querySelector('#boxes [data-index=\"1\"]').classList.contains('lit')")
        field = ".things tbody tr:nth-child(1) td:nth-child(3) input"
        width = float(browser.ask(f"document.querySelector('{field}').value"))
        _, row = client(f"/v1/page?page=1&name={name}")
        browser.ask(f"document.querySelector('{field}').select()")
        browser.click(field)
        browser.ask(f"document.querySelector('{field}').select()")
        browser.type(str(2 * width))
        browser.press("Enter")
        chair, sofa = (one["bbox_cbm"] for one in row["objects"])
        others = row["total"]["cbm"] * sofa / (chair + sofa)  # what was not corrected keeps its share
        browser.await_("document.querySelector('.things').innerText.includes('Corrected by you')")
        assert float(browser.text("#total")) == pytest.approx(2 * chair + others, abs=0.03)
        browser.click(".things input[type=checkbox]")
        assert float(browser.text("#total")) == pytest.approx(others, abs=0.03)
        browser.click(".things .acts .plain:nth-child(2)")
        assert float(browser.text("#total")) == before


def test_photos_sent_to_be_measured_are_shown_when_they_are(browser: Browser, tmp_path: Path) -> None:
    photo = np.full((540, 720, 3), 200, np.uint8)
    photo[150:450, 150:350] = (60, 90, 120)
    names = [tmp_path / "room.png", tmp_path / "hall.png"]
    for name in names:
        cv2.imwrite(str(name), photo)
    with Service(tmp_path / "out", fake()) as service, Running(service) as client:
        visit(browser, client)
        browser.click("#measure input")
        browser.choose_file("#drop input", *names)
        browser.await_("document.querySelector('.measuring progress')", "how far they are")
        assert browser.ask("document.body.dataset.view") == "documents"  # not the table of stages
        browser.await_("document.querySelector('.things tbody tr')", "the first photo's things, unasked")
        assert browser.count("#photos button") == 2
        browser.click("#photos button:not([aria-current])")
        browser.await_("document.querySelector('#photos button:nth-child(2)[aria-current]')")
        browser.await_("document.querySelector('.things tbody tr')")
        browser.await_("document.querySelector('.mask').style.maskImage.startsWith('url')")
        browser.await_("document.querySelector('.sheet-picture').naturalWidth", "the photo, by its job")
        browser.click(".downloads summary")
        browser.await_("document.querySelector('.menu').innerText.includes('report')")


def test_a_thing_is_turned_in_3d(browser: Browser, tmp_path: Path) -> None:
    photo = np.full((540, 720, 3), 200, np.uint8)
    photo[150:450, 150:350] = (60, 90, 120)
    cv2.imwrite(str(tmp_path / "room.png"), photo)
    drawn = "document.querySelector('.cloud canvas').toDataURL()"
    pixels = "document.querySelector('.cloud canvas').getContext('2d').getImageData(0, 0, 480, 480).data"
    points = f"{pixels}.filter((value, n) => n % 4 == 3 && value).length"
    with (
        Service(
            tmp_path / "out", photos(boxes=(GivenBox("", (150.0, 150.0, 350.0, 450.0), "chair"),))
        ) as service,
        Running(service) as client,
    ):
        name = client.send("room.png", (tmp_path / "room.png").read_bytes())["name"]
        client.wait(name)
        visit(browser, client, f"#name={name}")
        browser.await_("document.querySelector('.things .solid')")
        browser.click(".things .solid")
        browser.await_(f"{points} > 1000", "the points of the cloud")
        before = browser.ask(drawn)
        browser.ask("document.querySelector('.cloud canvas').focus()")
        browser.press("ArrowRight")
        assert browser.ask(drawn) != before
        browser.press("Escape")
        browser.await_("!document.querySelector('.cloud')", "the view is closed")

"""Takes the pictures of the web page in docs/img: a page with its boxes, a search in the dark, a phone.

    apt-get install chromium fonts-noto-cjk fonts-nanum
    python -m tools.web_page docs/img

The sample is read anew by the built-in models and shown by a real service in a real Chromium, so the
pictures show what they do today, mistakes included.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from tests.support.browser import Browser
from tests.support.running_service import SAMPLE, Running

import penstock
from penstock.serve.reading.service import Service

SHARP = 1.5  # pixels of the picture for one of the screen
LOADED = "[...document.images].every((one) => one.naturalWidth)"


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        for _ in penstock.parse(SAMPLE, out=out):
            pass
        penstock.index(out)
        with Service(out) as service, Running(service) as client, Browser(Path(scratch)) as browser:
            _page(browser, client.url, folder / "web_page.png")
            _search(browser, client.url, folder / "web_search.png")
            _phone(browser, client.url, folder / "web_phone.png")


def _page(browser: Browser, url: str, path: Path) -> None:
    browser.screen(1360, 850, scale=SHARP)
    browser.open(f"{url}/#name=sample.pdf&page=3")
    _await_pictures(browser)
    table = "#boxes [data-label=table]"
    browser.click(table)
    browser.hover("h1")
    _take(browser, path)


def _search(browser: Browser, url: str, path: Path) -> None:
    browser.is_dark(True)
    browser.speaks("ko-KR")
    browser.screen(1360, 850, scale=SHARP)
    browser.open(url + "/")
    _ask(browser, "물 관")
    _take(browser, path)


def _phone(browser: Browser, url: str, path: Path) -> None:
    """Three parts of the view side by side."""
    browser.is_dark(False)
    browser.speaks("en-GB")
    browser.screen(360, 720, scale=SHARP, phone=True)
    browser.open(f"{url}/#name=sample.pdf&page=1")
    _await_pictures(browser)
    shots = []
    for pane in ("page", "text"):
        browser.click(f".panes [data-pane={pane}]")
        shots.append(_shot(browser, path))
    _ask(browser, "which section carries least")
    shots.append(_shot(browser, path))
    gap = round(24 * SHARP)
    width = sum(shot.width for shot in shots) + gap * (len(shots) - 1)
    whole = Image.new("RGB", (width, shots[0].height), "#c9d2d8")
    for number, shot in enumerate(shots):
        whole.paste(shot, (number * (shot.width + gap), 0))
    _save(whole, path)


def _ask(browser: Browser, question: str) -> None:
    browser.click("#question")
    browser.type(question)
    browser.press("Enter")
    browser.await_("document.querySelector('.found')")
    browser.ask("document.activeElement.blur()")
    _await_pictures(browser)


def _await_pictures(browser: Browser) -> None:
    browser.await_("document.querySelector('.sheet-picture, .found')")
    browser.await_(LOADED)


def _take(browser: Browser, path: Path) -> None:
    _save(_shot(browser, path), path)


def _shot(browser: Browser, path: Path) -> Image.Image:
    browser.ask("new Promise((done) => setTimeout(done, 600))")  # scrolling has come to rest
    browser.picture(path)
    with Image.open(path) as picture:
        return picture.convert("RGB")


def _save(picture: Image.Image, path: Path) -> None:
    picture.save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

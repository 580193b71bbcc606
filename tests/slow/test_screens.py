"""Pages in a real Chromium, as wide as a phone and as a screen: they fit, and nothing in them runs.

PENSTOCK_SCREENSHOTS=FOLDER keeps the pictures, to look at them.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest
from PIL import Image

import penstock
from penstock.documents.docjson import file as docjson_file
from penstock.documents.formats import html
from penstock.exports.export import export
from penstock.page import Page
from penstock.region import Region
from penstock.store.ledger import ShardWriter
from penstock.store.schema import PAGES
from tests.support.browser import CHROMIUM, FLAGS, needs_chromium
from tests.support.local_server import LocalServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
WIDTHS = (360, 1280)
PAGES_SHOWN = {
    "article": "out/html/sample/index.html",
    "pages": "out/html/sample/with-pages.html",
    "profile": "out/profile.html",
    "photos": "rooms/report.html",
}
EVIL = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> [x](javascript:1)"
)
MEASURE = """<!doctype html><title>measuring</title>{frames}<script>
onload = () => document.title = [...document.querySelectorAll("iframe")].map(
  (frame) => frame.contentDocument.documentElement.scrollWidth).join(" ");
</script>"""


def penstock_run(*arguments: str) -> None:
    command = [sys.executable, "-m", "penstock", *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=200)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document's article and profile, and a report of a drawn photo with a box given."""
    folder = tmp_path_factory.mktemp("screens")
    out, rooms = folder / "out", folder / "rooms"
    penstock_run("parse", str(SAMPLE), "-o", str(out), "--layout", "rules", "--pages", "1-3", "--to", "html")
    article = out / "html" / "sample" / "index.html"
    checked = article.read_text("utf-8").replace('id="with-pages"', 'id="with-pages" checked', 1)
    article.with_name("with-pages.html").write_text(checked, "utf-8")
    Image.radial_gradient("L").resize((1200, 900)).convert("RGB").save(folder / "room.jpg")
    penstock_run("volumes", str(folder / "room.jpg"), "-o", str(rooms), "--box", "200,300,400,500:chair")
    return folder


@pytest.fixture(scope="module")
def served(made: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with LocalServer(functools.partial(Quiet, directory=str(made))) as server:  # type: ignore[arg-type]
        yield server.url


def chromium(tmp_path: Path, *arguments: str) -> str:
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def title(dom: str) -> str:
    found = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert found
    return found[1]


@needs_chromium
def test_no_page_is_wider_than_a_phone_or_a_screen(made: Path, served: str, tmp_path: Path) -> None:
    wanted = [(path, width) for width in WIDTHS for path in PAGES_SHOWN.values()]
    frames = "".join(
        f'<iframe src="{path}" style="width:{w}px;height:900px;border:0"></iframe>' for path, w in wanted
    )
    (made / "measure.html").write_text(MEASURE.format(frames=frames))
    dom = chromium(tmp_path, "--virtual-time-budget=20000", "--dump-dom", f"{served}/measure.html")
    widths = [int(number) for number in title(dom).split()]
    assert widths == [width for _, width in wanted], list(zip(wanted, widths, strict=True))


@needs_chromium
@pytest.mark.parametrize("name", PAGES_SHOWN)
def test_pages_are_drawn_as_wide_as_a_phone_and_as_a_screen(served: str, tmp_path: Path, name: str) -> None:
    folder = Path(os.environ.get("PENSTOCK_SCREENSHOTS", tmp_path))
    for width in WIDTHS:
        path = folder / f"{name}-{width}.png"
        shot = [f"--window-size={width},1600", f"--screenshot={path}"]
        chromium(tmp_path, *shot, f"{served}/{PAGES_SHOWN[name]}")
        with Image.open(path) as picture:
            assert picture.size == (width, 1600)
            colours = picture.convert("RGB").getcolors(1 << 24) or []
        assert len(colours) > 50  # letters and pictures, not an empty page
        assert max(count for count, _ in colours) < 0.97 * width * 1600


@needs_chromium
def test_nothing_that_a_document_says_runs_in_its_page(tmp_path: Path) -> None:
    regions = [
        Region(label=label, box=(0, 20 * n, 90, 20 * n + 10), content=EVIL, index=n)
        for n, label in enumerate(("doc_title", "text", "algorithm", "content", "display_formula", "image"))
    ]
    table = f"<table><tr><td>{EVIL}</td></tr></table>"
    regions.append(Region(label="table", box=(0, 200, 90, 220), content=table, index=9))
    out = tmp_path / "out"
    writer = ShardWriter(out, PAGES)
    writer.add(
        Page(id="a", uri="no.pdf", document="evil.pdf", part=0, width=99, height=299, regions=tuple(regions))
    )
    writer.commit()
    [docjson] = export(out, ["docjson"])
    doc = docjson_file.read(docjson)
    path = tmp_path / "evil.html"
    section = html.page_section(doc.pages[0], doc.blocks, "")
    path.write_text(html.opening(doc.name) + section + html.CLOSING, "utf-8")
    dom = chromium(tmp_path, "--virtual-time-budget=5000", "--dump-dom", path.as_uri())
    assert title(dom) == "evil.pdf"
    assert dom.count("document.title=") >= 14  # it is there to read
    assert not re.search(r"<script|<[^>]+ onerror=|href=\"javascript", dom)

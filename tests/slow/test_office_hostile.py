"""Office files that name addresses and hold macros and objects: nothing is asked, nothing is run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

import penstock
from penstock.page import Page
from tests.support import hostile_office
from tests.support.local_server import LocalServer

pytestmark = pytest.mark.slow


class Listener(BaseHTTPRequestHandler):
    """Notes who asks for what."""

    asked: list[str] = []  # noqa: RUF012  of all tests; each asserts that it is empty

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_error(404)

    do_HEAD = do_OPTIONS = do_PROPFIND = do_GET

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    Listener.asked.clear()
    home = tmp_path / "in"
    home.mkdir()
    with LocalServer(Listener) as server:
        (home / "a.docx").write_bytes(hostile_office.docx(server.url))
        (home / "b.odt").write_bytes(hostile_office.odt(server.url, str(tmp_path / "run.txt")))
        (home / "c.xlsx").write_bytes(hostile_office.xlsx(server.url))
        (home / "d.html").write_bytes(hostile_office.html(server.url))
        yield home


def read(folder: Path, office: str) -> dict[str, list[Page]]:
    found: dict[str, list[Page]] = {}
    for page in penstock.parse(str(folder), out=folder.parent / office, office=office):
        assert page.failure is None, page.failure
        found.setdefault(page.document[-6:].lstrip("/"), []).append(page)
    assert Listener.asked == []
    assert not (folder.parent / "run.txt").exists()
    return found


def test_by_structure_nobody_is_asked_and_objects_are_listed(folder: Path) -> None:
    found = read(folder, "structure")
    texts = {
        name: " ".join(region.content or "" for page in pages for region in page.regions)
        for name, pages in found.items()
    }
    assert all("Rain falls." in texts[name] for name in ("a.docx", "b.odt", "d.html"))
    assert "Embedded object: Excel.Sheet.12" in texts["a.docx"]
    assert "Embedded object: object-ole" in texts["b.odt"]
    assert "Embedded object: oleObject1.bin" in texts["c.xlsx"] and "kept" in texts["c.xlsx"]
    notes = [region.note for region in found["d.html"][0].regions if region.label == "image"]
    assert notes == ["The picture is not in the file but at an address, which is not fetched."]


def test_printed_nobody_is_asked_and_no_macro_runs(folder: Path) -> None:
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not installed")
    found = read(folder, "both")
    for name in ("a.docx", "b.odt"):
        [rain] = [region for region in found[name][0].regions if region.content == "Rain falls."]
        assert rain.reader == "structure" and not rain.note and rain.box[3] < found[name][0].height

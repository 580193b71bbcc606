"""Files named by an enemy: read, exported, found, checked; every name we write is one that Windows takes."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

import penstock
from penstock.exports.export import PAGE_FORMATS
from penstock.serve.reading.service import Service
from penstock.store.check import check_out
from tests.support.made_pdf import pdf, text
from tests.support.running_service import Running

NAMES = [
    "new\nline", "-dash", "--help", "emoji😀🇰🇷", "rtl\u202egnp.exe", "한글", "x" * 251, "가" * 83,
    unicodedata.normalize("NFD", "한글 문서"), "trailing.", "trailing", "trailing ", "dots...", "CON", "con",
    "NUL.tar", "COM1", "aux", "LPT9.x", "%2e%2e", "%00", "%2F", "<script>alert(1)<script>", '"quotes"',
    "'single'", "back\\slash", "C:\\Windows\\x", "a:b", "a|b", "a?b", "a*b", "tab\there", "cr\rhere",
    "bell\x07", "esc\x1b[31mred", "del\x7f", "nbsp\u00a0x", "zwj\u200dx", "bom\ufeffx", "next\x85line",
    "stacked" + "\u0301" * 20, "ﬁ-ligature", "İstanbul", "ß", "ss", "K", "k", "ǅ",
    "[link](javascript:alert(1))", "![img](x)", "$HOME", "$(id)", "`id`;rm", "&amp;", "#hash", "~tilde",
    "{brace}", "^caret", "=1+1", "@at", "\u2028sep", "a..b",
]  # fmt: skip
pytestmark = pytest.mark.slow  # a minute on two cores
REFUSED = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "in").mkdir()
    for number, name in enumerate(NAMES):
        (folder / "in" / f"{name}.pdf").write_bytes(pdf([text(f"alpha{number} words")]))
    unreadable = os.fsdecode(os.fsencode(folder / "in") + b"/bad\xff\xfe.pdf")
    Path(unreadable).write_bytes(pdf([text("no name")]))
    pages = penstock.parse(
        folder / "in", out=folder / "out", layout="rules", text_layer="always", dpi=72, executor="inline"
    )
    failed = [page.document for page in pages if page.failure is not None]
    assert failed == ["bad__.pdf"]  # a name that is no text: it fails alone
    return folder / "out"


def test_every_name_has_a_page_and_the_next_run_finds_them_done(out: Path) -> None:
    assert len(NAMES) == 62
    documents = [page.document for page in penstock.read(out) if page.failure is None]
    assert (len(documents), len(set(documents))) == (62, 62)
    again = penstock.parse(out.parent / "in", out=out, layout="rules", text_layer="always", dpi=72)
    assert all(page.resumed for page in again)
    assert not check_out(out).damages


def test_every_export_writes_names_that_windows_takes_and_no_two_alike(out: Path) -> None:
    penstock.export(out, PAGE_FORMATS)
    written = [path.relative_to(out) for path in out.rglob("*")]
    assert not [path for path in written if any(REFUSED.search(part) for part in path.parts)]
    alike = Counter(unicodedata.normalize("NFC", str(path)).casefold() for path in written)
    assert not [path for path, count in alike.items() if count > 1]
    assert len(list((out / "markdown").rglob("*.md"))) == 63  # one says that its file could not be read


def test_every_name_is_found_and_served(out: Path) -> None:
    penstock.index(out)
    with Running(Service(out)) as client:
        for document in {page.document for page in penstock.read(out)}:
            status, told = client(f"/v1/document?name={quote(document)}")
            assert (status, told["name"]) == (200, document)
        for number in range(0, len(NAMES), 7):
            [hit] = penstock.search(out, f"alpha{number}", top=1)
            status, found = client(f"/v1/search?q=alpha{number}&top=1")
            assert (status, found[0]["document"]) == (200, hit.document)

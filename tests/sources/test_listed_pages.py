"""Which pages of a document are listed: frames, ranges, claims of a million, and bounds."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from PIL import Image

import penstock
from penstock.cli.parse import parse
from penstock.driver import Run
from penstock.errors import UsageError
from penstock.executors.inline import Inline
from penstock.page import Page
from penstock.passes.parse import ParseOptions
from penstock.sources import PageRange, list_items
from penstock.store.schema import PAGES
from penstock.testing.fake_recipe import fake
from tests.sources.test_listing import png
from tests.support.made_pdf import pdf, text


def test_every_frame_of_a_tiff_and_gif_is_a_page(tmp_path: Path) -> None:
    frames = [Image.new("L", (5 + index, 4), 40 * index) for index in range(3)]
    frames[0].save(tmp_path / "scan.tif", save_all=True, append_images=frames[1:])
    same = [Image.new("L", (5, 4), 40 * index) for index in range(3)]
    same[0].save(tmp_path / "anim.gif", save_all=True, append_images=same[1:])
    items = list(list_items([str(tmp_path)], Page))
    assert [(item.document, item.part) for item in items] == [
        *(("anim.gif", part) for part in range(3)),
        *(("scan.tif", part) for part in range(3)),
    ]


def test_page_ranges_choose_pages_of_each_document(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([text(str(index)) for index in range(6)]))
    png(tmp_path / "b.png")
    items = list(list_items([str(tmp_path)], Page, pages=PageRange.parse("2-3,6-")))
    assert [(item.document, item.part) for item in items] == [("a.pdf", 1), ("a.pdf", 2), ("a.pdf", 5)]
    with pytest.raises(UsageError, match="No input has a page"):
        list_items([str(tmp_path)], Page, pages=PageRange.parse("50-60"))


@pytest.mark.parametrize("words", ["", "0", "3-1", "a", "1,,2", "-", "1-2-3", "٣"])
def test_a_wrong_page_range_is_a_usage_error(words: str) -> None:
    with pytest.raises(UsageError):
        PageRange.parse(words)


def test_page_ranges_merge_and_print() -> None:
    assert str(PageRange.parse("5-7, 1,2,6-9,20-")) == "1-2,5-9,20-"
    assert 21 in PageRange.parse("-3,20-") and 4 not in PageRange.parse("-3,20-")


def test_every_page_of_a_long_pdf_is_listed(tmp_path: Path) -> None:
    (tmp_path / "long.pdf").write_bytes(pdf([""] * 5000))
    items = list_items([str(tmp_path)], Page)
    assert next(items).part == 0
    assert sum(1 for _ in items) == 4999


def test_a_thousand_pictures_need_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = png(tmp_path / "0.png").read_bytes()
    for index in range(1, 1000):
        (tmp_path / f"{index}.png").write_bytes(data)
    monkeypatch.setattr("penstock.processes.child.Child.start", lambda _: pytest.fail("started a process"))
    assert [item.document for item in list_items([str(tmp_path)], Page)] == [f"{n}.png" for n in range(1000)]


@pytest.mark.parametrize("padding", [0, 1 << 20])
def test_a_pdf_that_claims_a_million_pages_is_its_pages_and_one_failure(tmp_path: Path, padding: int) -> None:
    data = pdf([text("one"), text("two")]).replace(b"/Count 2 ", b"/Count 1000000 ")
    (tmp_path / "liar.pdf").write_bytes(data + b"%" * padding)
    first, second, rest = list_items([str(tmp_path)], Page)
    assert (first.failure, second.failure) == (None, None)
    assert rest.failure is not None
    assert rest.failure.message == "liar.pdf: it claims 1,000,000 pages and has 2."
    assert [rest.part, rest.id[-6:]] == [2, "/00002"]
    assert [item.part for item in list_items([str(tmp_path)], Page, pages=PageRange.parse("2"))] == [1]
    beyond = list(list_items([str(tmp_path)], Page, pages=PageRange.parse("500-600")))
    assert [item.failure is None for item in beyond] == [False]


def test_a_damaged_page_does_not_hide_the_pages_after_it(tmp_path: Path) -> None:
    data = pdf([text(str(number)) for number in range(40)])
    data = data.replace(b"Kids [3 0 R 5 0 R", b"Kids [3 0 R 999 0").replace(b" 81 0 R]", b" 999 0 R]")
    (tmp_path / "hurt.pdf").write_bytes(data)
    items = list(list_items([str(tmp_path)], Page))
    assert [item.part for item in items][:39] == list(range(39))
    assert len(items) == 40


def test_a_document_is_read_up_to_so_many_pages(tmp_path: Path) -> None:
    (tmp_path / "long.pdf").write_bytes(pdf([""] * 12))
    items = list(list_items([str(tmp_path)], Page, max_pages=10))
    assert [item.part for item in items] == list(range(11))
    assert items[-1].failure is not None
    assert "12 pages, and 10 are read" in items[-1].failure.message
    assert "--max-pages" in items[-1].failure.advice
    chosen = list(list_items([str(tmp_path)], Page, max_pages=10, pages=PageRange.parse("3-")))
    assert [item.failure for item in chosen] == [None] * 10
    assert inspect.signature(parse).parameters["max_pages"].default == ParseOptions(inputs=()).max_pages


def test_pages_beyond_the_bound_are_read_once_it_is_raised(tmp_path: Path) -> None:
    (tmp_path / "long.pdf").write_bytes(pdf([""] * 4))
    out = tmp_path / "out"
    for bound, retry in ((2, False), (9, True)):
        listing = list_items([str(tmp_path / "long.pdf")], Page, max_pages=bound)
        list(Run(fake(), Inline(), out, PAGES, retry_failed=retry).items(listing))
    assert [(page.part, page.failure) for page in penstock.read(out)] == [(part, None) for part in range(4)]

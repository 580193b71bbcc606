"""Objects that another machine listed are brought to this one once, and deleted when they are too many."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store

from penstock.executors.inline import Inline
from penstock.page import Page
from penstock.sources.listing import list_items
from penstock.sources.remote.brought import BringObjects, BroughtFiles
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket


@pytest.fixture
def corpus() -> Iterator[str]:
    with bucket("corpus") as address:
        store = S3Store.from_url(address, client_options={"allow_http": True})
        for number in range(3):
            data = pdf([text(f"{number} {page}") for page in range(2)])
            obstore.put(store, f"a folder/report {number}.pdf", data)
        yield address


@pytest.fixture
def listed(corpus: str, tmp_path: Path) -> list[Page]:
    """Pages whose files were fetched on a machine that is not this one."""
    pages = list(list_items([corpus], Page, downloads=tmp_path / "driver"))
    shutil.rmtree(tmp_path / "driver")
    return pages


def here() -> BroughtFiles:
    return BringObjects().open()


def test_pages_are_read_where_their_files_were_not_listed(listed: list[Page]) -> None:
    files = here()
    brought = [files.bring(page) for page in listed]
    assert len({page.uri for page in brought}) == 3
    read = list(Inline().stream(fake(), brought))
    assert not any(page.failure for page in read)
    assert [files.give_back(page).uri for page in brought] == [page.uri for page in listed]


def test_a_file_that_is_seen_is_not_brought(corpus: str, tmp_path: Path) -> None:
    files = here()
    for page in list_items([corpus], Page, downloads=tmp_path):
        assert files.bring(page) is page
        assert files.give_back(page) is page


def test_a_file_that_changed_since_it_was_listed_fails_alone(corpus: str, listed: list[Page]) -> None:
    store = S3Store.from_url(corpus, client_options={"allow_http": True})
    obstore.put(store, "a folder/report 1.pdf", pdf([text("another")]))
    obstore.delete(store, "a folder/report 2.pdf")
    files = here()
    said = {page.document: files.bring(page).failure for page in listed}
    assert said["a folder/report 0.pdf"] is None
    assert "has changed in the store" in str(said["a folder/report 1.pdf"])
    assert "no longer in the store" in str(said["a folder/report 2.pdf"])


def test_files_of_which_no_page_is_at_work_make_room(listed: list[Page]) -> None:
    files = replace(here(), max_bytes=1)
    brought = [files.bring(page) for page in listed]
    assert all(Path(page.uri).is_file() for page in brought)  # all at work: the bound must wait
    for page in brought[:3]:
        files.give_back(page)
    assert [Path(page.uri).is_file() for page in brought[::2]] == [False, True, True]

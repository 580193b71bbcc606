"""A file that changes or goes away between its listing and its reading is never mixed with what it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import BadInput
from penstock.page import Page
from penstock.sources import list_items
from penstock.stage import Worker
from penstock.stages.load import Load
from tests.support.loaded import colours, load_items
from tests.support.made_pdf import pdf


def test_a_file_that_went_away_is_a_sentence(tmp_path: Path) -> None:
    colours().save(tmp_path / "a.png")
    (item,) = list_items([str(tmp_path)], Page)
    (tmp_path / "a.png").unlink()
    with pytest.raises(BadInput, match=r"a\.png: it cannot be opened"):
        load_items([item])
    with pytest.raises(BadInput, match="gone"):
        load_items([replace(item, media="pdf")])


def rewritten_pdf(path: Path) -> None:
    path.write_bytes(pdf(["other words"] * 3))


def shorter_pdf(path: Path) -> None:
    path.write_bytes(pdf([""]))


def replaced_pdf(path: Path) -> None:
    """As editors save: another file takes the name, and the open one stays what it was."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(pdf(["other words"] * 3))
    fresh.replace(path)


@pytest.mark.parametrize("change", [rewritten_pdf, shorter_pdf, replaced_pdf])
@pytest.mark.parametrize("read_before", [0, 1])
def test_a_pdf_that_changes_while_it_is_read_gives_no_mixture(
    tmp_path: Path, change: Callable[[Path], None], read_before: int
) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf(["", "", ""]))
    pages = list(list_items([str(path)], Page))
    worker: Worker = Load().open()  # type: ignore[assignment]
    try:
        assert len(worker(pages[:read_before])) == read_before
        change(path)
        for page in pages[read_before:]:
            with pytest.raises(BadInput, match=r"report\.pdf: the file has changed since it was listed"):
                worker([page])
        again = list(list_items([str(path)], Page))
        assert {page.id for page in again}.isdisjoint(page.id for page in pages)
        assert [page.part for page in worker(again)] == list(range(len(again)))
    finally:
        worker.close()


def test_a_picture_that_was_replaced_is_not_taken_for_the_one_listed(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    colours().save(path)
    pages = list(list_items([str(path)], Page))
    colours().resize((8, 8)).save(path)
    with pytest.raises(BadInput, match="has changed"):
        load_items(pages)


def test_ids_of_other_sources_are_not_taken_for_changed_files(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    colours().save(path)
    for id in ("mine", "scan-12/00000", "scan"):
        assert load_items([Page(id=id, uri=str(path), document="scan.png", media="image")])

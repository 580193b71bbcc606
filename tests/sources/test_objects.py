"""Inputs on an object store: the documents of a folder, fetched as their pages are counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import obstore
import pytest
from obstore.store import ObjectStore, S3Store

from penstock.errors import UsageError
from penstock.object_stores import opened
from penstock.page import Page
from penstock.sources.listing import list_items
from penstock.sources.partition import ALL, Partition
from penstock.sources.remote import objects
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket


@pytest.fixture(scope="module")
def corpus() -> Iterator[str]:
    with bucket("corpus") as address:
        store = S3Store.from_url(address, client_options={"allow_http": True})
        for number in range(6):
            data = pdf([text(f"{number} {page}") for page in range(1 + number % 2)])
            obstore.put(store, f"reports/20{number}/report {number}.pdf", data)
        obstore.put(store, "reports/notes.txt", b"not read")
        obstore.put(store, "reports/broken.pdf", b"no PDF")
        yield address


def listed(address: str, folder: Path, partition: Partition = ALL) -> list[Page]:
    return list(list_items([address], Page, downloads=folder, partition=partition))


def test_a_prefix_is_listed_as_a_folder_is(corpus: str, tmp_path: Path) -> None:
    pages = listed(f"{corpus}/reports", tmp_path)
    assert [page.document for page in pages if page.failure is None] == [
        f"20{number}/report {number}.pdf" for number in range(6) for _ in range(1 + number % 2)
    ]
    assert [page.document for page in pages if page.failure] == ["broken.pdf"]
    assert all(Path(page.uri).is_relative_to(tmp_path) for page in pages)


def test_ids_are_the_same_on_another_machine(corpus: str, tmp_path: Path) -> None:
    here, there = (listed(f"{corpus}/reports", tmp_path / name) for name in ("here", "there"))
    assert [page.id for page in here] == [page.id for page in there]


def test_a_rank_fetches_only_its_documents(corpus: str, tmp_path: Path) -> None:
    pages = [listed(f"{corpus}/reports", tmp_path / str(rank), Partition(rank, 3)) for rank in (1, 2, 3)]
    fetched = [len(list((tmp_path / str(rank)).rglob("*.pdf"))) for rank in (1, 2, 3)]
    assert sum(fetched) == 7
    assert max(fetched) < 7
    assert sum(map(len, pages)) == 10


@pytest.mark.parametrize(("pattern", "count"), [("reports/*4.pdf", 1), ("reports/201/report 1.pdf", 2)])
def test_a_pattern_or_one_object_can_be_named(corpus: str, tmp_path: Path, pattern: str, count: int) -> None:
    assert len(listed(f"{corpus}/{pattern}", tmp_path)) == count


def test_an_object_that_a_list_names_does_not_cost_the_listing_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")  # a store tells 1,000 at once
    requests: list[str] = []
    with bucket("many", requests=requests) as address:
        store = S3Store.from_url(address, client_options={"allow_http": True})
        names = [f"{number:04d}.pdf" for number in range(30)]
        for name in names:
            obstore.put(store, name, b"")
        obstore.put(store, names[5], pdf([text("x")]))
        requests.clear()
        [page] = listed(f"{address}/{names[5]}", tmp_path)
        assert page.document == names[5] and page.failure is None
        assert len(requests) == 2, requests


def test_rows_of_a_list_that_name_one_folder_share_a_store(
    corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{corpus}/reports/20{number}/report {number}.pdf" for number in (1, 1, 3, 1)]
    (tmp_path / "list.txt").write_text("\n".join(names))
    found: list[str] = []

    def noted(address: str) -> ObjectStore:
        found.append(address)
        return opened(address)

    objects._kept_open.cache_clear()
    monkeypatch.setattr(objects, "opened", noted)
    pages = list(list_items([f"@{tmp_path}/list.txt"], Page, downloads=tmp_path))
    assert len({page.document for page in pages}) == 2
    assert found == [f"{corpus}/reports/201", f"{corpus}/reports/203"]


def test_a_prefix_without_documents_is_a_sentence(corpus: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no PDF, picture or dataset"):
        listed(f"{corpus}/empty", tmp_path)


def test_an_object_that_is_too_large_fails_alone_and_says_what_to_do(
    corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "MAX_OBJECT_BYTES", len(b"no PDF"))
    [*large, broken] = listed(f"{corpus}/reports", tmp_path)
    assert broken.failure is not None and "does not begin like a PDF" in broken.failure.message
    assert len(large) == 6
    said = large[0].failure
    assert said is not None
    assert said.message == "200/report 0.pdf is larger than 6 bytes."
    assert said.advice == objects.TOO_LARGE

"""A Ray cluster between two object stores: machines bring their files and publish their rows themselves."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.store import S3Store

from penstock.driver import ShardWriter
from penstock.executors.inline import Inline
from penstock.executors.ray import Ray
from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_work
from penstock.sources.listing import list_items
from penstock.sources.remote.brought import BringObjects
from penstock.store.out import Out
from penstock.store.remote import mirrored
from penstock.testing.fake_recipe import fake
from tests.conftest import SAMPLE
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket, names_at
from tests.support.ray_cluster import own_ports, two_nodes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
DOCUMENTS, PAGES_EACH = 12, 10
numbers = count()  # of buckets, of which the server forgets none between tests


@pytest.fixture
def store() -> Iterator[str]:
    with bucket(f"cluster{next(numbers)}", fault=0.02, seed=3) as address:
        corpus = S3Store.from_url(address, client_options={"allow_http": True})
        for number in range(DOCUMENTS):
            data = pdf([text(f"{number} {page}") for page in range(PAGES_EACH)])
            obstore.put(corpus, f"in/d{number:02d}.pdf", data)
        yield address


@pytest.fixture
def cluster(store: str) -> Iterator[Any]:
    """Started after the store, whose address and keys its machines have by their environment."""
    with two_nodes() as made:
        yield made


@pytest.fixture
def no_rows_by_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the driver wrote a row")

    monkeypatch.setattr(ShardWriter, "add", refused)  # here alone: machines are other processes


def places(out: Path) -> list[tuple[str, bool, str]]:
    return [(page.place, page.failure is None, page.markdown) for page in Out(out).read_pages()]


@pytest.mark.usefixtures("no_rows_by_the_driver")
def test_machines_publish_their_rows_and_crops_themselves(store: str, cluster: Any, tmp_path: Path) -> None:
    obstore.put(
        S3Store.from_url(store, client_options={"allow_http": True}), "sample/s.pdf", SAMPLE.read_bytes()
    )
    options = ParseOptions(inputs=(f"{store}/sample",), executor="ray")
    with mirrored(f"{store}/out", tmp_path / "driver", everything=False) as out:
        work = parse_work(options, out)
        work.finish()
        driver = places(out)  # all that its exports need is there
    assert work.run.tally.done == len(driver) > 0
    assert all(is_read for _, is_read, _ in driver)
    there = names_at(f"{store}/out")
    assert any(name.startswith("items/") for name in there)
    assert any(name.startswith("crops/") for name in there)
    with mirrored(f"{store}/out", tmp_path / "reader") as out:
        assert places(out) == driver


@pytest.mark.usefixtures("no_rows_by_the_driver")
def test_a_machine_that_dies_loses_nothing_that_it_had_not_published(
    store: str, cluster: Any, tmp_path: Path
) -> None:
    options = ParseOptions(inputs=(f"{store}/in",), recipe=fake(seconds=0.05), executor="ray")
    with mirrored(f"{store}/out", tmp_path / "driver", everything=False) as out:
        work = parse_work(options, out)
        for number, _ in enumerate(work):
            if number == 0:
                cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
                cluster.add_node(num_cpus=1, **own_ports())
    assert work.run.tally.failed == 0
    with mirrored(f"{store}/out", tmp_path / "reader") as out:
        found = places(out)
    assert len(found) == len(set(found)) == DOCUMENTS * PAGES_EACH


def test_machines_read_files_that_only_the_driver_has(store: str, cluster: Any, tmp_path: Path) -> None:
    pages = list(list_items([f"{store}/in"], Page, downloads=tmp_path / "driver"))
    read = {page.id: page for page in Inline().stream(fake(), pages)}
    shutil.rmtree(tmp_path / "driver")
    executor = Ray()
    executor.fetch_on_machines(BringObjects())
    assert {page.id: page for page in executor.stream(fake(), iter(pages))} == read

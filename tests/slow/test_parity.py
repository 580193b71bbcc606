"""One thread, this machine, a Ray cluster, four ranks, and stores on both sides give the same rows."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.exports.page_rows import result_row
from penstock.passes.parse import ParseOptions, parse_work
from penstock.store.out import Out
from penstock.store.remote import mirrored
from tests.conftest import SAMPLE
from tests.support.made_pdf import pdf, text
from tests.support.ray_cluster import two_nodes

pytestmark = pytest.mark.slow
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample, made documents, and a file that is no document."""
    folder = tmp_path_factory.mktemp("corpus")
    shutil.copy(SAMPLE, folder / "sample.pdf")
    for number in range(6):
        (folder / f"d{number}.pdf").write_bytes(pdf([text(f"{number} {page}") for page in range(2)]))
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    return folder


def read(inputs: str, out: Path, executor: str = "local", partition: str | None = None) -> None:
    options = ParseOptions(
        inputs=(inputs,), settings={"layout": "rules"}, pages="1-2", executor=executor, partition=partition
    )
    parse_work(options, out).finish()


def rows(out: Path) -> Rows:
    """Returns what was read, without ids: those hold the times of files, which a store sets anew."""
    found = [result_row(page) for page in Out(out).read_pages()]
    return [{name: value for name, value in row.items() if name != "page_id"} for row in found]


@pytest.fixture(scope="module")
def local(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    out = tmp_path_factory.mktemp("local") / "out"
    read(str(corpus), out)
    found = rows(out)
    assert [row["document"] for row in found if not row["valid"]] == ["broken.pdf"]
    assert len(found) == 6 * 2 + 2 + 1
    return found


def test_one_thread_gives_the_rows_of_this_machine(corpus: Path, local: Rows, tmp_path: Path) -> None:
    read(str(corpus), tmp_path / "out", "inline")
    assert rows(tmp_path / "out") == local


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")  # Ray's own
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_two_nodes_of_ray_do(corpus: Path, local: Rows, tmp_path: Path) -> None:
    with two_nodes():
        read(str(corpus), tmp_path / "out", "ray")
    assert rows(tmp_path / "out") == local


def test_four_ranks_do(corpus: Path, local: Rows, tmp_path: Path) -> None:
    for rank in (3, 1, 4, 2):
        read(str(corpus), tmp_path / "out", partition=f"{rank}/4")
    assert rows(tmp_path / "out") == local


def test_object_stores_on_both_sides_do(corpus: Path, local: Rows, tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason="needs penstock-pipeline[stores]")
    pytest.importorskip("moto", reason="needs moto, a server of S3")
    import obstore
    from obstore.store import S3Store

    from tests.support.object_store import bucket

    with bucket("made", fault=0.02) as address:
        store = S3Store.from_url(address, client_options={"allow_http": True})
        for path in files(corpus):
            obstore.put(store, f"in/{path.name}", path.read_bytes())
        with mirrored(f"{address}/out", tmp_path / "home", everything=False) as out:
            read(f"{address}/in", out)
        with mirrored(f"{address}/out", tmp_path / "another machine") as out:
            assert rows(out) == local


def files(folder: Path) -> Sequence[Path]:
    return sorted(folder.iterdir())

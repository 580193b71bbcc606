"""Ranks without a master: several runs share one OUT, and each page is there once, in source order."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import OutLocked, PlanMismatch, UsageError
from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_work
from penstock.plan import Plan
from penstock.sources.partition import Partition
from penstock.stages.load import Load
from penstock.store.out import Out
from penstock.store.source_order import DOCUMENTS, RANKS, order_files, read_documents, read_order
from penstock.testing.fake_stages import FakeLayout, FakeRecognise
from tests.support.kopub_dataset import write_dataset
from tests.support.made_pdf import pdf, text

NUM_DOCUMENTS = 12


def plan(dpi: int = 36) -> Plan:
    return Plan(Load(dpi=dpi, workers=1), FakeLayout(), FakeRecognise(), name="fake")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    for number in range(NUM_DOCUMENTS):
        pages = [text(f"document {number} page {page}") for page in range(1 + number % 3)]
        (folder / f"d{number:02d}.pdf").write_bytes(pdf(pages))
    return folder


def options(inputs: Path, partition: str | None = None, **more: bool) -> ParseOptions:
    return ParseOptions(inputs=(str(inputs),), recipe=plan(), executor="inline", partition=partition, **more)


def read(inputs: Path, out: Path, partition: str | None = None) -> int:
    """Runs one rank to its end. Returns how many pages it finished."""
    work = parse_work(options(inputs, partition), out)
    work.finish()
    return work.run.tally.done


def rows(out: Path) -> list[tuple[str, str, int, str]]:
    return [(page.id, page.document, page.part, page.markdown) for page in Out(out).read_pages()]


@pytest.fixture(scope="module")
def whole(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, int, str]]:
    out = tmp_path_factory.mktemp("whole") / "out"
    read(inputs, out)
    return rows(out)


@pytest.mark.parametrize("ranks", [(1, 2, 3, 4), (3, 1, 4, 2)])
def test_four_ranks_give_the_rows_of_one_run_in_its_order(
    inputs: Path, whole: list[tuple[str, str, int, str]], ranks: tuple[int, ...], tmp_path: Path
) -> None:
    done = [read(inputs, tmp_path, f"{rank}/4") for rank in ranks]
    assert sum(done) == len(whole)
    assert sum(count > 0 for count in done) > 1
    assert rows(tmp_path) == whole
    assert read(inputs, tmp_path, "2/4") == 0  # again: nothing is left to do
    assert read(inputs, tmp_path) == 0  # nor for a run of everything


def test_each_rank_writes_an_order_of_its_own_documents_alone(
    inputs: Path, whole: list[tuple[str, str, int, str]], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for rank in (2, 1, 3):
        read(inputs, out, f"{rank}/3")
    assert not (out / DOCUMENTS).exists()
    each = [[row[0] for row in read_documents(path)] for path in order_files(out)[1:]]
    assert sorted(name for names in each for name in names) == list(read_order(out))
    assert all(len(names) < NUM_DOCUMENTS for names in each)
    read(inputs, out)  # a run of everything writes one order for all
    assert [len(read_documents(path)) for path in order_files(out)] == [NUM_DOCUMENTS, 0, 0, 0]
    assert rows(out) == whole


def test_documents_of_archives_and_data_sets_keep_their_places_among_those_of_other_ranks(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "inputs"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}-a.pdf").write_bytes(pdf([text(f"{number}")]))
        with zipfile.ZipFile(folder / f"{number}-b.zip", "w") as archive:
            for name in ("x.pdf", "y.pdf"):
                archive.writestr(name, pdf([text(f"{number} {name}")]))
    write_dataset(folder / "3-c")
    read(folder, tmp_path / "whole")
    for rank in (3, 2, 1):
        read(folder, tmp_path / "ranks", f"{rank}/3")
    assert list(read_order(tmp_path / "ranks")) == list(read_order(tmp_path / "whole"))
    assert rows(tmp_path / "ranks") == rows(tmp_path / "whole")


def test_each_rank_describes_its_own_run(inputs: Path, tmp_path: Path) -> None:
    for rank in (1, 2):
        read(inputs, tmp_path, f"{rank}/2")
    assert sorted(path.name for path in (tmp_path / RANKS).iterdir()) == ["1-of-2", "2-of-2"]
    for folder in (tmp_path / RANKS).iterdir():
        assert {path.name for path in folder.iterdir()} >= {"run.json", "profile.json"}
    assert Out(tmp_path).run()["fingerprint"] == plan().fingerprint()


def test_rows_of_a_data_set_fall_to_ranks_one_by_one(tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "data")
    done = [read(dataset, tmp_path / "out", f"{rank}/3") for rank in (1, 2, 3)]
    assert sum(done) == len(rows(tmp_path / "out"))
    assert min(done) > 0


def started(inputs: Path, out: Path, partition: str | None) -> Iterator[Page]:
    """Returns a rank that has read its first page and holds its locks."""
    pages = iter(parse_work(options(inputs, partition), out))
    next(pages)
    return pages


def test_ranks_work_at_the_same_time_and_nobody_else_does(
    inputs: Path, whole: list[tuple[str, str, int, str]], tmp_path: Path
) -> None:
    first = started(inputs, tmp_path, "1/2")
    second = threading.Thread(target=read, args=(inputs, tmp_path, "2/2"))
    second.start()
    second.join(60)
    assert not second.is_alive()
    with pytest.raises(OutLocked):  # the same rank, started twice by mistake
        read(inputs, tmp_path, "1/2")
    with pytest.raises(OutLocked):
        read(inputs, tmp_path)
    assert sum(1 for _ in first) > 0
    assert rows(tmp_path) == whole


def test_a_rank_that_was_stopped_goes_on(
    inputs: Path, whole: list[tuple[str, str, int, str]], tmp_path: Path
) -> None:
    stopped = parse_work(options(inputs, "1/2"), tmp_path).run
    pages = stopped.items(parse_work(options(inputs, "1/2"), tmp_path).listing)
    next(pages)
    pages.close()
    for rank in (1, 2):
        read(inputs, tmp_path, f"{rank}/2")
    assert rows(tmp_path) == whole


def test_a_rank_that_goes_on_reads_no_rows_of_the_others(
    inputs: Path, whole: list[tuple[str, str, int, str]], tmp_path: Path
) -> None:
    done = [read(inputs, tmp_path, f"{rank}/2") for rank in (1, 2)]
    (shard,) = tmp_path.glob("items/2-of-2-*.parquet")
    content = shard.read_bytes()
    shard.write_bytes(b"of no use to the first rank")
    assert read(inputs, tmp_path, "1/2") == 0
    shard.write_bytes(content)
    assert read(inputs, tmp_path, "1/4") == 0  # of other ranks than these it reads all
    assert rows(tmp_path) == whole
    assert sum(done) == len(whole)


def test_a_rank_of_another_plan_is_refused(inputs: Path, tmp_path: Path) -> None:
    read(inputs, tmp_path, "1/2")
    other = ParseOptions(inputs=(str(inputs),), recipe=plan(dpi=72), executor="inline", partition="2/2")
    with pytest.raises(PlanMismatch, match=r"load\.dpi: 36 -> 72"):
        parse_work(other, tmp_path).finish()


def test_starting_over_is_not_a_ranks_decision(inputs: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--fresh would delete what other ranks wrote"):
        parse_work(options(inputs, "1/2", fresh=True), tmp_path)


@pytest.mark.parametrize("wrong", ["0/4", "5/4", "3", "3/", "a/b", "1/0", "-1/4", "1/1000000", "٣/٨"])
def test_what_is_no_partition_is_a_sentence(wrong: str) -> None:
    with pytest.raises(UsageError, match="is no partition"):
        Partition.parse(wrong)


def test_every_document_falls_to_exactly_one_rank() -> None:
    ranks = [Partition(rank, 7) for rank in range(1, 8)]
    for number in range(500):
        assert sum(rank.holds(f"문서-{number}.pdf") for rank in ranks) == 1


def test_a_rank_without_documents_ends_well(inputs: Path, tmp_path: Path) -> None:
    counts = [read(inputs, tmp_path, f"{rank}/97") for rank in range(1, 6)]
    assert 0 in counts

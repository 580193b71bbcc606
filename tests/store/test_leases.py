"""Ranks that share a queue: each partition is read by one, and by another when its reader died."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.store.leases import DONE, LEASE_S, Leases, shared_ranks
from penstock.store.remote import Mirror, mirrored
from penstock.testing import FAKE
from tests.support.command import here
from tests.support.made_pdf import pdf, text
from tests.support.object_store import bucket


@pytest.fixture
def store(tmp_path: Path) -> Iterator[str]:
    with bucket("leases") as address:
        yield f"{address}/{tmp_path.name}"  # what the server holds outlives it


class Waiting:
    """A clock that goes on when somebody pauses."""

    def __init__(self) -> None:
        self.now, self.pauses = 0.0, 0

    def pause(self, seconds: float) -> None:
        self.now += seconds
        self.pauses += 1


def rank(address: str, home: Path, ranks: int = 3) -> tuple[Leases, Waiting]:
    waiting = Waiting()
    return Leases(Mirror(address, home), ranks, lambda: waiting.now, waiting.pause), waiting


def test_ranks_that_work_at_once_read_each_partition_once(store: str, tmp_path: Path) -> None:
    first, second = (rank(store, tmp_path / name)[0].taken() for name in "ab")
    held = [next(first), next(second), next(first)]  # asking for the next says that the one before is done
    assert sorted(held) == [1, 2, 3]


def test_a_partition_of_a_dead_rank_is_taken_over_when_its_time_is_over(store: str, tmp_path: Path) -> None:
    dead = rank(store, tmp_path / "dead")[0].taken()
    its = next(dead)  # and it renews no more
    other, waiting = rank(store, tmp_path / "other")
    taken = list(other.taken())
    assert sorted(taken) == [1, 2, 3] and taken[-1] == its
    assert waiting.now >= LEASE_S
    assert list(dead) == []  # it was not dead after all: nothing is left to do
    assert other.mirror.object(f"leases/{its}-of-3")[0] == DONE


def test_a_rank_that_renews_keeps_its_partition(store: str, tmp_path: Path) -> None:
    holder, _ = rank(store, tmp_path / "holder", ranks=1)
    holding = holder.taken()
    assert next(holding) == 1
    other, waiting = rank(store, tmp_path / "other", ranks=1)

    def renewed(seconds: float) -> None:
        Waiting.pause(waiting, seconds)
        name = "leases/1-of-1"
        data, version = holder.mirror.object(name)
        if waiting.now > 2 * LEASE_S:
            assert holder.mirror.put_version(name, DONE, version) is not None
        else:
            assert holder.mirror.put_version(name, data + b"+", version) is not None

    other.pause = renewed
    assert list(other.taken()) == []


def test_a_rank_that_is_stopped_gives_its_partition_back_at_once(store: str, tmp_path: Path) -> None:
    with closing(rank(store, tmp_path / "stopped", ranks=1)[0].taken()) as stopped:
        assert next(stopped) == 1
    other, waiting = rank(store, tmp_path / "other", ranks=1)
    assert list(other.taken()) == [1]
    assert waiting.pauses == 0


def test_the_command_line_reads_until_no_partition_is_left(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))  # another run's mirror has the same address
    for number in range(5):
        (tmp_path / f"d{number}.pdf").write_bytes(pdf([text(f"{number}")]))
    command = ["parse", f"{tmp_path}/d*.pdf", "--recipe", FAKE, "--executor", "inline", "--quiet"]
    done = here(*command, "-o", store, "--partition", "any/3")
    assert done.returncode == 0, done.stderr
    again = here(*command, "-o", store, "--partition", "any/3")
    assert (again.returncode, again.stdout) == (0, "")
    with mirrored(store, tmp_path / "reader") as out:
        assert len(list((out / "items").iterdir())) == len(list((out / "ranks").iterdir())) == 3
    on_a_disk = here(*command, "-o", str(tmp_path / "out"), "--partition", "any/3")
    assert on_a_disk.returncode == 2 and "needs OUT on an object store" in on_a_disk.stderr


def test_only_any_is_a_queue() -> None:
    assert [shared_ranks(word) for word in ("any/64", "3/8", "any/0", None)] == [64, None, None, None]

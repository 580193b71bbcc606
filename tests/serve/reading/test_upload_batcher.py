"""A crowd of documents is listed and committed together; one that comes alone waits for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pypdfium2 as pdfium

from penstock.serve.reading.fair_queue import DOCUMENTS_A_ROUND, FairQueue
from penstock.serve.reading.reading_run import COMMIT_S
from penstock.serve.reading.service import Service
from penstock.serve.reading.upload_batcher import AT_ONCE, GATHER_ALONE_S, GATHER_S, UploadBatcher
from penstock.serve.requests.received_file import BLOCK, ReceivedFile, receive
from penstock.store.ledger import ITEMS_DIR
from penstock.testing.fake_recipe import fake
from tests.support.waiting import HANGS_S, wait_until


def _yes() -> bool:
    return True


def _no() -> bool:
    return False


def test_what_waits_is_handed_out_together_up_to_a_bound() -> None:
    inbox = UploadBatcher(clock=lambda: 0.0)
    names = [Path(str(number)) for number in range(AT_ONCE + 2)]
    for name in names:
        inbox.put(name)
    assert inbox.take(None, _no) == names[:AT_ONCE]
    assert inbox.take(None, _no) == names[AT_ONCE:]
    assert inbox.take(0.0, _no) == []


def test_the_first_after_a_pause_waits_for_no_other() -> None:
    now = [100.0]
    inbox = UploadBatcher(clock=lambda: now[0])
    inbox.put(Path("a"))
    assert inbox.take(None, _yes) == [Path("a")]  # it would wait for HANGS_S if a moment had not passed
    now[0] += GATHER_S
    inbox.put(Path("b"))
    assert inbox.take(None, _yes) == [Path("b")]


def test_beside_nothing_else_the_moment_is_short() -> None:
    now = [100.0]
    inbox = UploadBatcher(clock=lambda: now[0])
    inbox.put(Path("a"))
    assert inbox.take(None, _no) == [Path("a")]
    inbox.put(Path("b"))
    inbox.put(Path("c"))
    assert inbox.take(None, _no) == [Path("b"), Path("c")]
    assert 0 < GATHER_ALONE_S < GATHER_S


def test_those_that_come_while_others_are_read_are_gathered() -> None:
    inbox = UploadBatcher(clock=lambda: 100.0)
    inbox.put(Path("a"))
    assert inbox.take(None, _yes) == [Path("a")]
    asked: list[None] = []

    def gathers() -> bool:  # another comes while it is gathering
        asked.append(None)
        if len(asked) < AT_ONCE:
            inbox.put(Path(str(len(asked))))
        return True

    inbox.put(Path("b"))
    found = inbox.take(None, gathers)
    assert found is not None
    assert len(found) == AT_ONCE


def test_who_has_other_work_gathers_none() -> None:
    inbox = UploadBatcher(clock=lambda: 100.0)
    inbox.put(Path("a"))
    assert inbox.take(None, _yes) == [Path("a")]
    inbox.put(Path("b"))
    assert inbox.take(0.0, _unasked) == [Path("b")]


def _unasked() -> bool:
    raise AssertionError("nobody gathers here")


def test_the_end_wakes_the_taker() -> None:
    inbox = UploadBatcher()
    inbox.put(Path("a"))
    inbox.end()
    assert inbox.take(None, _no) is None


def test_documents_take_turns_of_a_few_pages() -> None:
    turns: FairQueue[str] = FairQueue()
    for name, count in (("a", 10), ("b", 5), ("c", 4)):
        turns.add([f"{name}{number}" for number in range(count)])
    assert list(turns.round()) == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "c0", "c1", "c2", "c3"]
    turns.add(["d0"])
    assert list(turns.round()) == ["a4", "a5", "a6", "a7", "b4", "d0"]
    assert list(turns.round()) == ["a8", "a9"]
    assert not turns


def test_who_sends_much_keeps_nobody_waiting_for_all_of_it() -> None:
    turns: FairQueue[str] = FairQueue()
    for number in range(1000):
        turns.add([f"much {number}"], "ann")
    assert len(list(turns.round())) == DOCUMENTS_A_ROUND
    turns.add(["one"], "bob")
    second = list(turns.round())
    assert (second[-1], len(second)) == ("one", DOCUMENTS_A_ROUND + 1)
    rest = [page for _ in range(1000) if turns for page in turns.round()]
    assert len(rest) == 1000 - 2 * DOCUMENTS_A_ROUND
    assert rest == [f"much {number}" for number in range(2 * DOCUMENTS_A_ROUND, 1000)]
    assert not turns


def _send(service: Service, folder: Path, number: int) -> None:
    document = pdfium.PdfDocument.new()
    document.new_page(200 + number, 300)
    path = folder / f"sent-{number}"
    document.save(path)
    service.accept(path, f"{number}.pdf", str(number))


def _shards(out: Path) -> int:
    return len(list((out / ITEMS_DIR).glob("*.parquet")))


def test_a_crowd_of_small_documents_is_not_a_shard_each(tmp_path: Path) -> None:
    now, out = [0.0], tmp_path / "out"
    with Service(out, fake(), clock=lambda: now[0]) as service:
        _send(service, tmp_path, 0)
        assert service.settled.wait(HANGS_S)  # one that comes alone is committed at once
        for number in (1, 2, 3):
            _send(service, tmp_path, number)
        wait_until(lambda: not service.waiting)
        assert (_shards(out), service.settled.is_set()) == (1, False)
        now[0] += COMMIT_S
        _send(service, tmp_path, 4)
        assert service.settled.wait(HANGS_S)
        assert _shards(out) == 2
        assert [status.done for status in service.documents()] == [1, 1, 1, 1, 1]


async def _pieces(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _received(path: Path, data: bytes, max_in_memory: int) -> ReceivedFile:
    half = len(data) // 2
    pieces = _pieces(data[:half], data[half:])
    return asyncio.run(receive(pieces, path, "a", 10 * BLOCK, max_in_memory))


def test_a_small_file_is_written_by_who_takes_it_and_a_long_one_as_it_comes(tmp_path: Path) -> None:
    small = _received(tmp_path / "small", b"small", 100)
    assert small.path.stat().st_size == 0
    small.put_on_disk()
    assert small.path.read_bytes() == b"small"
    beyond = _received(tmp_path / "beyond", b"b" * 101, 100)
    assert (beyond.path.read_bytes(), beyond.unwritten) == (b"b" * 101, None)
    long = _received(tmp_path / "long", b"l" * (2 * BLOCK), 10 * BLOCK)
    assert (long.path.stat().st_size, long.size, long.unwritten) == (2 * BLOCK, 2 * BLOCK, None)

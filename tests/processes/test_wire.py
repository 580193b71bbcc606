"""Values between processes: whole, in place, in time."""

from __future__ import annotations

import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from penstock.processes.wire import Frames


@pytest.fixture
def ends() -> Iterator[tuple[Frames, Frames]]:
    here, there = socket.socketpair()
    with here, there:
        yield Frames(here), Frames(there)


def test_values_and_their_arrays_arrive_whole(ends: tuple[Frames, Frames]) -> None:
    page = np.arange(3_000_000, dtype=np.uint8).reshape(1000, 1000, 3)
    values = [None, {"page": page, "crop": page[10:20, 30:40], "bytes": b"x" * 200_000}, (page[:0], "")]
    thread = threading.Thread(target=lambda: [ends[0].send(value) for value in values])
    thread.start()
    got = [ends[1].receive(time.monotonic() + 100) for _ in values]
    thread.join()
    assert got[0] is None and got[2][0].shape == (0, 1000, 3)
    assert np.array_equal(got[1]["page"], page) and np.array_equal(got[1]["crop"], page[10:20, 30:40])
    assert got[1]["bytes"] == values[1]["bytes"]  # type: ignore[index]
    got[1]["page"][0] = 7  # what arrived is the receiver's own


def test_nobody_waits_longer_than_said(ends: tuple[Frames, Frames]) -> None:
    with pytest.raises(TimeoutError):
        ends[0].receive(time.monotonic() + 0.1)
    with pytest.raises(TimeoutError):
        ends[0].send(np.zeros(50_000_000, np.uint8), time.monotonic() + 0.2)  # nobody reads it
    with pytest.raises(TimeoutError):
        ends[1].receive(time.monotonic() + 0.2)  # begun, and never finished


class Lost:
    """Goes out well and cannot come in."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return int, ("no number",)


def test_after_what_cannot_be_understood_nothing_is(ends: tuple[Frames, Frames]) -> None:
    ends[0].send([Lost(), b"x" * 100_000])
    with pytest.raises(ValueError, match="no number"):
        ends[1].receive(time.monotonic() + 100)
    with pytest.raises(EOFError):
        ends[1].receive(time.monotonic() + 100)
    with pytest.raises(ConnectionError):
        ends[1].send("more")


def test_long_bytes_are_copied_by_nobody_but_the_socket(ends: tuple[Frames, Frames]) -> None:
    picture = b"x" * 50_000_000
    tracemalloc.start()
    thread = threading.Thread(target=ends[0].send, args=({"picture": picture},))
    thread.start()
    got = ends[1].receive(time.monotonic() + 100)
    thread.join()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got["picture"] == picture
    assert most < 1.2 * len(picture)


def test_the_end_of_the_other_is_told(ends: tuple[Frames, Frames]) -> None:
    ends[0].send("last words")
    ends[0].close()
    assert ends[1].receive() == "last words"
    with pytest.raises(EOFError):
        ends[1].receive()

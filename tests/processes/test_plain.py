"""What a process that was taken over can say to its parent: data, or it is refused. Never a crash."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import BadInput, DeadlinePassed, Failure, WorkerDied
from penstock.page import Page
from penstock.processes import child_main
from penstock.processes.child import Child
from penstock.processes.plain import NotPlain, decoded, encoded
from penstock.processes.wire import LENGTH, Frames
from penstock.region import TextLayer, Word
from penstock.stages.load import Load
from tests.conftest import REPO


def crossed(value: object) -> object:
    """What arrives of a value that a confined child sends."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        thread = threading.Thread(target=Frames(theirs, sends_plain=True).send, args=(value,))
        thread.start()
        got = Frames(ours, max_bytes=1 << 30).receive(time.monotonic() + 100)
        thread.join()
        return got


def test_pages_arrive_as_they_were_sent() -> None:
    word = Word(text="한글 \ud800", box=(0.1, 2.0, 3.0, 4.0), parts=(Word(text="한", box=(0, 0, 1, 1)),))
    failure = Failure(stage="load", kind="BadInput", message="broken")
    page = Page(
        id="a", uri="b", document="c", layer=TextLayer(words=(word,)), image=b"\x00jpeg", failure=failure
    )
    assert crossed([page, None, True, 2**70, {"a": (1, 2), 3: [b""]}]) == [
        page, None, True, 2**70, {"a": (1, 2), 3: [b""]}
    ]  # fmt: skip


@pytest.mark.parametrize(
    "array",
    [np.arange(24, dtype=np.uint8).reshape(2, 3, 4), np.asfortranarray(np.eye(3)), np.zeros((0, 5)),
     np.array(2.5, np.float32), np.arange(9)[::2] > 3, np.ones(3, np.complex64), np.arange(3, dtype=">i2")],
)  # fmt: skip
def test_arrays_arrive_with_their_kind_and_shape_and_can_be_written(array: np.ndarray) -> None:
    got = crossed(array)
    assert isinstance(got, np.ndarray)
    assert (got.dtype, got.shape, got.flags.writeable) == (array.dtype, array.shape, True)
    assert np.array_equal(got, array)


def test_errors_arrive_with_their_advice() -> None:
    got = crossed(BadInput("it is broken.", "Mend it."))
    assert isinstance(got, BadInput)
    assert (got.message, got.advice) == ("it is broken.", "Mend it.")


@pytest.mark.parametrize(
    "value", [print, Path("x"), Load.open, object(), np.array([object()]), np.array("x"), {1}]
)
def test_what_is_no_data_is_not_sent(value: object) -> None:
    with pytest.raises(NotPlain, match="is no data"):
        encoded(value)


@pytest.mark.parametrize(
    "told", [["a", "O", [1], 0], ["a", "|O", [1], 0], ["a", "|b1", [8], 0], ["a", "<f8", [2], 0]]
)
def test_arrays_of_objects_and_of_other_sizes_are_refused(told: list[object]) -> None:
    with pytest.raises(NotPlain):
        decoded(bytearray(json.dumps(told).encode()), [bytearray(b"\x07" * 8), bytearray()])


def test_a_claim_takes_no_memory() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(LENGTH.pack(1) + LENGTH.pack(3 << 30))
        theirs.shutdown(socket.SHUT_WR)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(EOFError):
            Frames(ours, max_bytes=4 << 30).receive()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10  # kB


def ended(seed: int, count: int) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.support.hostile_answers", str(seed), str(count)]
    done = subprocess.run(command, cwd=REPO, capture_output=True, timeout=500)
    assert done.returncode == 0, done.stderr.decode()
    ends: dict[str, int] = json.loads(done.stdout)
    return ends


def test_hostile_answers_are_refused_and_crash_nothing() -> None:
    ends = ended(seed=1, count=2_000)
    assert ends["honest"] == 3
    assert ends["refused"] > 1_000


@pytest.mark.slow
def test_many_hostile_answers_crash_nothing() -> None:
    assert sum(ended(seed=seed, count=50_000)["refused"] for seed in (2, 3)) > 50_000


def open_liar() -> Callable[[str], object]:
    return lie


def lie(word: str) -> object:
    parent = child_main._parent
    assert parent is not None
    if word == "beats":
        while True:
            parent.send(("beat", None, 0.0))
    if word != "honest":
        parent.send(json.loads(word))
    return word


def test_a_child_that_answers_in_another_form_is_ended() -> None:
    with Child(open_liar, name="reader", confined=True) as child:
        for word in ("7", '["ok", 1]', '["error", "x", 0]', '["never", 1, 0]', '["ok", 1, "x"]'):
            with pytest.raises(WorkerDied, match="no answer"):
                child.call(word, 30)
        assert child.call("honest", 30) == "honest"


def test_beats_without_end_have_a_deadline() -> None:
    with Child(open_liar, name="reader", confined=True) as child, pytest.raises(DeadlinePassed):
        child.call("beats", 0.5)

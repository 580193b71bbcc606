"""The progress display: what it says, when, and that it can never end a run."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

import pytest

from penstock.trace import phrases
from penstock.trace.progress import LINE_EVERY_S, Progress, RecentRate, RunState, last_line, running_line
from penstock.trace.spans import StageState

STAGES = (StageState("load", 0, 2, 130), StageState("recognise", 12, 8, 120))


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, int]]:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stream, os.fdopen(master, "rb"):
        yield stream, master


def read_all(master: int) -> str:
    told = b""
    while select.select([master], [], [], 0.05)[0]:
        told += os.read(master, 65536)
    return told.decode()


def lines_of(stream: io.StringIO) -> list[str]:
    return stream.getvalue().splitlines()


def test_elsewhere_than_on_a_terminal_one_plain_line_comes_each_ten_seconds_and_a_last_one() -> None:
    clock, stream = Clock(), io.StringIO()
    with Progress(400, stream, clock=clock) as progress:
        for second in range(1, 26):
            clock.now += 1.0
            progress.update(RunState(done=4 * second, stages=STAGES, elapsed_s=float(second)))
    assert lines_of(stream) == [
        "40 of 400 pages, 4 pages/s, about 1 min 30 s left; waiting: recognise 12",
        "80 of 400 pages, 4 pages/s, about 1 min 20 s left; waiting: recognise 12",
        "100 of 400 pages, in 25 s (4 pages/s)",
    ]


def test_what_is_counted_is_called_by_its_name(terminal: tuple[TextIO, int]) -> None:
    stream, master = terminal
    clock, state = Clock(), RunState(done=3, total=8, elapsed_s=2.0, unit="photo")
    with Progress(None, stream, clock=clock) as progress:
        clock.now += 1.0
        progress.update(state)
        drawn = read_all(master)
    assert "3 of 8 photos" in drawn
    assert "1.5 photos/s" in drawn
    assert "3 of 8 photos, in 2.0 s (1.5 photos/s)" in read_all(master)


def test_plain_lines_hold_no_control_characters() -> None:
    clock, stream = Clock(), io.StringIO()
    with Progress(None, stream, clock=clock) as progress:
        clock.now += LINE_EVERY_S
        progress.update(RunState(done=7, failed=1, skipped=2, stages=STAGES, elapsed_s=10.0))
    assert stream.getvalue().replace("\n", "").isprintable()
    assert lines_of(stream)[0].startswith("10 pages, 1 failed, 2 done before, 0.8 pages/s; waiting")


def test_quiet_says_nothing() -> None:
    clock, stream = Clock(), io.StringIO()
    with Progress(3, stream, quiet=True, clock=clock) as progress:
        clock.now += 60.0
        progress.update(RunState(done=3, elapsed_s=60.0))
    assert stream.getvalue() == ""


def test_a_run_with_nothing_to_do_says_nothing() -> None:
    stream = io.StringIO()
    with Progress(0, stream):
        pass
    assert stream.getvalue() == ""


def test_the_state_may_bring_the_total_later() -> None:
    stream = io.StringIO()
    with Progress(None, stream) as progress:
        progress.update(RunState(done=1, elapsed_s=1.0))
        progress.update(RunState(done=2, total=9, elapsed_s=2.0))
    assert lines_of(stream) == ["2 of 9 pages, in 2.0 s (1 pages/s)"]


def test_the_rate_follows_the_last_minute() -> None:
    rate = RecentRate()
    slow = [RunState(done=second, elapsed_s=float(second)) for second in range(1, 301)]
    fast = [RunState(done=300 + 10 * second, elapsed_s=300.0 + second) for second in range(1, 91)]
    for state in slow + fast:
        rate.add(state)
    assert rate.per_second(fast[-1]) == pytest.approx(10.0, rel=0.02)


def test_a_stall_falls_back_to_the_rate_of_the_whole_run() -> None:
    rate = RecentRate()
    states = [RunState(done=min(second, 50), elapsed_s=float(second)) for second in range(1, 201)]
    for state in states:
        rate.add(state)
    assert rate.per_second(states[-1]) == pytest.approx(0.25)


def test_pages_done_before_count_as_reached_but_not_as_speed() -> None:
    state = RunState(done=10, failed=2, skipped=80, total=100, elapsed_s=6.0)
    assert (state.finished, state.left) == (12, 8)
    assert RecentRate().per_second(state) == pytest.approx(2.0)


def test_a_closed_stream_is_no_error() -> None:
    clock, stream = Clock(), io.StringIO()
    with Progress(9, stream, clock=clock) as progress:
        stream.close()
        clock.now += 60.0
        progress.update(RunState(done=1, elapsed_s=1.0))
        clock.now += 60.0
        progress.update(RunState(done=2, elapsed_s=2.0))


def test_a_stream_closed_before_the_start_is_no_error() -> None:
    stream = io.StringIO()
    stream.close()
    with Progress(9, stream) as progress:
        progress.update(RunState(done=1, elapsed_s=1.0))


def test_a_broken_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    stream = os.fdopen(writer, "w")
    os.close(reader)
    with Progress(9, stream) as progress:
        progress.update(RunState(done=9, elapsed_s=1.0))
    with pytest.raises(BrokenPipeError):
        stream.close()  # what could not be written is still in its buffer


def test_a_terminal_gets_a_table_that_ends_as_one_line(terminal: tuple[TextIO, int]) -> None:
    stream, master = terminal
    clock = Clock()
    with Progress(400, stream, clock=clock) as progress:
        clock.now += 1.0
        progress.update(RunState(done=118, failed=2, stages=STAGES, elapsed_s=60.0))
        shown = read_all(master)
        progress.update(RunState(done=398, failed=2, stages=STAGES, elapsed_s=200.0))
    last = read_all(master)
    for expected in ("120 of 400 pages", "2 pages/s", "2 min 20 s left", "2 failed", "recognise", "waiting"):
        assert expected in shown
    assert "400 of 400 pages, 2 failed, in 3 min 20 s (2 pages/s)" in last


def test_a_terminal_that_goes_away_is_no_error_and_gives_stderr_back() -> None:
    master, slave = pty.openpty()
    stderr, clock = sys.stderr, Clock()
    stream = os.fdopen(slave, "w")
    with Progress(400, stream, clock=clock) as progress:
        os.close(master)
        for second in range(1, 4):
            clock.now += 1.0
            progress.update(RunState(done=second, stages=STAGES, elapsed_s=float(second)))
        assert sys.stderr is stderr
    assert sys.stderr is stderr
    with pytest.raises(OSError, match="Input/output error"):
        stream.close()  # what could not be written is still in its buffer


def test_stdout_is_left_alone_while_the_table_is_shown(terminal: tuple[TextIO, int]) -> None:
    stdout = sys.stdout
    with Progress(4, terminal[0]):
        assert sys.stdout is stdout


def test_rich_is_only_imported_for_a_terminal() -> None:
    program = (
        "import io, sys\n"
        "from penstock.trace.progress import Progress, RunState\n"
        "with Progress(2, io.StringIO()) as progress: progress.update(RunState(done=2, elapsed_s=1.0))\n"
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (185.0, "3 min 5 s"),
        (3599.7, "1 h"),
        (8040.0, "2 h 14 min"),
        (172_799.0, "2 days"),
        (273_600.0, "3 days 4 h"),
    ],
)
def test_durations_are_said_in_their_two_largest_units(seconds: float, said: str) -> None:
    assert phrases.duration(seconds) == said


@pytest.mark.parametrize(
    ("fraction", "said"), [(1.0, "100 %"), (0.996, "99 %"), (0.002, "1 %"), (0.0, "0 %")]
)
def test_nearly_all_is_not_all_and_nearly_nothing_is_not_nothing(fraction: float, said: str) -> None:
    assert phrases.percent(fraction) == said


def test_a_total_that_grows_says_so_and_one_page_is_not_pages() -> None:
    growing = RunState(done=2, total=20, more_to_find=True, elapsed_s=1.0)
    assert running_line(growing, 2.0) == "2 of 20+ pages, 2 pages/s, over 9.0 s left"
    assert last_line(RunState(done=1, total=1, elapsed_s=2.0)).startswith("1 of 1 page, in")
    assert last_line(RunState(done=1, elapsed_s=2.0)).startswith("1 page, in")

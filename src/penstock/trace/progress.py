"""Shows a run while it works: a live table on a terminal, a plain line now and then elsewhere.

Both are views of one `RunState`, which the caller passes to `update`. Nothing here can end a run: if the
stream is gone, the display goes quiet. It draws only in `update`; it has no thread of its own.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO

from penstock.trace import phrases
from penstock.trace.cost import Bill
from penstock.trace.spans import StageState

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

LINE_EVERY_S = 10.0
DRAW_EVERY_S = 0.25  # the eye follows four changes a second; drawing takes about 2 ms
RECENT_S = 60.0  # the rate's window: long enough for 5 s pages, short enough to follow a change
SAMPLE_EVERY_S = 0.5
BAR_COLUMNS = 40  # leaves room for two seven-figure counts on a line of 80


@dataclass(frozen=True, slots=True)
class RunState:
    """The whole run now. `total` counts every item of the input, `skipped` those done earlier.

    `more_to_find`: the inputs are still being listed, and `total` grows.
    """

    done: int = 0
    failed: int = 0
    skipped: int = 0
    total: int | None = None
    more_to_find: bool = False
    stages: tuple[StageState, ...] = ()
    elapsed_s: float = 0.0
    unit: str = "page"  # what one item is called
    price: float = 0.0  # of an hour of all its cards; 0: not known
    spent_before: float = 0.0  # by earlier runs of the same

    @property
    def finished(self) -> int:
        """Items of this run, whether they went well or failed."""
        return self.done + self.failed

    @property
    def left(self) -> int | None:
        return None if self.total is None else max(0, self.total - self.finished - self.skipped)


class RecentRate:
    """Items a second over the last minute, or over the whole run if the last minute finished none."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque([(0.0, 0)])

    def add(self, state: RunState) -> None:
        if state.elapsed_s - self._samples[-1][0] < SAMPLE_EVERY_S:
            return
        self._samples.append((state.elapsed_s, state.finished))
        while len(self._samples) > 2 and self._samples[1][0] <= state.elapsed_s - RECENT_S:
            self._samples.popleft()

    def per_second(self, state: RunState) -> float:
        then, finished = self._samples[0]
        if state.elapsed_s > then and state.finished > finished:
            return (state.finished - finished) / (state.elapsed_s - then)
        return state.finished / state.elapsed_s if state.elapsed_s > 0 else 0.0


class Progress:
    """Shows a run on `stream` while the `with` lasts.

        with Progress(total=400) as progress:
            progress.update(RunState(done=12, elapsed_s=3.5))

    `total` may be None until a state brings it.
    """

    def __init__(
        self,
        total: int | None,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._clock = clock
        self._rate = RecentRate()
        self._view: _LinesView | _TableView | None = None
        self._every_s = LINE_EVERY_S
        self._drawn_at = 0.0
        self._state: RunState | None = None

    def __enter__(self) -> Progress:
        if not self._quiet:
            self._guarded(self._open)
        return self

    def __exit__(self, *_: object) -> None:
        view, state = self._view, self._state
        if view is not None:
            self._guarded(lambda: view.end(state if state is not None else RunState()))
        self._view = None

    def update(self, state: RunState) -> None:
        """Takes the newest state; shows it if the last drawing is old enough."""
        if state.total is None and self._total is not None:
            state = replace(state, total=self._total)
        self._state = state
        self._rate.add(state)
        view = self._view
        if view is None or self._clock() - self._drawn_at < self._every_s:
            return
        self._drawn_at = self._clock()
        self._guarded(lambda: view.draw(state, self._rate.per_second(state)))

    def _open(self) -> None:
        if self._stream.isatty():
            self._view, self._every_s = _TableView(self._stream), DRAW_EVERY_S
        else:
            self._view, self._every_s = _LinesView(self._stream), LINE_EVERY_S
        self._drawn_at = self._clock()

    def _guarded(self, show: Callable[[], None]) -> None:
        try:
            show()
        except (OSError, ValueError):
            # closed pipe, closed file, or an encoding that lacks a letter: the run matters more
            view, self._view = self._view, None
            if view is not None:
                view.abandon()


class _LinesView:
    """Writes one line each time, for logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def draw(self, state: RunState, per_second: float) -> None:
        self._say(running_line(state, per_second))

    def end(self, state: RunState) -> None:
        if state.finished or state.skipped:
            self._say(last_line(state))

    def abandon(self) -> None:
        """Holds nothing."""

    def _say(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


class _TableView:
    """Draws a table that stays in place, and one line at the end."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        class Terminal(Console):
            def on_broken_pipe(self) -> None:
                raise BrokenPipeError  # rich's own answer is to end the program

        # forced: if the terminal goes away, writing must fail, not go silent while rich holds sys.stderr
        console = Terminal(file=stream, force_terminal=True)
        # stdout is left alone: it may be a pipe that someone reads
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
        self._live.start()
        self._console = console

    def draw(self, state: RunState, per_second: float) -> None:
        self._live.update(_picture(state, per_second), refresh=True)

    def end(self, state: RunState) -> None:
        self._live.stop()
        if state.finished or state.skipped:
            self._console.print(last_line(state), highlight=False, markup=False)

    def abandon(self) -> None:
        """Releases a stream that broke. Never raises."""
        with contextlib.suppress(OSError, ValueError):
            self._live.stop()  # gives sys.stderr back before it draws a last time


def running_line(state: RunState, per_second: float) -> str:
    """ "120 of 400 pages, 2 failed, 2.13 pages/s, about 2 min 10 s left; waiting: recognise 12"."""
    parts = [_reached(state), *_mishaps(state), f"{phrases.rate(per_second)} {state.unit}s/s"]
    if left := _time_left(state, per_second):
        parts.append(f"{'over' if state.more_to_find else 'about'} {left} left")
    if bill := _bill(state, per_second):
        parts.append(bill)
    waiting = ", ".join(f"{stage.name} {stage.waiting}" for stage in state.stages if stage.waiting)
    return ", ".join(parts) + (f"; waiting: {waiting}" if waiting else "")


def last_line(state: RunState) -> str:
    """ "400 of 400 pages, 2 failed, in 3 min 5 s (2.16 pages/s)"."""
    line = ", ".join([_reached(state), *_mishaps(state), f"in {phrases.duration(state.elapsed_s)}"])
    if state.finished and state.elapsed_s > 0:
        line += f" ({phrases.rate(state.finished / state.elapsed_s)} {state.unit}s/s)"
        if bill := _bill(state, state.finished / state.elapsed_s):
            line += f", {bill}"
    return line


def _bill(state: RunState, per_second: float) -> str:
    """Returns what the run costs, where there is a price."""
    if not state.price:
        return ""
    bill = Bill.of(state.price, state.elapsed_s, per_second, state.left, state.spent_before)
    return bill.sentence(state.unit)


def _reached(state: RunState) -> str:
    reached = phrases.count(state.finished + state.skipped)
    more = "+" if state.more_to_find else ""
    of_all = "" if state.total is None else f" of {phrases.count(state.total)}{more}"
    return f"{reached}{of_all} {_units(state)}"


def _units(state: RunState) -> str:
    """ "page" after "1 of 1" and after "1"; "pages" after all other numbers."""
    counted = state.finished + state.skipped if state.total is None else state.total
    return state.unit if counted == 1 and not state.more_to_find else f"{state.unit}s"


def _mishaps(state: RunState) -> list[str]:
    said = [f"{phrases.count(state.failed)} failed"] if state.failed else []
    return said + ([f"{phrases.count(state.skipped)} done before"] if state.skipped else [])


def _time_left(state: RunState, per_second: float) -> str:
    if not state.left or per_second <= 0:
        return ""
    return phrases.duration(state.left / per_second)


def _picture(state: RunState, per_second: float) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding

    rows: list[RenderableType] = [_head(state), _figures(state, per_second)]
    if state.stages:
        rows.append(_stages(state.stages))
    # not as wide as the terminal: a ^C behind a full line would begin another, which nobody takes away
    return Padding(Group(*rows), (0, 1), expand=False)


def _head(state: RunState) -> RenderableType:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    reached = state.finished + state.skipped
    bar = ProgressBar(
        total=state.total,
        completed=reached,
        width=BAR_COLUMNS,
        pulse=state.total is None,
        complete_style="cyan",
        finished_style="cyan",
        pulse_style="cyan",
    )
    head = Table.grid(padding=(0, 2))
    head.add_row(bar, _reached(state))
    return head


def _figures(state: RunState, per_second: float) -> RenderableType:
    from rich.text import Text

    line = Text(f"{phrases.rate(per_second)} {state.unit}s/s", style="bold")
    if left := _time_left(state, per_second):
        line.append(f"  {'over ' if state.more_to_find else ''}{left} left", style="not bold")
    if bill := _bill(state, per_second):
        line.append(f"  {bill}", style="not bold")
    if state.skipped:
        line.append(f"  {phrases.count(state.skipped)} done before", style="not bold dim")
    if state.failed:
        line.append(f"  {phrases.count(state.failed)} failed", style="red")
    return line


def _stages(stages: tuple[StageState, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("stage")
    for title in ("waiting", "running", "done"):
        table.add_column(title, justify="right")
    longest = max(stage.waiting for stage in stages)
    for stage in stages:
        # the longest queue stands before the stage that holds the others up
        style = "yellow" if longest > 1 and stage.waiting == longest else ""
        figures = (phrases.count(number) for number in (stage.waiting, stage.running, stage.done))
        table.add_row(stage.name, *figures, style=style)
    return table

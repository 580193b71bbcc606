"""Progress on the terminal while a pass works, and what is said of its failures at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Event, Thread
from typing import Any

from penstock.driver import Run
from penstock.passes.prepared_run import Showing
from penstock.plan import Plan
from penstock.redaction import bare_address
from penstock.sources.remote.download import is_url
from penstock.trace.phrases import plural
from penstock.trace.progress import Progress, RunState

TICK_S = 0.25
SHOWN_ENDINGS = 8


def progress(quiet: bool) -> Showing:
    """What a pass takes to draw its progress; nothing where `quiet`."""
    return partial(_drawn, quiet=quiet)


@contextmanager
def _drawn(run: Run[Any], quiet: bool) -> Iterator[None]:
    """Draws the run's progress from a thread of its own while the block works."""
    ended = Event()
    began = time.monotonic()
    with Progress(None, quiet=quiet) as display:

        def tick() -> None:
            while not ended.wait(TICK_S):
                display.update(_state(run, time.monotonic() - began))

        thread = Thread(target=tick, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(2.0)
            display.update(_state(run, time.monotonic() - began))


def _state(run: Run[Any], elapsed_s: float) -> RunState:
    tally = run.tally
    return RunState(
        done=tally.done,
        failed=tally.failed,
        skipped=tally.skipped,
        total=tally.total,
        more_to_find=not tally.is_total_final,
        stages=run.executor.depths(),
        elapsed_s=elapsed_s,
        unit=run.plan.item.unit,
        price=run.an_hour,
        spent_before=run.spent_before,
    )


def tell_addresses(inputs: Iterable[str], quiet: bool) -> None:
    """What comes from the network may take a while: a sign of work on standard error."""
    for address in () if quiet else filter(is_url, inputs):
        with suppress(ValueError):  # an address that is none: the listing says so
            print(f"reading {bare_address(address)}", file=sys.stderr, flush=True)


def tell_notes(plan: Plan, quiet: bool) -> None:
    """What was decided for this machine, on standard error."""
    for note in () if quiet else plan.notes:
        print(note, file=sys.stderr, flush=True)


def tell_failures(run: Run[Any], more_in: str) -> None:
    """The first failures on standard error, and how to try them again."""
    tally = run.tally
    told = [*tally.failures, *tally.failed_parts]
    for place, reason in told:
        # most reasons name their file, and the page if there are several
        named = reason.startswith(place.rpartition(" page ")[0] or place)
        print(f"failed: {reason}" if named else f"failed: {place}: {reason}", file=sys.stderr)
    untold = tally.failed + tally.failed_regions - len(told)
    if untold:
        print(f"failed: and {untold} more, in {more_in}", file=sys.stderr)
    if advice := _retry_advice(run):
        print(advice, file=sys.stderr)


def _retry_advice(run: Run[Any]) -> str:
    """Returns how to read again what failed; "" where all is well or nothing can help."""
    outlooks = set() if run.tally.all_well else run.outlooks()
    if "retry" in outlooks:
        return "Run the same command with --retry-failed to try what failed again."
    if "other_call" in outlooks:
        return "Once the option is given or the package is there, --retry-failed reads it again."
    return ""


def tell_left_out(run: Run[Any]) -> None:
    """What was in the folders and is of no kind that Penstock reads: once, by ending."""
    left_out = run.tally.left_out
    if not left_out:
        return
    shown = [f"{ending} {count}" for ending, count in left_out.most_common(SHOWN_ENDINGS)]
    more = ", ..." if len(left_out) > SHOWN_ENDINGS else ""
    files = plural(left_out.total(), "file")
    print(f"left out: {files} of other kinds ({', '.join(shown)}{more})", file=sys.stderr)

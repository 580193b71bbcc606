"""Keeps a run's spans in a file, and turns that file into a trace for chrome://tracing or ui.perfetto.dev.

`SpanLog` is the sink of a `Trace`: it writes one JSON line a span, buffered, up to a maximal size.
`write_trace` writes Chrome's format: one row for each worker, grouped by stage, below the load of the
cards and the queues of the servers if the run was watched.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from penstock.errors import StoreError, UsageError
from penstock.trace.profile import Curve, Profile
from penstock.trace.spans import Span

NAME = "trace.jsonl"
BUFFER = 1 << 20
MAX_BYTES = 1 << 30  # some ten million spans, a million pages; no viewer opens more
COLOURS = {  # names that chrome://tracing knows
    "run": "thread_state_running",
    "open": "startup",
    "starved": "thread_state_sleeping",
    "blocked": "thread_state_iowait",
}
US = 1e6
Event = dict[str, object]  # one line of Chrome's JSON


class SpanLog:
    """Writes the spans it is called with, from any thread. Never ends a run.

    with SpanLog(out / "trace.jsonl") as log:
        trace = Trace(sink=log)

    It opens the file with the first span: by then the run holds its folder's lock and has cleared it.
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float] = time.perf_counter,
        max_bytes: int = MAX_BYTES,
        claim: Callable[[], None] | None = None,
    ) -> None:
        """`claim` is called before the file is opened, and raises StoreError where it is somebody else's."""
        self.dropped = 0
        self.trouble = ""  # why spans are missing, if not for the maximal size
        self._path = path
        self._claim = claim
        self._zero = clock()
        self._room = max_bytes
        self._lock = threading.Lock()
        self._file: IO[str] | None = None

    def __enter__(self) -> SpanLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, span: Span) -> None:
        start, seconds = round(span.start - self._zero, 6), round(span.seconds, 6)
        line = json.dumps(
            [span.stage, span.worker, span.kind, start, seconds, span.items], ensure_ascii=False
        )
        with self._lock:
            if self._room < len(line) + 1:
                self.dropped += 1
                return
            self._room -= len(line) + 1
            try:
                self._opened().write(line + "\n")
            except (OSError, StoreError) as exc:
                self._give_up(exc)

    def close(self) -> None:
        """Safe to call twice. Later spans count as dropped."""
        with self._lock:
            file, self._file, self._room = self._file, None, 0
            try:
                if file is not None:
                    file.close()
            except OSError as exc:
                self._give_up(exc)

    def _opened(self) -> IO[str]:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._claim is not None:
                self._claim()
            self._file = self._path.open("w", encoding="utf-8", buffering=BUFFER)
        return self._file

    def _give_up(self, exc: OSError | StoreError) -> None:
        """Stops writing. The writer of the pages raises for a full disk; a trace only notes it."""
        self.dropped += 1
        reason = exc.message if isinstance(exc, StoreError) else f"{exc.strerror or exc}."
        self.trouble = f"Cannot write {self._path}: {reason}"
        self._room = 0


def write_trace(folder: Path, target: Path, profile: Profile | None = None) -> int:
    """Writes `target` from the spans in `folder`, whole or not at all. Returns the number of spans."""
    source = folder / NAME
    if not source.is_file():
        raise UsageError(f"{folder} holds no {NAME}.", "Run `penstock parse` with --trace to get one.")
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    count = 0
    try:
        with source.open(encoding="utf-8") as lines, scratch.open("x", encoding="utf-8") as out:
            out.write('{"displayTimeUnit":"ms","traceEvents":[\n')
            rows = _TraceRows()
            for span in _spans(lines):
                count += 1
                out.writelines(_line(event) for event in rows.events(*span))
            out.writelines(_line(event) for event in _counters(profile or Profile()))
            out.write('{"ph":"M","pid":0,"name":"process_name","args":{"name":"machine"}}\n]}\n')
        scratch.replace(target)
    except OSError as exc:
        scratch.unlink(missing_ok=True)
        raise StoreError(f"Cannot write {target}: {exc.strerror or exc}.") from exc
    return count


def _spans(lines: IO[str]) -> Iterator[tuple[str, str, str, float, float, int]]:
    """Skips lines that are not whole: a killed run leaves half of its last one."""
    for line in lines:
        try:
            stage, worker, kind, start, seconds, items = json.loads(line)
            yield str(stage), str(worker), str(kind), float(start), float(seconds), int(items)
        except (ValueError, TypeError):
            continue


class _TraceRows:
    """Numbers stages and workers as they appear, and names each in the trace once."""

    def __init__(self) -> None:
        self._stages: dict[str, int] = {}
        self._workers: dict[tuple[str, str], int] = {}

    def events(
        self, stage: str, worker: str, kind: str, start: float, seconds: float, items: int
    ) -> Iterator[Event]:
        if stage not in self._stages:
            self._stages[stage] = len(self._stages) + 1
            yield _meta("process_name", self._stages[stage], name=stage)
            yield _meta("process_sort_index", self._stages[stage], sort_index=self._stages[stage])
        pid = self._stages[stage]
        if (stage, worker) not in self._workers:
            self._workers[stage, worker] = len(self._workers) + 1
            yield {**_meta("thread_name", pid, name=worker), "tid": self._workers[stage, worker]}
        event: Event = {
            "ph": "X", "pid": pid, "tid": self._workers[stage, worker], "name": kind, "cat": stage,
            "ts": round(start * US, 1), "dur": round(seconds * US, 1), "cname": COLOURS.get(kind, "grey"),
        }  # fmt: skip
        yield {**event, "args": {"items": items}} if items else event


def _meta(name: str, pid: int, /, **args: object) -> Event:
    return {"ph": "M", "pid": pid, "name": name, "args": args}


def _counters(profile: Profile) -> Iterator[Event]:
    if gpu := profile.gpu:
        for card, load in zip(gpu.cards, gpu.timeline.load, strict=False):
            yield from _counter(f"GPU {card.index} load, %", gpu.timeline.bin_s, _percents(load))
    if profile.servers:
        time = profile.servers.timeline
        yield from _counter("requests running", time.bin_s, time.running)
        yield from _counter("requests waiting", time.bin_s, time.waiting)
        for place, use in enumerate(time.kv):
            yield from _counter(f"KV cache {place}, %", time.bin_s, _percents(use))


def _counter(name: str, bin_s: float, values: Curve) -> Iterator[Event]:
    for place, value in enumerate(values):
        if value is not None:
            yield {"ph": "C", "pid": 0, "name": name, "ts": place * bin_s * US, "args": {"value": value}}


def _percents(shares: Curve) -> Curve:
    return tuple(None if share is None else round(share * 100, 1) for share in shares)


def _line(event: Event) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")) + ",\n"

"""A run's spans as a file, and that file as a trace for chrome://tracing or ui.perfetto.dev.

`SpanLog` is the sink of a `Trace`: one JSON line a span, buffered, with an upper limit on its size.
`write_trace` turns the lines into Chrome's format: a row of time for each worker, grouped by stage, with
the cards' load and the servers' queues above where the run was watched.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from penstock.errors import StoreError, UsageError
from penstock.trace.spans import Span

NAME = "trace.jsonl"
BUFFER = 1 << 20
MOST_BYTES = 1 << 30  # some ten million spans, a million pages; no viewer opens more
COLOURS = {  # names that chrome://tracing knows
    "run": "thread_state_running",
    "open": "startup",
    "starved": "thread_state_sleeping",
    "blocked": "thread_state_iowait",
}
US = 1e6


class SpanLog:
    """Call it with each span, from any thread; close it, or use it in a `with`. Never ends a run.

    with SpanLog(out / "trace.jsonl") as log:
        trace = Trace(sink=log)

    The file is opened with the first span, when the run holds its folder's lock and has cleared it.
    """

    def __init__(
        self, path: Path, clock: Callable[[], float] = time.perf_counter, most_bytes: int = MOST_BYTES
    ) -> None:
        self.dropped = 0
        self.trouble = ""  # why spans are missing, when it was not their number
        self._path = path
        self._zero = clock()
        self._room = most_bytes
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
            except OSError as exc:
                self._give_up(exc)

    def close(self) -> None:
        """Safe to call twice. Spans that come later are counted as dropped."""
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
            self._file = self._path.open("w", encoding="utf-8", buffering=BUFFER)
        return self._file

    def _give_up(self, exc: OSError) -> None:
        """A full disk, say: the pages' own writer raises it, a trace only tells."""
        self.dropped += 1
        self.trouble = f"Cannot write {self._path}: {exc.strerror or exc}."
        self._room = 0


def write_trace(folder: Path, target: Path, profile: Mapping[str, Any] | None = None) -> int:
    """Writes `target` from the spans in `folder`; gives their number. Replaces it whole or not at all."""
    source = folder / NAME
    if not source.is_file():
        raise UsageError(f"{folder} holds no {NAME}.", "Run `penstock parse` with --trace to get one.")
    scratch = target.with_name(f".{target.name}.tmp")
    count = 0
    try:
        with source.open(encoding="utf-8") as lines, scratch.open("w", encoding="utf-8") as out:
            out.write('{"displayTimeUnit":"ms","traceEvents":[\n')
            rows = _Rows()
            for span in _spans(lines):
                count += 1
                out.writelines(_line(event) for event in rows.events(*span))
            out.writelines(_line(event) for event in _counters(profile or {}))
            out.write('{"ph":"M","pid":0,"name":"process_name","args":{"name":"machine"}}\n]}\n')
        scratch.replace(target)
    except OSError as exc:
        scratch.unlink(missing_ok=True)
        raise StoreError(f"Cannot write {target}: {exc.strerror or exc}.") from exc
    return count


def _spans(lines: IO[str]) -> Iterator[tuple[str, str, str, float, float, int]]:
    """Those of whole lines: a run that was killed leaves half of its last."""
    for line in lines:
        try:
            stage, worker, kind, start, seconds, items = json.loads(line)
            yield str(stage), str(worker), str(kind), float(start), float(seconds), int(items)
        except (ValueError, TypeError):
            continue


class _Rows:
    """Numbers stages and workers as they appear, and names each in the trace once."""

    def __init__(self) -> None:
        self._stages: dict[str, int] = {}
        self._workers: dict[tuple[str, str], int] = {}

    def events(
        self, stage: str, worker: str, kind: str, start: float, seconds: float, items: int
    ) -> Iterator[dict[str, Any]]:
        if stage not in self._stages:
            self._stages[stage] = len(self._stages) + 1
            yield _meta("process_name", self._stages[stage], name=stage)
            yield _meta("process_sort_index", self._stages[stage], sort_index=self._stages[stage])
        pid = self._stages[stage]
        if (stage, worker) not in self._workers:
            self._workers[stage, worker] = len(self._workers) + 1
            yield {**_meta("thread_name", pid, name=worker), "tid": self._workers[stage, worker]}
        event = {
            "ph": "X", "pid": pid, "tid": self._workers[stage, worker], "name": kind, "cat": stage,
            "ts": round(start * US, 1), "dur": round(seconds * US, 1), "cname": COLOURS.get(kind, "grey"),
        }  # fmt: skip
        yield {**event, "args": {"items": items}} if items else event


def _meta(name: str, pid: int, /, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "pid": pid, "name": name, "args": args}


def _counters(profile: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    gpu, servers = profile.get("gpu") or {}, profile.get("servers") or {}
    lines = {}
    for place, load in enumerate(gpu.get("timeline", {}).get("load", ())):
        card = gpu["cards"][place]["index"]
        lines[f"GPU {card} load, %"] = (gpu["timeline"]["bin_s"], [_percent(each) for each in load])
    for name in ("running", "waiting"):
        if servers:
            lines[f"requests {name}"] = (servers["timeline"]["bin_s"], servers["timeline"][name])
    for place, use in enumerate(servers.get("timeline", {}).get("kv", ())):
        lines[f"KV cache {place}, %"] = (servers["timeline"]["bin_s"], [_percent(each) for each in use])
    for name, (bin_s, values) in lines.items():
        for place, value in enumerate(values):
            if value is not None:
                yield {"ph": "C", "pid": 0, "name": name, "ts": place * bin_s * US, "args": {"value": value}}


def _percent(share: float | None) -> float | None:
    return None if share is None else round(share * 100, 1)


def _line(event: Mapping[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")) + ",\n"

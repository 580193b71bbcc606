"""`--dry-run`: what a run would do, about how long it would take and how much disk."""

from __future__ import annotations

import json
from collections.abc import Iterable

from penstock.driver import Run
from penstock.page import Page
from penstock.processes.resources import cores
from penstock.sizes import MB, file_size
from penstock.sources import formats
from penstock.store import manifest
from penstock.store.ledger import Ledger
from penstock.trace import cost, report
from penstock.trace.phrases import duration, plural

# Without a profile of an earlier run in OUT: a scanned page on one core with the built-in models, and
# what a page leaves on disk with its crops. Both from benchmarks/cpu/bench_parse.py, see docs/log.md.
SECONDS_A_PAGE_AND_CORE = 5.0
SECONDS_A_UNIT_AND_CORE = 0.07  # of files that say themselves what they hold, 337 rows of 218 sample files
BYTES_A_PAGE = 120_000


def forecast(run: Run[Page], listing: Iterable[Page], as_json: bool) -> str:
    entries = Ledger(run.out, run.rows).entries() if run.out.is_dir() else {}
    manifest.check(run.out, run.plan)
    documents: set[str] = set()
    done = todo = units = broken = 0
    for item in listing:
        documents.add(item.document)
        known = item.id in entries and not run.fresh
        done, todo = done + known, todo + (not known)
        units += not known and item.media in formats.STRUCTURES
        broken += item.failure is not None
    seconds = _seconds_for(run, todo, units)
    facts = {
        "plan": run.plan.describe().splitlines(),
        "documents": len(documents),
        "pages": done + todo,
        "done": done,
        "todo": todo,
        "unreadable": broken,
        "seconds": round(seconds),
        "disk_mb": round(todo * BYTES_A_PAGE / MB),
    }
    if as_json:
        return json.dumps(facts, ensure_ascii=False)
    return (
        f"{run.plan.describe()}\n\n"
        f"{plural(len(documents), 'document')}, {plural(done + todo, 'page')}: {done} done,"
        f" {todo} to do, {broken} unreadable.\n"
        f"About {duration(seconds)}, and {file_size(todo * BYTES_A_PAGE)} of disk. Nothing was run."
    )


def _seconds_for(run: Run[Page], todo: int, units: int) -> float:
    if todo and (run.out / "profile.json").is_file():
        as_before = cost.seconds_for(report.read(run.out), todo)
        if as_before is not None:
            return as_before
    return ((todo - units) * SECONDS_A_PAGE_AND_CORE + units * SECONDS_A_UNIT_AND_CORE) / cores()

"""The driver: lists, leaves out what is done, runs the plan, commits what comes back.

It is the only writer of OUT, and holds OUT's lock while it works. Stop it anywhere, by Ctrl-C or by
kill -9, and run it again: every page is there once.
"""

from __future__ import annotations

import contextlib
import datetime
import logging
import resource
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Generic, cast

from penstock.errors import Failure, Outlook
from penstock.executors.base import Executor
from penstock.item import Item
from penstock.page import Page
from penstock.plan import Plan
from penstock.processes.hardware import hardware
from penstock.sources.remote.brought import BringObjects
from penstock.sources.remote.objects import counts_on
from penstock.stage import ItemT
from penstock.store import manifest
from penstock.store.atomic_files import clear_tmp
from penstock.store.ledger import Entry, Ledger, ShardWriter
from penstock.store.lock import holding
from penstock.store.ownership import claim_folder
from penstock.store.remote import bring_ledger, mirror_of, refuse_fresh
from penstock.store.schema import Rows
from penstock.store.source_order import RANKS, ListedDocuments, note_file, write_order, write_rank_order
from penstock.store.written_there import ShardsThere
from penstock.trace.cost import Bill, Price
from penstock.trace.profile import HardwareFacts, Profile

log = logging.getLogger(__name__)


@dataclass
class Tally:
    """What a run has done so far; the progress display and the summary read it."""

    done: int = 0
    failed: int = 0
    regions: int = 0
    failed_regions: int = 0
    copied: int = 0  # of the done: pages of files that have the bytes of another
    readers: Counter[str] = field(default_factory=Counter)  # pages by the reader that was chosen for each
    skipped: int = 0
    failed_before: int = 0  # of the skipped: pages that failed, wholly or in a region
    listed: int = 0
    listing: bool = True
    found: int = 0  # items that a listing ahead of the run has found
    finding: bool = True
    failures: list[tuple[str, str]] = field(default_factory=list)  # the first few: (page, sentence)
    failed_parts: list[tuple[str, str]] = field(default_factory=list)  # and of those inside pages
    left_out: Counter[str] = field(default_factory=Counter)  # endings of files that cannot be read
    outlooks: set[Outlook] = field(default_factory=set)  # what may help against the failures

    def count(self, item: Item) -> None:
        if isinstance(item, Page):
            self.regions += len(item.regions)
            self.readers.update([item.choice.reader] if item.choice else ())
        for name, failure in item.failed_parts():
            self.failed_regions += 1
            self.outlooks.add(failure.outlook)
            _log_failure(logging.WARNING, item, failure, f", {name},")
            _note(self.failed_parts, f"{item.place}, {name}", failure)
        if item.failure is None:
            self.done += 1
            return
        self.failed += 1
        self.outlooks.add(item.failure.outlook)
        _log_failure(logging.ERROR, item, item.failure)
        _note(self.failures, item.place, item.failure)

    def find(self) -> None:
        self.found += 1

    def find_no_more(self) -> None:
        self.finding = False

    @property
    def total(self) -> int | None:
        """All items of the inputs that are known by now; None where they are not listed ahead."""
        return self.listed if not self.listing else self.found or None

    @property
    def is_total_final(self) -> bool:
        return not (self.listing and self.finding)

    def facts(self) -> dict[str, int]:
        """The numbers, for a log."""
        names = ("done", "failed", "failed_regions", "skipped", "failed_before", "listed")
        return {name: getattr(self, name) for name in names}

    @property
    def all_well(self) -> bool:
        return self.failed == self.failed_regions == self.failed_before == 0


OF_A_COPY = ("id", "uri", "document", "attempt")  # what a copy's row does not take from the other's
SHOWN_FAILURES = 20
MAX_LOOKED_AT = 1000  # rows of earlier failures: a sentence at the end must not take longer than the run


def _note(notes: list[tuple[str, str]], what: str, failure: Failure) -> None:
    if len(notes) < SHOWN_FAILURES:
        notes.append((what, f"{failure.message} {failure.advice}".rstrip()))


def _log_failure(level: int, item: Item, failure: Failure, part: str = "") -> None:
    reason = f"{failure.message} {failure.advice}".rstrip()
    log.log(
        level,
        "%s %s (%s)%s failed in %s: %s: %s",
        item.unit, item.id, item.place, part, failure.stage, failure.kind, reason,
        extra={"item": item.id, "place": item.place, "stage": failure.stage, "kind": failure.kind,
               "reason": reason, "attempt": item.attempt},
    )  # fmt: skip


@dataclass
class Run(Generic[ItemT]):
    """One run of a plan into OUT.

    run = Run(plan, executor, out, PAGES)
    for page in run.items(listing):
        ...
    run.tally.failed

    A later pass over the same pages (embedding, ...) names a folder below OUT as its `home`: its own
    ledger and run.json, under OUT's lock. `rows` is how its items are written there. On the feeding thread
    `on_skip` gets the place of the row of each item that is done already, and `before_item` is called before
    each other item sets out. Items that are `aside` pass the stages and are yielded like others, but not
    counted or written. `on_row` gets the id of each item whose row is committed, or that needs no reading.

    With a `rank`, other ranks may write to OUT at the same time, each with items of its own: all rows go to
    one ledger, run.json, order and profile of this run to OUT/ranks. `documents` are those listed.
    With a `price`, run.json tells the cost.
    """

    plan: Plan
    executor: Executor
    out: Path
    rows: Rows[ItemT]
    retry_failed: bool = False
    fresh: bool = False
    facts: dict[str, Any] = field(default_factory=dict)  # for run.json: inputs and options
    tally: Tally = field(default_factory=Tally)
    home: str = ""
    on_skip: Callable[[Entry], None] | None = None
    before_item: Callable[[], object] = lambda: None
    on_row: Callable[[str], object] = lambda _: None
    aside: Callable[[ItemT], bool] = lambda _: False
    rank: str = ""
    documents: ListedDocuments = field(default_factory=ListedDocuments)
    price: Price | None = None
    spent_before: float = field(default=0.0, init=False)  # by earlier runs of the same into OUT
    _copies: list[ItemT] = field(default_factory=list, init=False, repr=False)
    _cpu_began: float = field(default_factory=lambda: _cpu_s(), init=False)
    _is_written_there: bool = field(default=False, init=False, repr=False)
    _writer: ShardWriter[ItemT] | None = field(default=None, init=False, repr=False)

    def items(self, listing: Iterable[ItemT]) -> Generator[ItemT, None, None]:
        """Yields each item this run finishes, committed or about to be."""
        folder = self.out / self.home
        self._cpu_began = _cpu_s()
        manifest.refuse_others(folder, self.fresh)
        with holding(self.out, self.rank):
            self._begin(folder)
            self._log_begin(folder)
            entries = self._ledger().entries()
            self._is_written_there = self._let_machines_write()
            self.executor.fetch_on_machines(BringObjects())
            writer = ShardWriter(
                folder, self.rows, on_commit=self._publish, rank=self.rank, on_row=self.on_row
            )
            self._writer = writer
            stream = self.executor.stream(self.plan, self._todo(listing, entries))
            finished = False
            try:
                # closing ends the executor's threads and processes, also when we are interrupted
                with contextlib.closing(stream):
                    for item in cast(Iterator[ItemT], stream):  # an executor gives back what it was given
                        if self.aside(item):
                            yield item
                            continue
                        self.tally.count(item)
                        if self.executor.has_written(item):
                            self.on_row(item.id)
                            yield item
                        else:
                            yield writer.add(item)
                if self._is_written_there:
                    bring_ledger(self.out)  # not their crops: few exports need more than the names
                for item in self._copied(writer):
                    self.tally.count(item)
                    yield writer.add(item)
                if self.price is None:
                    self._write_manifest(finished=_now())
                finished = True
            finally:
                writer.commit()
                if self.price is not None:
                    self._write_manifest(finished=_now() if finished else None)
                self._log_end(folder, finished)
                self._end(folder)

    @cached_property
    def _this_machine(self) -> HardwareFacts:
        return HardwareFacts.of(hardware())

    @property
    def _machines(self) -> tuple[HardwareFacts, ...]:
        return self.executor.machines() or (self._this_machine,)

    @property
    def an_hour(self) -> float:
        """The price of an hour of the cards of all machines at work; 0 where no price is known."""
        return sum(self.price.of(machine.gpus) for machine in self._machines) if self.price else 0.0

    def bill(self) -> Bill:
        """Returns what the runs of this into OUT have cost by now."""
        seconds = self.executor.trace.clock() - self.executor.trace.began
        rate = (self.tally.done + self.tally.failed) / seconds if seconds > 0 else 0.0
        total = self.tally.total
        left = total - self.tally.done - self.tally.failed - self.tally.skipped if total is not None else None
        return Bill.of(self.an_hour, seconds, rate, left, self.spent_before)

    @property
    def own_folder(self) -> Path:
        """Where the profile of this run lies, and what describes it."""
        return self.out / RANKS / self.rank if self.rank else self.out / self.home

    def _let_machines_write(self) -> bool:
        """Returns whether the machines of a cluster write their own rows, which needs OUT on a store."""
        mirror = mirror_of(self.out)
        if mirror is None or self.home or self.rank:
            return False
        return self.executor.write_on_machines(ShardsThere(mirror.address, self.rows))

    def _ledger(self) -> Ledger[ItemT]:
        return Ledger(self.out / self.home, self.rows, rank=self.rank)

    def _publish(self, files: list[Path]) -> None:
        if mirror := mirror_of(self.out):
            mirror.create(files)

    def _begin(self, folder: Path) -> None:
        if self.own_folder != self.out:
            claim_folder(self.out, self.own_folder)
        if self.price is not None and not self.fresh:
            self.spent_before = manifest.spent(self.own_folder)
        if self.rank:
            manifest.join(folder, self.plan, **self._facts(), finished=None)
        else:
            refuse_fresh(self.out, self.fresh)
            if self.fresh:
                manifest.start_over(folder)
            manifest.check(folder, self.plan)
            clear_tmp(folder)
        self._write_manifest(finished=None)

    def _end(self, folder: Path) -> None:
        if self.rank:
            write_rank_order(self.own_folder, self.documents, counts_on)
        elif not self.home:
            write_order(self.out, self.documents.files, counts_on)
        if not self.rank:  # what is half-written may be another rank's, on another machine
            clear_tmp(folder)

    def outlooks(self) -> set[Outlook]:
        """Returns what may help against the failures of this run and of those before it."""
        found = set(self.tally.outlooks)
        if self.tally.failed_before:
            ledger = self._ledger()
            failed = (entry for entry in ledger.entries().values() if entry.incomplete)
            for entry in islice(failed, MAX_LOOKED_AT):
                failure = ledger.item(entry).failure
                found.add("retry" if failure is None else failure.outlook)  # a part of it failed
        return found

    def commit(self) -> None:
        """Publishes what is finished, for a caller of `items` who knows that nothing comes for a while."""
        if self._writer is not None:
            self._writer.commit()

    def profile(self) -> Profile:
        """Returns the executor's profile with what only the driver knows."""
        return replace(
            self.executor.trace.profile(self.executor.infos(self.plan)),
            started=self.facts.get("started", _now()),
            items=self.tally.done,
            failed=self.tally.failed,
            skipped=self.tally.skipped,
            regions=self.tally.regions,
            readers=dict(self.tally.readers),
            unit=self.plan.item.unit,
            executor=self.executor.name,
            command=manifest.command(),
            hardware=HardwareFacts.together(self._machines),
            peak_rss_mb=peak_rss_mb(),
            # on other machines we cannot see it
            cpu_s=_cpu_s() - self._cpu_began if self.executor.on_this_machine else None,
        )

    def _todo(self, listing: Iterable[ItemT], entries: dict[str, Entry]) -> Iterator[ItemT]:
        for item in listing:
            if self.aside(item):
                yield item
                continue
            note_file(self.documents.files, item)
            self.tally.listed += 1
            entry = entries.get(item.id)
            if entry is not None and self.retry_failed and entry.incomplete:
                item = replace(item, attempt=entry.attempt + 1)
            if entry is None or item.attempt > entry.attempt:  # a pass's input may have changed since
                if not item.copy_of:
                    self.before_item()
                    yield item
                else:
                    self._copies.append(item)
                    self.on_row(item.id)
            else:
                self.on_row(item.id)
                self.tally.skipped += 1
                self.tally.failed_before += entry.incomplete
                if self.on_skip is not None:
                    self.on_skip(entry)
        self.tally.listing = False

    def _copied(self, writer: ShardWriter[ItemT]) -> Iterator[ItemT]:
        """Yields a row for each page of a copy, from that of the file which was read. One whose page was not
        read has none yet."""
        if not self._copies:
            return
        writer.commit()
        ledger = self._ledger()
        entries = ledger.entries()
        for copy in self._copies:
            if (entry := entries.get(copy.copy_of)) is not None:
                own = {name: getattr(copy, name) for name in OF_A_COPY}
                self.tally.copied += 1
                yield replace(ledger.item(entry), **own)

    def _log_begin(self, folder: Path) -> None:
        name, print_ = self.plan.name, self.plan.fingerprint()
        log.info(
            "run of %s (%s) into %s by %s", name, print_, folder, self.executor.name,
            extra={"recipe": name, "fingerprint": print_, "out": str(folder), "plan": self.plan.settings()},
        )  # fmt: skip
        for stage, line in zip(self.plan, self.plan.describe().splitlines(), strict=True):
            servers = f"  servers {', '.join(stage.addresses)}" if stage.addresses else ""
            log.info("stage %s%s", " ".join(line.split()), servers, extra={"stage": stage.name})
        if self.facts:
            log.info("with %s", self.facts, extra={"facts": self.facts})

    def _log_end(self, folder: Path, finished: bool) -> None:
        counts, seconds = self.tally.facts(), self.executor.trace.clock() - self.executor.trace.began
        text = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())
        log.log(
            logging.INFO if finished else logging.WARNING,
            "run into %s %s after %.1f s: %s", folder, "ended" if finished else "was stopped", seconds, text,
            extra={"out": str(folder), "finished": finished, "seconds": round(seconds, 3), **counts},
        )  # fmt: skip

    def _write_manifest(self, finished: str | None) -> None:
        manifest.write(self.own_folder, self.plan, **self._facts(), finished=finished)

    def _facts(self) -> dict[str, Any]:
        self.facts.setdefault("started", _now())
        cost = {} if self.price is None else {"cost": self.bill().facts()}
        return {"command": manifest.command(), "executor": self.executor.name, **self.facts, **cost}


def peak_rss_mb() -> float:
    """Returns the most memory this process and its largest child have had."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kB elsewhere
    own, children = (
        resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return (own + children) * unit / 2**20


def _cpu_s() -> float:
    """Returns the CPU seconds that this process and its ended children used."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in spent)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

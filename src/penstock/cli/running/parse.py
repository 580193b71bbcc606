"""Reads documents for `penstock parse`: into a folder, to standard output, or by a service."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from penstock.cli.running.dry_run import forecast
from penstock.cli.running.progress import progress, tell_addresses, tell_failures, tell_left_out, tell_notes
from penstock.client.client import Client
from penstock.client.folder import fetch_into, page_texts
from penstock.client.remote_reading import read_remotely
from penstock.driver import Run
from penstock.errors import UsageError
from penstock.exports.export import check_formats, export
from penstock.exports.page_files import RESULTS
from penstock.exports.standard_output import page_writer
from penstock.options.option import words
from penstock.options.running import KEEPING, PRICE
from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_options, parse_pages, parse_work, without_links
from penstock.passes.prepared_run import PreparedRun
from penstock.redaction import SafeRepr, redacted
from penstock.store.arrow import leave_pandas_out
from penstock.store.leases import leased, shared_ranks
from penstock.store.ownership import claim
from penstock.trace import report
from penstock.trace.chrome import NAME, SpanLog
from penstock.trace.phrases import duration, plural
from penstock.trace.profile import Profile
from penstock.trace.spans import Trace

STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True, slots=True)
class Shown:
    """The options of the command line that say what is shown."""

    dry_run: bool
    trace: bool
    profile: bool
    as_json: bool
    quiet: bool

    @property
    def of_a_folder(self) -> dict[str, bool]:
        """Those that are of no use where nothing is kept."""
        return {
            "--dry-run": self.dry_run,
            "--trace": self.trace,
            "--profile": self.profile,
            "--json": self.as_json,
        }


@dataclass(frozen=True, slots=True)
class Reading(SafeRepr):
    """The inputs and options of one call. `given` has the options of the table by name."""

    inputs: tuple[str, ...]
    given: Mapping[str, Any]
    crop_names: str | None
    shown: Shown

    def start(self, out: Path | None, export: str, service: str | None) -> None:
        formats = words(export)
        folder = None if out == STANDARD_OUTPUT else out
        if service is not None:
            self._by_service(service, folder, formats)
        elif folder is None and self.shown.dry_run:
            with tempfile.TemporaryDirectory() as nowhere:  # as a new OUT: nothing is in it
                self._into(Path(nowhere) / "out", formats)
        elif folder is None:
            self._need_no_folder()
            _print_pages(self._options(), formats or ["md"])
        else:
            self._partitions_into(folder, formats or ["md", "jsonl"])

    def _by_service(self, url: str, out: Path | None, formats: list[str]) -> None:
        """Sends the inputs to a service, waits, and leaves the results where a run leaves its own."""
        for option in self._of_a_folder():
            raise UsageError(f"{option} cannot be combined with --service.", "Leave one of them out.")
        client = Client(url, self.given.get("api_key"))
        job = read_remotely(client, self.inputs, self.given)
        if out is not None:
            fetch_into(client, job.id, out, formats or ["md", "jsonl"])
        else:
            for text in page_texts(client, job.id, formats or ["md"]):
                print(text, flush=True)
        if not self.shown.quiet:
            print(
                f"{plural(job.done, 'page')} read by {redacted(url)}, {job.failed} failed.", file=sys.stderr
            )
        if job.failed:
            raise typer.Exit(1)

    def _need_no_folder(self) -> None:
        for option in self._of_a_folder():
            raise UsageError(f"{option} needs a folder for the results.", "Name one: -o OUT.")

    def _of_a_folder(self) -> list[str]:
        """Returns the options that were given and are of no use where nothing is kept."""
        kept = [option.flag for option in (*KEEPING, PRICE) if self.given.get(option.name)]
        return kept + [option for option, is_given in self.shown.of_a_folder.items() if is_given]

    def _partitions_into(self, out: Path, formats: list[str]) -> None:
        """Reads all that was asked for, or partitions that no other rank reads, until none is left."""
        ranks = shared_ranks(self.given.get("partition"))
        if ranks is None or self.shown.dry_run:
            self._into(out, formats)
            return
        code = 0
        with closing(leased(out, ranks)) as partitions:  # closed: a rank that is stopped gives its lease back
            for partition in partitions:
                try:
                    replace(self, given={**self.given, "partition": partition})._into(out, formats)
                except typer.Exit as ended:
                    code = max(code, ended.exit_code)
        if code:
            raise typer.Exit(code)

    def _into(self, out: Path, formats: list[str]) -> None:
        shown = self.shown
        leave_pandas_out()
        check_formats(formats)
        with _trace(out if shown.trace and not shown.dry_run else None) as spans:
            tell_addresses(self.inputs, shown.quiet or shown.as_json)
            work = parse_work(self._options(), out, spans)
            if shown.dry_run:
                print(forecast(work.run, work.listing, shown.as_json))
                return
            tell_notes(work.run.plan, shown.quiet)
            password = self.given.get("password")
            with _exported_when_stopped(work, formats, password, shown.quiet):
                profile = work.finish(progress(shown.quiet or shown.as_json))
            _finish(work, profile, formats, password, shown)

    def _options(self) -> ParseOptions:
        return parse_options(self.inputs, self.given, crop_names=self.crop_names)


def _print_pages(options: ParseOptions, formats: list[str]) -> None:
    """Prints every page in the order of the inputs. Nothing is kept: a call that was stopped begins again."""
    written, failed = page_writer(formats), 0
    with closing(
        without_links(parse_pages(options))
    ) as pages:  # closed: a reader that goes away ends the run
        for page in pages:
            if page.failure is not None:
                failed += 1
                print(f"failed: {page.failure.message}", file=sys.stderr, flush=True)
            elif text := written(page):
                print(text, flush=True)
    if failed:
        raise typer.Exit(1)


@contextmanager
def _trace(out: Path | None) -> Iterator[Trace]:
    """The run's trace, with a file in OUT that keeps every span where that was asked for."""
    if out is None:
        yield Trace()
        return
    path = out / NAME
    with SpanLog(path, claim=partial(claim, out, path)) as sink:
        yield Trace(sink=sink)
    for trouble in filter(None, (sink.trouble, f"{sink.dropped} spans left out" if sink.dropped else "")):
        print(f"trace: {trouble}", file=sys.stderr)


@contextmanager
def _exported_when_stopped(
    work: PreparedRun[Page], formats: list[str], password: str | None, quiet: bool
) -> Iterator[None]:
    """Writes the files of what is finished when Ctrl-C or SIGTERM ends the run: the rest can wait."""
    try:
        yield
    except KeyboardInterrupt:
        done = work.run.tally.done + work.run.tally.skipped
        if done and not work.run.rank:
            export(work.run.out, formats, password)
        if not quiet:
            print(f"{plural(done, work.run.plan.item.unit)} finished, in {work.run.out}", file=sys.stderr)
        raise


def _finish(
    work: PreparedRun[Page], profile: Profile, formats: list[str], password: str | None, shown: Shown
) -> None:
    """Exports, tells what happened, and sets the exit code."""
    run = work.run
    # of several ranks none knows whether it is the last
    written = export(run.out, formats, password) if run.tally.listed and not run.rank else []
    if shown.as_json:
        print(json.dumps(_summary(work, written), ensure_ascii=False))
    else:
        _tell(run, profile, written, shown)
    if not run.tally.all_well:
        raise typer.Exit(1)


def _summary(work: PreparedRun[Page], written: list[Path]) -> dict[str, Any]:
    row = asdict(work.summary())
    row["failed_regions"] = row.pop("failed_parts")
    row["failures"] = [{"page": page, "reason": reason} for page, reason in row["failures"]]
    return {**row, "written": [str(path) for path in written]}


def _tell(run: Run[Page], profile: Profile, written: list[Path], shown: Shown) -> None:
    """Failures on standard error, then what was written and in a sentence where the time went."""
    tell_failures(run, f"{run.out / 'failures'} and {RESULTS}")
    tell_left_out(run)
    if shown.quiet:
        return
    if not run.tally.done:
        print(_nothing_done(run))
    elif shown.profile:
        print(report.render_text(profile))
    else:
        print(_done(run, profile, written))
        if profile.finished >= report.FEW_ITEMS:  # fewer say nothing about the pipe
            print(report.finding(profile))


def _done(run: Run[Page], profile: Profile, written: list[Path]) -> str:
    more = f" and {len(written) - 3} more" if len(written) > 3 else ""
    files = f" {', '.join(map(str, written[:3]))}{more}." if written else ""
    later = f" When all ranks are done: penstock export {run.out}" if run.rank else ""
    copied = f", {run.tally.copied} of them copies" if run.tally.copied else ""
    pages = plural(run.tally.done, run.plan.item.unit)
    return f"{pages} read in {duration(profile.seconds)}{copied}.{files}{later}"


def _nothing_done(run: Run[Page]) -> str:
    tally, unit = run.tally, run.plan.item.unit
    if tally.failed:
        return (
            f"Nothing could be read: {plural(tally.failed, f'{unit} or file', f'{unit}s or files')} failed."
        )
    failed = f"; {tally.failed_before} of them failed before" if tally.failed_before else ""
    return f"Nothing to do: {plural(tally.skipped, unit)} done before{failed}."

"""Lists the pages of everything a user named, as items without pixels, in source order.

A file that cannot be read becomes one item with its failure, and the listing goes on. A process that can be
killed counts the pages of files that may have several; a PNG or JPEG is one page and needs no count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO

from penstock.choices import OfficeUse
from penstock.errors import Failure, ItemError, UsageError
from penstock.item import Item
from penstock.plugins import load, with_installed
from penstock.processes.resources import cores
from penstock.sources import formats
from penstock.sources.archives.listing import ArchiveListing
from penstock.sources.datasets import DatasetListing
from penstock.sources.duplicates import Duplicates
from penstock.sources.files import Candidate, FileInspector
from penstock.sources.folders import Dataset
from penstock.sources.ids import safe_document
from penstock.sources.inputs import Begin, End, Entry, FoundFile, expand
from penstock.sources.page_range import MAX_PAGES, PageRange
from penstock.sources.partition import ALL, Partition
from penstock.sources.printing import Printer
from penstock.sources.probe import MAX_AT_ONCE, STAGE, FileCounter, PageCounter, as_failure
from penstock.sources.probe_questions import PartCount
from penstock.sources.remote.kept_downloads import KeptDownloads
from penstock.sources.remote.side_by_side import MAX_AT_ONCE as FETCHED_AT_ONCE
from penstock.sources.remote.side_by_side import side_by_side
from penstock.stage import ItemT

Looked = Candidate | Dataset | Begin | End | None
ONE_PART = PartCount(1, 1)
MAX_HELD = 1000  # inputs that are not there, at the beginning: more are no slip in one call
PRINTING = ("pages", "both")  # words of --office for which files are printed
ITEM_FIELDS = tuple(field.name for field in fields(Item))

# sources by scheme: "toy:rest" lists what the function of "toy" yields for "rest". Opened when asked for.
SOURCES: dict[str, str] = {}


def list_items(
    inputs: Sequence[str],
    kind: type[ItemT],
    *,
    pages: PageRange | None = None,
    password: str | None = None,
    image_column: str | None = None,
    id_column: str | None = None,
    max_pages: int = MAX_PAGES,
    known: Mapping[str, Collection[str]] | None = None,
    stdin: IO[bytes] | None = None,
    left_out: Counter[str] | None = None,
    downloads: Path | None = None,
    counter: PageCounter | None = None,
    partition: Partition = ALL,
    on_document: Callable[[str, tuple[int, int]], object] = lambda *_: None,
    office: OfficeUse = "auto",
    dedup: bool = False,
    kept: KeptDownloads | None = None,
) -> Iterator[ItemT]:
    """Yields every page of the inputs as an item of `kind`. Raises UsageError at once if there is none.

    A document with more than `max_pages` is listed up to there, and fails for the rest. `known` holds the
    files of earlier runs by document name. `left_out` gets the endings of files in folders that are of no
    kind that Penstock reads. `downloads` keeps what comes from http(s) addresses. `counter` is the caller's
    own, for many small listings: its process takes longer to start than to count. Only documents that fall to
    `partition` are listed, and rows of data sets; `on_document` gets the name of each and its place among the
    inputs, which is the same on every rank.
    `kept` bounds what is fetched: files whose pages it knows as done are then not fetched to be counted.
    With `dedup`, a page of a file with the bytes of an earlier one names that one's page as `copy_of`.

    for page in list_items(["scans/", "report.pdf", "more/**/*.png"], Page, pages=PageRange.parse("1-9")):
        print(page.id, page.document, page.part)
    """
    if not inputs:
        raise UsageError("No input was given.", "Name a file, a folder, a glob, an address, @LIST or -.")
    sources = with_installed("sources", SOURCES) if any(":" in name for name in inputs) else SOURCES
    foreign = [name for name in inputs if name.partition(":")[0] in sources]
    named = [name for name in inputs if name not in foreign]
    items = chain.from_iterable(_by_scheme(name, sources, partition) for name in foreign)
    if named or not foreign:
        skipped: Counter[str] = Counter() if left_out is None else left_out
        tables = DatasetListing(pages, image_column, id_column)
        size = 1 if counter is None else MAX_AT_ONCE  # a small listing is one question
        counts = counter or PageCounter(password)
        archives = ArchiveListing(downloads, skipped)
        listing = _Listing(
            pages=pages, tables=tables, inspect=FileInspector(known), max_pages=max_pages, left_out=skipped,
            counter=counts, first=size, archives=archives, partition=partition, on_document=on_document,
            printer=Printer(downloads) if office in PRINTING else None,
            duplicates=Duplicates(at_once=kept is not None) if dedup else None, kept=kept,
        )  # fmt: skip
        entries = expand(named, stdin, downloads)
        items = chain(items, listing.items(entries, nullcontext() if counter else closing(counts)))
    first = list(islice(items, 1))  # errors of the call itself come now; nothing may fall to a rank
    return (_as(kind, item) for item in chain(first, items))


def list_files(
    paths: Sequence[Path],
    kind: type[ItemT],
    counter: FileCounter,
    office: OfficeUse = "auto",
    downloads: Path | None = None,
) -> Iterator[ItemT]:
    """Yields every page of files as `list_items` does, for paths that no user typed, without searching.

    They must be absolute, with no link among their folders. What archives and mails hold is not listed.
    """
    printer = Printer(downloads) if office in PRINTING else None
    listing = _Listing(tables=DatasetListing(), counter=counter, first=MAX_AT_ONCE, printer=printer)
    entries = (FoundFile(path, safe_document([path.name]), named=True) for path in paths)
    return (_as(kind, item) for item in listing.items(entries, nullcontext()))


def _by_scheme(name: str, sources: Mapping[str, str], partition: Partition) -> Iterator[Item]:
    scheme, _, rest = name.partition(":")
    listed: Iterator[Item] = load(sources[scheme])(rest)
    return (item for item in listed if partition.holds(item.document))


def _as(kind: type[ItemT], item: Item) -> ItemT:
    return kind(**{name: getattr(item, name) for name in ITEM_FIELDS})


@dataclass(kw_only=True)
class _Listing:
    """One pass over the inputs: what it has seen, and the processes that count."""

    tables: DatasetListing
    counter: FileCounter
    first: int  # files of the first question to the counter
    inspect: FileInspector = field(default_factory=FileInspector)
    pages: PageRange | None = None
    max_pages: int = MAX_PAGES
    left_out: Counter[str] = field(default_factory=Counter)
    archives: ArchiveListing | None = None
    partition: Partition = ALL
    on_document: Callable[[str, tuple[int, int]], object] = lambda *_: None
    printer: Printer | None = None
    duplicates: Duplicates | None = None
    kept: KeptDownloads | None = None
    # numbers of the entry that is listed now, and inside of it
    _place: tuple[int, int] = field(default=(0, 0), init=False)
    _matched: int = field(default=0, init=False)  # files and datasets that are there, of all inputs so far
    _before: int = field(default=0, init=False)  # the same when the current folder or pattern began

    def items(self, entries: Iterator[Entry], owned: AbstractContextManager[object]) -> Iterator[Item]:
        """Yields the items; at the end, what is `owned` is closed with the tables."""
        missing: list[Item] = []  # held back: if nothing else can be read they become one error
        listed = False
        with owned, self.tables, self.archives or nullcontext(), self.printer or nullcontext():
            for item in self._all(entries):
                missing.append(item)
                if not self._matched and not listed and len(missing) < MAX_HELD:
                    continue
                listed = True
                yield from missing
                missing.clear()
        if not self._matched and not listed:
            raise UsageError(_nothing(missing), "Name a file, a folder, a glob, an address, @LIST or -.")
        if not listed and self.partition == ALL:
            raise UsageError(
                f"No input has a page in the range {self.pages}." if self.pages else "No input has a page."
            )

    def _all(self, entries: Iterator[Entry]) -> Iterator[Item]:
        # files of a batch are there together: a bound wants few
        most = MAX_AT_ONCE if self.kept is None else FETCHED_AT_ONCE
        for batch in _growing(entries, min(self.first, most), most):
            yield from self._of_entries(batch)

    def _of_entries(self, batch: Sequence[Entry]) -> Iterator[Item]:
        brought = side_by_side(self._brought, batch) if any(map(_is_elsewhere, batch)) else batch
        if self.printer is not None:
            brought = side_by_side(partial(self._printed, self.printer), brought, cores())
        looked = [self._look(entry) if isinstance(entry, FoundFile) else entry for entry in brought]
        if any(map(self._is_needed, looked)):
            looked = side_by_side(self._with_file, looked)
        files = [one for one in looked if isinstance(one, Candidate) and self._is_mine(one)]
        counts = self.counter.counts([file for file in files if file.found.note is None])
        counts |= {file.found.path: file.found.note.count for file in files if file.found.note is not None}
        for entry, one in zip(batch, looked, strict=True):
            number, inside = self._place
            is_inside = isinstance(entry, FoundFile) and entry.depth > 0
            self._place = (number, inside + 1) if is_inside else (number + 1, 0)
            if isinstance(one, Candidate):
                if self._is_mine(one):
                    self.on_document(one.found.document, self._place)
                count = counts.get(one.found.path, ONE_PART)
                pages = self._of_file(one, count)
                yield from pages if self.kept is None else self.kept.listed(one, count, pages)
            elif isinstance(one, Dataset):
                yield from self._of_dataset(one, self.partition)
            elif isinstance(one, Begin):
                self._before = self._matched
            elif isinstance(one, End) and self._matched == self._before:
                yield from self._empty(one)

    def _brought(self, entry: Entry) -> Entry:
        """Returns the entry, on this machine if it falls to this rank, or as it was before it was deleted."""
        if isinstance(entry, FoundFile) and entry.stored is not None and self._falls_here(entry):
            return (entry.remembered() if self.kept is not None else None) or entry.fetched()
        return entry

    def _is_needed(self, one: Looked) -> bool:
        """Returns whether it is a file that was deleted, and has a page that is not done."""
        if not isinstance(one, Candidate) or one.found.note is None or not one.prefix or self.kept is None:
            return False
        count = one.found.note.count
        pages = iter([one.failed(count)]) if isinstance(count, Failure) else self._of_pages(one, count)
        return not all(self.kept.is_done(page.id) for page in pages)

    def _with_file(self, one: Looked) -> Looked:
        """Returns what was found; a file that was deleted and is needed as it was fetched again."""
        if not isinstance(one, Candidate) or not self._is_needed(one):
            return one
        found = replace(one.found, note=None).fetched()
        return self.inspect.again(replace(found, document=one.found.document))

    def _printed(self, printer: Printer, entry: Entry) -> Entry:
        return printer.printed(entry) if isinstance(entry, FoundFile) and self._falls_here(entry) else entry

    def _look(self, found: FoundFile) -> Candidate | None:
        if found.stored is not None and not self._falls_here(found):
            return Candidate(found, "")
        candidate = self.inspect(found)
        if candidate is None:
            ending = found.path.suffix.lower()
            self.left_out[ending if ending and ending.isprintable() else "no ending"] += 1
        return candidate

    def _is_mine(self, file: Candidate) -> bool:
        """Returns whether it falls to this rank. Every rank lists tables: their rows fall one by one."""
        return file.kind in formats.TABLES or self._falls_here(file.found)

    def _falls_here(self, found: FoundFile) -> bool:
        is_table = found.document.lower().endswith(formats.TABLE_SUFFIXES)
        return is_table or found.is_mine or self.partition.holds(found.document)

    def _of_file(self, file: Candidate, count: PartCount | Failure) -> Iterator[Item]:
        if file.failure is not None and file.missing:
            yield file.failed(file.failure)
            return
        self._matched += 1
        if not self._is_mine(file):
            return
        if file.failure is not None:
            yield file.failed(file.failure)
        elif isinstance(count, Failure):
            yield file.failed(count)
        elif file.kind in formats.TABLES:
            table = Dataset(file.table_name, (file.found.path,), file.found.named)
            yield from self._of_dataset(table, ALL if file.found.is_mine else self.partition)
        elif file.kind in formats.ARCHIVES:
            yield from self._of_archive(file, file.kind)
        elif file.kind is not None:
            yield from self._of_pages(self._with_first(file, file.kind), count)
            if file.kind in formats.MAILS:
                yield from self._of_archive(file, file.kind)

    def _with_first(self, file: Candidate, kind: formats.Kind) -> Candidate:
        """Returns the file; a copy of an earlier one with its prefix. A page that is a file is none."""
        if self.duplicates is None or file.found.page is not None:
            return file
        return replace(
            file,
            first=self.duplicates.first_of(Path(file.found.source or file.found.path), kind, file.prefix),
        )

    def _of_archive(self, file: Candidate, kind: str) -> Iterator[Item]:
        """Yields the pages of its documents, and one failure where it cannot be read, or not to its end."""
        found = 0
        if self.archives is None:
            if kind in formats.ARCHIVES:
                yield file.failed(_failure(file, "archives are not unpacked here.", "Send the files in it."))
            return
        try:
            for batch in self.archives.batches(file.found.path, kind, file.found.document, file.found.depth):
                found += len(batch)
                yield from self._of_entries(batch)
        except ItemError as exc:
            yield file.failed(as_failure(file.found.document, exc))
        else:
            if not found and file.found.named and kind in formats.ARCHIVES:
                yield file.failed(_failure(file, "it holds no document that Penstock reads.", ""))

    def _of_pages(self, file: Candidate, count: PartCount) -> Iterator[Item]:
        """Yields the pages that are there, and one failure for those that are claimed or too many."""
        if not count.claimed:
            yield file.failed(_failure(file, "it has no page.", "Open it in a viewer to see what it holds."))
        chosen = iter(self.pages.indices(count.claimed) if self.pages else range(count.claimed))
        for part in islice(chosen, self.max_pages):
            if part >= count.there:
                words = f"it claims {count.claimed:,} pages and has {count.there:,}."
                yield file.failed(_failure(file, words, "Open it in a viewer and save it again."), part)
                return
            yield file.item(part)
        for part in islice(chosen, 1):
            words = f"it has {count.there:,} pages, and {self.max_pages:,} are read of a document."
            advice = "Raise --max-pages with --retry-failed, or choose with --pages."
            yield file.failed(_failure(file, words, advice), part)

    def _of_dataset(self, dataset: Dataset, partition: Partition) -> Iterator[Item]:
        if self.tables.has_listed(dataset):
            self._matched += 1
            return
        for item in self.tables.items(dataset):
            self._matched += 1
            if partition.holds(item.id):
                self.on_document(item.document, self._place)
                yield item

    def _empty(self, end: End) -> Iterator[Item]:
        file = self.inspect(FoundFile(end.path, end.document, problem=end.problem))
        if file is not None and file.failure is not None:
            yield file.failed(file.failure)


def _is_elsewhere(entry: Entry) -> bool:
    return isinstance(entry, FoundFile) and entry.stored is not None


def _failure(file: Candidate, words: str, advice: str) -> Failure:
    message = f"{file.found.document}: {words}"
    return Failure(stage=STAGE, kind="BadInput", message=message, advice=advice)


def _growing(entries: Iterator[Entry], size: int, most: int) -> Iterator[list[Entry]]:
    """Yields batches of `size`, twice as many .. `most`.

    With 1 the first page comes at once, and later files travel together.
    """
    while batch := list(islice(entries, size)):
        yield batch
        size = min(most, 2 * size)


def _nothing(missing: Sequence[Item]) -> str:
    reasons = [item.failure.message for item in missing[:3] if item.failure is not None]
    if not reasons:
        return "The inputs hold nothing to read."
    more = f" And {len(missing) - len(reasons)} more." if len(missing) > len(reasons) else ""
    return " ".join(reasons) + more

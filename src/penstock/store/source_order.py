"""The documents of an OUT in source order, and their pages in order.

Pages finish in any order; people and datasets want the order of the source. The order of documents is one
small file, rewritten whenever a run ends. Each of several ranks has one of its own, with the places of its
documents among all inputs, so that none waits for another. The order of pages is in the rows. Losing a file
costs only the order of documents among themselves, and the knowledge which pages are of a file that has
changed since.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import StoreError, first_line
from penstock.item import Item
from penstock.store.atomic_files import replacing

if TYPE_CHECKING:
    from penstock.store.ledger import Entry  # with Arrow, which a short command does not load

DOCUMENTS = "documents.jsonl"
RANKS = "ranks"  # below OUT: a folder for each of several ranks
DATASETS = ("arrow", "parquet")  # the ids of their rows are their own

Files = dict[str, str]  # of a document: the files it was read from, each with what its pages' ids begin with
NO_FILES: Files = {}  # one for all documents without: a service keeps tens of thousands
LISTED: Files = {}  # of a document of which this run has no page yet

Place = tuple[int, int]  # number among the inputs, and in an archive
LAST: Place = (sys.maxsize, 0)
CountsOn = Callable[[str, Files], bool]  # a file of an earlier run beside those listed now


@dataclass(frozen=True, slots=True)
class ListedDocuments:
    """The documents that a run lists, for one of several ranks with their places among the inputs of all."""

    files: dict[str, Files] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    of_rank: bool = False

    def note(self, document: str, place: Place) -> None:
        """Adds a document that is listed, for its place in the order."""
        self.files.setdefault(document, LISTED)
        if self.of_rank:
            self.places.setdefault(document, place)


def note_file(documents: dict[str, Files], item: Item) -> None:
    """Adds the document of a page to `documents`, and the page's file to those of its document."""
    files = file_of(item)
    known = documents.setdefault(item.document, files)
    if known is NO_FILES or known is LISTED:
        documents[item.document] = files
    elif known is not files:
        known.update(files)


def file_of(item: Item) -> Files:
    """Returns the file of a page and the beginning of its id, which is another when the file has changed.

    Empty for a dataset's row, whose id is its own, and for an upload, whose folder is named after its bytes.
    """
    version, slash, part = item.id.rpartition("/")
    if item.media in DATASETS or not slash or part != f"{item.part:05d}":
        return NO_FILES
    if item.document.startswith(f"{version}/"):
        return NO_FILES
    return {item.uri: version}


def read_order(out: Path) -> dict[str, Files]:
    """Returns the documents in source order. Raises StoreError if a file is damaged."""
    order = {name: files for name, files, _ in read_documents(out / DOCUMENTS)}
    of_ranks = [row for path in order_files(out)[1:] for row in read_documents(path)]
    for name, files, _ in sorted(of_ranks, key=lambda row: row[2]):
        order[name] = {**order.get(name, {}), **files}
    return order


def order_files(out: Path) -> list[Path]:
    """Returns the file of OUT, whether it is there or not, and those of its ranks."""
    return [out / DOCUMENTS, *sorted(out.glob(f"{RANKS}/*/{DOCUMENTS}"))]


def rank_folders(out: Path) -> list[Path]:
    """Returns the folder of each rank that ran into OUT."""
    return sorted((out / RANKS).glob("*"))


def read_documents(path: Path) -> list[tuple[str, Files, Place]]:
    """Returns the documents of one file, each with its files and its place."""
    if not path.is_file():
        return []
    try:
        # bytes: as text, a file's name could hold what Python takes for the end of a line
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        return [(str(row["document"]), dict(row.get("files", {})), _place(row)) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise StoreError(
            f"{path} is damaged ({first_line(exc)}).", "Run: penstock check OUT --repair, then again."
        ) from exc


def _place(row: dict[str, Any]) -> Place:
    number, inside = row.get("place", LAST)
    return int(number), int(inside)


def _is_there(uri: str, _: Files) -> bool:
    return os.path.exists(uri)  # noqa: PTH110  Path.exists raises where it may not look


def write_order(out: Path, listed: Mapping[str, Files], counts_on: CountsOn = _is_there) -> None:
    """Puts `listed` first, in its order; documents of earlier runs and of ranks follow.

    A document's files of earlier runs count on while they are there: a file may have been moved.
    """
    before = read_order(out)
    merged = _merged(before, listed, counts_on)
    _write(out, ({"document": name, "files": files} for name, files in merged))
    for path in order_files(out)[1:]:  # older than what is in OUT's own now
        _write(path.parent, ())


def write_rank_order(folder: Path, listed: ListedDocuments, counts_on: CountsOn = _is_there) -> None:
    """Adds what a rank listed to what it knew; `folder` is its own below OUT."""
    known = read_documents(folder / DOCUMENTS)
    places = {**{name: place for name, _, place in known}, **listed.places}
    before = {name: files for name, files, _ in known}
    _write(
        folder,
        (
            {"document": name, "files": files, "place": places.get(name, LAST)}
            for name, files in _merged(before, listed.files, counts_on)
        ),
    )


def _merged(
    before: Mapping[str, Files], listed: Mapping[str, Files], counts_on: CountsOn
) -> Iterator[tuple[str, Files]]:
    for name, files in listed.items():
        yield name, _files_now(before.get(name, {}), files, counts_on)
    yield from ((name, files) for name, files in before.items() if name not in listed)


def _write(folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    with replacing(folder / DOCUMENTS, folder) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _files_now(before: Files, files: Files, counts_on: CountsOn) -> Files:
    if files is LISTED:
        return before
    still_there = {uri: version for uri, version in before.items() if counts_on(uri, files)}
    return {**still_there, **files} if files else {}


def in_source_order(entries: Iterable[Entry], order: Mapping[str, Files]) -> list[Entry]:
    """Returns the entries in order, without pages of a file as it was before it changed."""
    place = {name: number for number, name in enumerate(order)}
    last = len(place)
    current = [entry for entry in entries if _is_current(entry, order.get(entry.document, {}))]
    return sorted(current, key=lambda e: (place.get(e.document, last), e.document, e.part, e.id))


def _is_current(entry: Entry, files: Files) -> bool:
    return not files or entry.id.rpartition("/")[0] in files.values()

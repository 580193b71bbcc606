"""The documents of a run that was kept in a folder, as Python objects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from pathlib import Path

from penstock.addresses.locator import Locator
from penstock.converted.document import Document
from penstock.documents.docjson.model import Producer
from penstock.errors import UsageError
from penstock.exports.documents import producer_of
from penstock.exports.located import Located, locate
from penstock.page import Page
from penstock.passes.search import search_out
from penstock.processes.background import Background
from penstock.retrieval.hits import NO_FILTERS, Filters, Hit, SearchOptions
from penstock.store import manifest
from penstock.store.ledger import Entry
from penstock.store.out import Out


def open(out: str | Path) -> OpenedRun:
    """Returns the documents of a run that `parse`, here or on the command line, kept in a folder.

    Raises UsageError if the folder holds no run.

        for doc in penstock.open("out"):
            print(doc.name, len(doc.tables))
    """
    return OpenedRun(out)


class StoredPages:
    """The pages of a run in OUT, by document, as a `Document` reads them. Keeps a few shards in memory."""

    def __init__(self, out: Out) -> None:
        self.workspace = out

    @property
    def is_closed(self) -> bool:
        return False

    @property
    def producer(self) -> Producer:
        return producer_of(self.workspace)

    @cached_property
    def documents(self) -> dict[str, list[Entry]]:
        """Where the pages of each document lie, in source order."""
        by_name = groupby(self.workspace.entries(), key=lambda entry: entry.document)
        return {name: list(entries) for name, entries in by_name}

    def num_pages(self, name: str) -> int:
        return len(self.documents[name])

    def page(self, name: str, place: int) -> Page:
        return self.workspace.pages.item(self.documents[name][place])

    def is_whole(self, name: str) -> bool:
        return True

    def advance(self) -> bool:
        return False

    def close(self) -> None:
        """Does nothing: the folder is the user's."""


class OpenedRun:
    """What `penstock.open` gives: the documents of a run, as they were when the first was used.

        run = penstock.open("out")
        print(run["report.pdf"].tables[0].rows)
        for doc in run:
            print(doc.name, len(doc.pages))

    Pages are read from the folder when something uses them.
    """

    def __init__(self, out: str | Path) -> None:
        self._out = Out(out)
        if not self._out.has_rows and not (self._out / manifest.RUN).is_file():
            raise UsageError(f"{out} holds no run.", "Open what `penstock parse INPUT -o OUT` wrote.")
        self._pages = StoredPages(self._out)

    @property
    def names(self) -> list[str]:
        """The documents' names in source order."""
        return list(self._pages.documents)

    def __iter__(self) -> Iterator[Document]:
        return (self[name] for name in self.names)

    def __len__(self) -> int:
        return len(self._pages.documents)

    def __contains__(self, name: object) -> bool:
        return name in self._pages.documents

    def __getitem__(self, name: str) -> Document:
        """Raises KeyError for a document that the run does not have."""
        if name not in self:
            raise KeyError(f"{self._out} has no document {name!r}; `names` holds those it has.")
        return Document(self._pages, name, is_alone=False)

    def at(self, locator: str | Locator) -> Located:
        """Returns what stands at an address. Raises UsageError where there is nothing.

        penstock.open("out").at("penstock:report.pdf/p3/r7").text
        """
        return locate(self._out, Locator.parse(locator) if isinstance(locator, str) else locator)

    def search(self, question: str, *, top: int = 10, filters: Filters | None = None) -> list[Hit]:
        """Finds pages and regions, best first. Raises UsageError where the run was not indexed."""
        options = SearchOptions(top=top, filters=filters or NO_FILTERS)
        with Background() as background:
            return search_out(self._out.path, question, options, background).hits

    def __repr__(self) -> str:
        return f"OpenedRun({str(self._out)!r})"

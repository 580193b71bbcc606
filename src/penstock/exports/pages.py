"""What every export is made from: the rows of OUT in source order, and a file name for each document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePosixPath

from penstock.page import Page
from penstock.sources.names.safe import safe_name, safe_path
from penstock.store.ledger import Entry
from penstock.store.out import Out


@dataclass(frozen=True, slots=True)
class Pages:
    """What an export is made from: OUT, its rows in source order, and how to open encrypted sources.

    `naming` gives a page's crops other names; None leaves them as the store has them. With `anchors`,
    Markdown names every region.
    """

    out: Out
    entries: list[Entry]
    password: str | None = field(default=None, repr=False)
    naming: Callable[[Page], Page] | None = None
    anchors: bool = False

    def items(self) -> Iterator[Page]:
        return (self._item(entry) for entry in self.entries)

    def by_document(self) -> Iterator[tuple[str, DocumentRows]]:
        for document, group in groupby(self.entries, key=lambda entry: entry.document):
            yield document, DocumentRows(list(group), self._item)

    def _item(self, entry: Entry) -> Page:
        page = self.out.pages.item(entry)
        return page if self.naming is None else self.naming(page)


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """The pages of one document, read from their rows whenever they are gone through: one in memory."""

    entries: Sequence[Entry]
    read: Callable[[Entry], Page]

    def __iter__(self) -> Iterator[Page]:
        return map(self.read, self.entries)


def output_names(documents: Iterable[str], suffix: str) -> dict[str, PurePosixPath]:
    """Returns a file name by document: `report.pdf` -> `report.md`, `report.pdf.md` where two clash."""
    paths = {document: safe_path(document) for document in documents}
    stems = {document: path.with_name(safe_name(path.stem)) for document, path in paths.items()}
    short = Counter(str(stem).casefold() for stem in stems.values())
    full = Counter(str(path).casefold() for path in paths.values())
    names = {}
    for number, (document, path) in enumerate(paths.items()):
        stem = stems[document]
        if short[str(stem).casefold()] == 1:
            names[document] = stem.with_name(f"{stem.name}{suffix}")
        elif full[str(path).casefold()] == 1:
            names[document] = path.with_name(f"{path.name}{suffix}")
        else:  # names that differ only in what file systems ignore
            names[document] = path.with_name(f"{path.name}-{number}{suffix}")
    return names

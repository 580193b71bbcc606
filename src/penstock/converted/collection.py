"""Several documents of one call, in the order they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self, overload

from penstock.converted.conversion import Conversion
from penstock.converted.document import Document
from penstock.exports.pages import output_names

SHOWN = 3  # names in a repr


class Documents(Sequence[Document]):
    """What `penstock.convert` gives for a list. One run reads them all; each is there with its first page.

        with penstock.convert(["a.pdf", "b.pdf"]) as documents:
            for doc in documents:
                print(doc.name, len(doc.pages))

    `len` and an index from the end read everything first. A file that cannot be read is a document of one
    failed page.
    """

    def __init__(self, conversion: Conversion) -> None:
        self._conversion = conversion

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the reading and removes what was kept of all documents."""
        self._conversion.close()

    def __iter__(self) -> Iterator[Document]:
        place = 0
        while self._has(place):
            yield self._document(place)
            place += 1

    def __bool__(self) -> bool:
        return self._has(0)

    def __len__(self) -> int:
        while self._conversion.advance():
            pass
        return len(self._conversion.names)

    @overload
    def __getitem__(self, place: int) -> Document: ...
    @overload
    def __getitem__(self, place: slice) -> list[Document]: ...
    def __getitem__(self, place: int | slice) -> Document | list[Document]:
        if isinstance(place, slice):
            return [self._document(each) for each in range(*place.indices(len(self)))]
        wanted = place if place >= 0 else len(self) + place
        if wanted < 0 or not self._has(wanted):
            raise IndexError(f"There are {len(self)} documents; there is none at {place}.")
        return self._document(wanted)

    def save(self, folder: str | Path) -> list[Path]:
        """Writes each document's Markdown, and below `folder` the crops. Returns the Markdown's paths."""
        documents = list(self)
        names = output_names([document.name for document in documents], ".md")
        return [document.save_as(Path(folder), names[document.name]) for document in documents]

    def __repr__(self) -> str:
        names = self._conversion.names
        more = ["..."] if len(names) > SHOWN or not self._conversion.has_ended else []
        return f"Documents({', '.join([*map(repr, names[:SHOWN]), *more])})"

    def _has(self, place: int) -> bool:
        while len(self._conversion.names) <= place:
            if not self._conversion.advance():
                return False
        return True

    def _document(self, place: int) -> Document:
        return Document(self._conversion, self._conversion.names[place], is_alone=False)

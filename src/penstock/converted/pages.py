"""The pages of a converted document, as a sequence that is read while it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, overload

from penstock.documents.docjson.model import Producer
from penstock.documents.formats.markdown import relink
from penstock.page import Page
from penstock.trace.phrases import plural


class CropFolder(Protocol):
    """Holds the files that pages link to, for as long as something refers to it."""

    @property
    def path(self) -> Path: ...


class KeptPages(Protocol):
    """Where a document has its pages: a conversion that reads them, or a run's folder."""

    @property
    def workspace(self) -> CropFolder: ...

    @property
    def producer(self) -> Producer: ...

    @property
    def is_closed(self) -> bool: ...

    def num_pages(self, name: str) -> int: ...

    def page(self, name: str, place: int) -> Page: ...

    def is_whole(self, name: str) -> bool: ...

    def advance(self) -> bool: ...

    def close(self) -> None: ...


class DocumentPages(Sequence[Page]):
    """The pages of a document in order, each read when it is asked for.

    Iterating keeps one page in memory. `len` and an index from the end read all pages first.
    """

    def __init__(self, kept: KeptPages, name: str) -> None:
        self._kept = kept
        self._name = name

    @property
    def num_read(self) -> int:
        """The number of pages that were read so far."""
        return self._kept.num_pages(self._name)

    @property
    def are_all_read(self) -> bool:
        return self._kept.is_whole(self._name)

    def __iter__(self) -> Iterator[Page]:
        return map(_without_links, self.linked())

    def __bool__(self) -> bool:
        return self._has(0)

    def __len__(self) -> int:
        while not self.are_all_read and self._kept.advance():
            pass
        return self.num_read

    @overload
    def __getitem__(self, place: int) -> Page: ...
    @overload
    def __getitem__(self, place: slice) -> list[Page]: ...
    def __getitem__(self, place: int | slice) -> Page | list[Page]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        wanted = place if place >= 0 else len(self) + place
        if wanted < 0 or not self._has(wanted):
            raise IndexError(f"{self._name} has {plural(len(self), 'page')}; there is none at {place}.")
        return _without_links(self._kept.page(self._name, wanted))

    def __repr__(self) -> str:
        return f"<{self.count_text()} of {self._name!r}>"

    def linked(self) -> Iterator[Page]:
        """Yields the pages with Markdown that links to crops, as `Document.save` writes them."""
        place = 0
        while self._has(place):
            yield self._kept.page(self._name, place)
            place += 1

    def count_text(self) -> str:
        """Returns how many pages there are, in words, without reading any."""
        count = f"{self.num_read} page{'' if self.num_read == 1 else 's'}"
        return count if self.are_all_read else f"{count} read so far"

    def _has(self, place: int) -> bool:
        while self.num_read <= place:
            if self.are_all_read or not self._kept.advance():
                return False
        return True


def crops_of(page: Page) -> list[str]:
    """Returns the files that a page's Markdown may link to."""
    return [region.crop_path for region in page.regions if region.crop_path]


def _without_links(page: Page) -> Page:
    crops = crops_of(page)
    return replace(page, markdown=relink(page.markdown, crops, None)) if crops else page

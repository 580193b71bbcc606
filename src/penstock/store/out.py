"""An OUT folder, opened once: its rows, their order, its run.json."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from penstock.errors import UsageError
from penstock.object_stores import is_object_address
from penstock.page import Page
from penstock.photo import Photo
from penstock.store import manifest
from penstock.store.corrections import Corrections
from penstock.store.ledger import Entry, Ledger, has_rows
from penstock.store.schema import PAGES, PAGES_OR_PHOTOS, PHOTOS
from penstock.store.source_order import Files, in_source_order, read_order


class Out:
    """A folder of results. Cheap to make: it reads nothing until it is asked.

    out = Out("out")
    for page in out.read_pages():
        print(page.markdown)
    """

    def __init__(self, path: str | Path) -> None:
        if is_object_address(path):
            raise UsageError(
                f"{path} lies on an object store, not on this machine.",
                "From Python: with penstock.mirrored(address) as out: ...",
            )
        self.path = Path(path)

    def __truediv__(self, name: str | Path) -> Path:
        return self.path / name

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    @cached_property
    def corrections(self) -> Corrections:
        return Corrections(self.path)

    @cached_property
    def pages(self) -> Ledger[Page]:
        """The rows as pages, as people corrected them."""
        return Ledger(self.path, PAGES, self.corrections.mended)

    @cached_property
    def photos(self) -> Ledger[Photo]:
        return Ledger(self.path, PHOTOS)

    @cached_property
    def items(self) -> Ledger[Page | Photo]:
        """The rows as pages or photos, whichever each is; pages as people corrected them."""
        return Ledger(self.path, PAGES_OR_PHOTOS, self.corrections.mended)

    @property
    def has_rows(self) -> bool:
        return has_rows(self.path)

    def need_rows(self) -> None:
        """Raises UsageError where nothing was read yet, before anything is written there."""
        if not self.has_rows:
            raise UsageError(f"{self} holds no pages yet.", "Run: penstock parse INPUT -o OUT")

    def run(self) -> dict[str, Any]:
        """Returns what run.json says; empty where there is none."""
        return manifest.read(self.path) or {}

    def order(self) -> dict[str, Files]:
        """Returns the documents in source order, each with its files."""
        return read_order(self.path)

    def entries(self) -> list[Entry]:
        """Returns every row's entry in source order, as it is now."""
        return in_source_order(self.pages.entries().values(), self.order())

    def read_pages(self) -> Iterator[Page]:
        """Yields every page in source order, failed ones with their failure; keeps one shard in memory."""
        return (self.pages.item(entry) for entry in self.entries())

    def read_photos(self) -> Iterator[Photo]:
        """Yields every photo in source order."""
        return (self.photos.item(entry) for entry in self.entries())

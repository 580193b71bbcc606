"""What flows: one item is one page, photo or block, from its source to the store.

`Item` is what a ledger needs. Each kind of item adds its own fields (page.py, photo.py, and the passes'
own). Items are frozen; change is `replace(page, regions=...)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from penstock.addresses.locator import Locator
from penstock.errors import Failure
from penstock.object_stores import ObjectName

if TYPE_CHECKING:
    from penstock.box import Pixels

ELSEWHERE = "PENSTOCK_FILES_ELSEWHERE"  # set on other machines of a run: their copies may have other times


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What every item has.

    `uri` is the file (or dataset shard) it comes from, `part` the page, slide, sheet or row in it,
    `document` the name its outputs carry (relative path of the input, or the dataset's name).
    """

    unit: ClassVar[str] = "page"  # what people call one
    heavy: ClassVar[tuple[str, ...]] = ()  # fields an executor drops once no later stage reads them
    listed: ClassVar[frozenset[str]] = frozenset(
        {"id", "uri", "document", "part", "media", "attempt", "source", "copy_of", "stored"}
    )

    id: str
    uri: str
    document: str
    part: int = 0
    media: str = ""  # what the source found: "pdf", "image", "docx", "arrow", "parquet", …
    attempt: int = 1
    source: str = field(default="", compare=False)  # the file that `uri` was printed from; not kept in rows
    copy_of: str = field(default="", compare=False)  # the id of a page whose file has the same bytes
    stored: ObjectName | None = field(default=None, compare=False)  # what `uri` was fetched from
    failure: Failure | None = None
    # read already, by what its file says itself: there is no picture, and stages that read pictures pass it
    # by
    is_read: bool = field(default=False, compare=False)

    @property
    def place(self) -> str:
        """Where it is, as people say it. A file that cannot be opened has no pages."""
        whole = self.failure is not None and self.failure.stage == "list"
        return self.document if whole else f"{self.document} {self.unit} {self.part + 1}"

    @property
    def locator(self) -> Locator:
        """Its address, by which it is found again."""
        return Locator(document=self.document, page=self.part + 1)

    def failed_parts(self) -> Iterator[tuple[str, Failure]]:
        """Yields what failed inside it, each with its name; the item itself did not fail."""
        return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureItem(Item):
    """An item with a picture: encoded as found, or as pixels."""

    heavy: ClassVar[tuple[str, ...]] = ("image", "pixels")

    width: int = 0
    height: int = 0
    dpi: float = 0.0  # of the picture, where known
    rotation: int = 0  # degrees clockwise the picture was turned to stand upright: 0, 90, 180, 270
    image: bytes | None = field(default=None, repr=False)
    pixels: Pixels | None = field(default=None, repr=False)

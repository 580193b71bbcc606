"""Loads pictures and text layers of items, and keeps the files they come from open.

Imports PDFium, OpenCV and Pillow, so only `Load.open()` imports it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from penstock.documents.text.text_layer import MIN_PICTURE, layer_doubt
from penstock.engines.image import decode
from penstock.engines.image.decode import Encoded, Picture, PictureFile
from penstock.engines.pdf.file import PdfFile
from penstock.errors import BadInput
from penstock.item import PictureItem
from penstock.page import Page
from penstock.sources import formats
from penstock.sources.ids import is_changed
from penstock.sources.remote.file_notes import note_of
from penstock.sources.shard_ref import ShardRef
from penstock.stage import Worker
from penstock.stages.load import Load

if TYPE_CHECKING:
    from penstock.engines.office.blocks import StructureFile
    from penstock.sources.tables import ColumnReader
    from penstock.workers.office.printed_file import PrintedFile

MAX_IMAGE_BYTES = 1 << 29  # of one encoded image, which is read whole: twice what MAX_PIXELS are as RGB
DELETED = "the file was deleted after it was read, by --keep-downloads."
FETCH_AGAIN = "Run the same penstock parse without --keep-downloads: it fetches what is gone."
MAX_OPEN_FILES = 4  # of each kind; a worker sees the pages of one or two documents at a time


class Closable(Protocol):
    """Anything that must be closed."""

    def close(self) -> None: ...


Open = TypeVar("Open", bound=Closable)


class OpenFiles(Generic[Open]):
    """Keeps the last few used files open. Closes the one used longest ago first."""

    def __init__(self, max_open: int = MAX_OPEN_FILES) -> None:
        self._max_open = max_open
        self._open: OrderedDict[str, Open] = OrderedDict()

    def get(self, key: str, opener: Callable[[], Open]) -> Open:
        if key not in self._open:
            while len(self._open) >= self._max_open:
                self._open.popitem(last=False)[1].close()
            self._open[key] = opener()
        self._open.move_to_end(key)
        return self._open[key]

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()


class LoadWorker(Worker[PictureItem]):
    """Loads one item at a time, however many threads call it: PDFium is not thread-safe."""

    def __init__(self, spec: Load) -> None:
        decode.trust_our_bound()
        self._spec = spec
        self._lock = threading.Lock()
        self._pdfs: OpenFiles[PdfFile] = OpenFiles()
        self._frames: OpenFiles[PictureFile] = OpenFiles()
        self._shards: OpenFiles[ColumnReader] = OpenFiles()
        self._printed: OpenFiles[PrintedFile] = OpenFiles(1)
        self._structures: OpenFiles[StructureFile] = OpenFiles()
        self._loaders: dict[str, Callable[[PictureItem], PictureItem]] = {
            "pdf": self._load_page,
            **dict.fromkeys(formats.STRUCTURES, self._load_unit),
        }

    def __call__(self, items: list[PictureItem]) -> list[PictureItem]:
        with self._lock:
            return [self._load(item) for item in items]

    def close(self) -> None:
        with self._lock:
            self._pdfs.close()
            self._frames.close()
            self._shards.close()
            self._structures.close()
            self._printed.close()

    def _load(self, item: PictureItem) -> PictureItem:
        try:
            if item.media in formats.TABLES:
                return self._load_image(item, self._row_bytes(item))
            return self._load_listed(item)
        except BadInput as exc:  # the engine knows what is wrong, the worker knows which item
            raise BadInput(f"{_where(item)}: {exc.message}", exc.advice) from exc

    def _load_listed(self, item: PictureItem) -> PictureItem:
        """Loads from a file as it was listed: pages of two versions must not become one document."""
        try:
            loaded = self._loaders.get(item.media, self._load_file)(item)
        except BadInput:
            if note_of(Path(item.uri)) is not None:
                raise BadInput(DELETED, FETCH_AGAIN) from None
            if not is_changed(item.id, item.document, item.uri):
                raise
        else:
            if not is_changed(item.id, item.document, item.uri):
                return loaded
        raise BadInput("the file has changed since it was listed.", "Run it again to read it as it is now.")

    def _load_page(self, item: PictureItem) -> PictureItem:
        spec = self._spec
        file = self._pdfs.get(_version(item), lambda: PdfFile(item.uri, spec.password))
        size = file.size(item.part, dpi=spec.dpi, max_side=spec.max_side)
        item = replace(item, width=size.width, height=size.height, dpi=size.dpi)
        if isinstance(item, Page):
            item = replace(item, form=file.form(item.part, size))
        if spec.office == "both" and item.source and isinstance(item, Page):
            return self._with_pictures(self._printed_file(item).page(item, file.layer(item.part, size)))
        if spec.text_layer and isinstance(item, Page):
            item = replace(item, layer=file.layer(item.part, size))
        if spec.render == "never" or (spec.render == "auto" and _needs_no_picture(item)):
            return item
        picture = Picture(file.render(item.part, size), size.dpi)
        if spec.give == "pixels":
            return _with_pixels(item, picture)
        # a page takes 105 ms and 517 KB as PNG, 19 ms and 699 KB as JPEG; a rendering loses nothing by it
        return _with_encoded(item, decode.as_jpeg(picture))

    def _load_unit(self, item: PictureItem) -> PictureItem:
        """Reads what the file says itself; no later stage has anything to do."""
        if not isinstance(item, Page):
            raise BadInput("it has no picture: what it says was read from its own structure.")
        # what reads Office files and writes Markdown of them: every run over PDFs would wait for it
        from penstock.engines.office.open import open_structure
        from penstock.workers.office.unit_pages import page_of_unit

        opened = self._structures.get(_version(item), lambda: open_structure(item.uri, item.media))
        return self._with_pictures(page_of_unit(item, opened.unit(item.part), self._spec.unprinted))

    def _with_pictures(self, page: Page) -> Page:
        from penstock.workers.office.pictures import with_pictures_to_read, without_pictures  # as above

        if self._spec.read_pictures:
            page = with_pictures_to_read(page)
        return page if self._spec.crops else without_pictures(page)

    def _printed_file(self, item: Page) -> PrintedFile:
        """Returns the places that the words of an item's source have on all pages of its printing."""
        from penstock.workers.office.printed_file import printed_file  # as above

        return self._printed.get(
            _version(item), lambda: printed_file(item.uri, item.source, self._spec.unprinted)
        )

    def _load_file(self, item: PictureItem) -> PictureItem:
        path = Path(item.uri)
        if _picture_kind(path) not in formats.MULTI_FRAME:
            return self._load_image(item, _read(path))
        frames = self._frames.get(_version(item), lambda: PictureFile(item.uri, self._spec.max_pixels))
        if self._spec.render == "never":
            return _with_size(item, frames.size(item.part))
        picture = frames.picture(item.part)
        if self._spec.give == "pixels":
            return _with_pixels(item, picture)
        return _with_encoded(item, decode.as_png(picture))

    def _load_image(self, item: PictureItem, data: bytes) -> PictureItem:
        spec = self._spec
        if spec.render == "never":
            return _with_size(item, decode.size(data, spec.max_pixels))
        if spec.give == "encoded":
            return _with_encoded(item, decode.as_encoded(data, spec.max_pixels))
        return _with_pixels(item, decode.decode(data, spec.max_pixels))

    def _row_bytes(self, item: PictureItem) -> bytes:
        from penstock.sources.tables import (  # pyarrow: only runs over datasets pay for it
            ColumnReader,
            picture_bytes,
        )

        ref = ShardRef.parse(item.uri)
        rows = self._shards.get(item.uri, lambda: ColumnReader(str(ref.path), ref.column))
        values = rows.read(item.part - ref.first, 1)
        if not values:
            raise BadInput("the row is not there.", "If the dataset changed, start over with --fresh.")
        return picture_bytes(values[0], ref.path.parent)


def _version(item: PictureItem) -> str:
    """Names an open file by its path and by the version that was listed."""
    return f"{item.id.rpartition('/')[0]}|{item.uri}"


def _with_pixels(item: PictureItem, picture: Picture) -> PictureItem:
    height, width = picture.pixels.shape[:2]
    return replace(item, pixels=picture.pixels, width=width, height=height, dpi=picture.dpi)


def _with_encoded(item: PictureItem, encoded: Encoded) -> PictureItem:
    width, height, dpi = encoded.width, encoded.height, encoded.dpi
    return replace(item, image=encoded.data, width=width, height=height, dpi=dpi)


def _with_size(item: PictureItem, size: tuple[int, int, float]) -> PictureItem:
    width, height, dpi = size
    return replace(item, width=width, height=height, dpi=dpi)


def _needs_no_picture(item: PictureItem) -> bool:
    """Whether the item is a page with a readable layer, and without a picture that needs a crop."""
    layer = item.layer if isinstance(item, Page) else None
    min_area = MIN_PICTURE * item.width * item.height
    if layer is None or any((x1 - x0) * (y1 - y0) > min_area for x0, y0, x1, y1 in layer.pictures):
        return False
    return not layer_doubt(layer)


def _where(item: PictureItem) -> str:
    if item.media in formats.TABLES:
        return f"{item.document}, row {item.part}"
    # the error of a page names the page; a picture file with one frame has no pages
    return item.document


def _picture_kind(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return formats.sniff_picture(file.read(32))
    except OSError as exc:
        raise BadInput(f"it cannot be opened: {exc.strerror}.") from exc


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_IMAGE_BYTES:
            raise BadInput(f"it is {size:,} bytes, and {MAX_IMAGE_BYTES:,} are allowed.")
        return path.read_bytes()
    except OSError as exc:
        raise BadInput(f"it cannot be read: {exc.strerror}.") from exc

"""What came of a job, as files: made by the exports on request, kept until the job is deleted."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from penstock.errors import UsageError
from penstock.exports.export import PAGE_FORMATS, PHOTO_FORMATS
from penstock.exports.inventory import inventory, object_row, total_row
from penstock.exports.page_rows import picture_row, result_row
from penstock.exports.pages import Pages
from penstock.page import Page
from penstock.photo import Photo
from penstock.plugins import load
from penstock.serve.jobs.jobs import Jobs
from penstock.serve.jobs.record import JobRecord
from penstock.serve.reading.catalogue import Catalogue
from penstock.serve.reading.service import Service
from penstock.store.atomic_files import replacing
from penstock.store.ledger import Entry, Ledger
from penstock.store.out import Out

JSON, ZIP = "json", "zip"
OTHER_NAMES = {"markdown": "md"}
PAGE_RESULTS = (JSON, ZIP, *PAGE_FORMATS)
PHOTO_RESULTS = (JSON, ZIP, *PHOTO_FORMATS)
IN_ZIP = {"parse": ("md", "docjson", "jsonl"), "volumes": ("objects", "report")}
MEDIA = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".md": "text/markdown; charset=utf-8",
    ".pdf": "application/pdf",
    ".html": "text/html; charset=utf-8",
    ".zip": "application/zip",
    ".jpg": "image/jpeg",
    ".png": "image/png",
}


class JobResults:
    """Makes files of jobs. Slow: not for the event loop."""

    def __init__(self, service: Service, jobs: Jobs) -> None:
        self._service = service
        self._jobs = jobs

    def file(self, record: JobRecord, name: str, of: Sequence[str] = ()) -> Path:
        """Returns one file: the result itself, or a ZIP where it is several. Raises UsageError.

        `of` are the formats that a ZIP holds, besides crops and their like.
        """
        name = _checked(record, name)
        out = self._out(record)
        target = out / f"result-{name}"
        if name == JSON:
            return self._json(record, out, target.with_suffix(".json"))
        if name == ZIP:
            names = [_checked(record, each) for each in of or IN_ZIP[record.kind]]
            made = [path for each in names for path in self._made(record, out, each)]
            return _zipped(out, [*made, *self._assets(record, out)], target.with_suffix(".zip"))
        made = self._made(record, out, name)
        return made[0] if len(made) == 1 else _zipped(out, made, target.with_suffix(".zip"))

    def items(self, record: JobRecord) -> Iterator[Page | Photo]:
        """Yields the pages or photos of a job in order."""
        out = self._out(record)
        return out.read_photos() if record.kind == "volumes" else out.read_pages()

    def asset(self, record: JobRecord, path: str) -> Path | None:
        """Returns a crop, mask, cloud or mesh that a page or photo of the job names."""
        named = any(path in _assets_of(item) for item in self.items(record))
        return self._out(record) / path if named else None

    def folder(self, record: JobRecord) -> Path:
        """Returns the folder that a job's pages name their crops from."""
        return self._out(record).path

    def _out(self, record: JobRecord) -> Out:
        if record.has_own_run:
            return Out(self._jobs.out_of(record))
        view = self._jobs.files.view(record.id)
        return CatalogueOut(view, self._service.catalogue, record.documents)

    def _made(self, record: JobRecord, out: Out, name: str) -> list[Path]:
        if name in (JSON, ZIP):
            raise UsageError(f"A ZIP holds no {name}.")
        rows = (out, out.read_photos()) if name in PHOTO_FORMATS else (Pages(out, out.entries()),)
        written: list[Path] = load((PHOTO_FORMATS | PAGE_FORMATS)[name])(*rows)
        return written

    def _assets(self, record: JobRecord, out: Out) -> list[Path]:
        paths = {path for item in self.items(record) for path in _assets_of(item)}
        return [out / path for path in sorted(paths) if (out / path).is_file()]

    def _json(self, record: JobRecord, out: Out, target: Path) -> Path:
        rows = self._photo_rows(out, record) if record.kind == "volumes" else _page_rows(out.read_pages())
        with replacing(target, out, sync=False) as file:
            for piece in rows:
                file.write(piece.encode("utf-8", "replace"))
        return target

    def _photo_rows(self, out: Out, record: JobRecord) -> Iterator[str]:
        return photo_rows(list(out.read_photos()), bool(record.options.get("same_room")))


class CatalogueOut(Out):
    """The documents of one job as an OUT of their own: rows by the catalogue, files by links."""

    def __init__(self, path: Path, catalogue: Catalogue, documents: tuple[str, ...]) -> None:
        super().__init__(path)
        self._catalogue = catalogue
        self._names = _short_names(documents)

    @cached_property
    def pages(self) -> Ledger[Page]:
        return cast(Ledger[Page], _CatalogueRows(self._catalogue, self._names))

    @cached_property
    def photos(self) -> Ledger[Photo]:
        return cast(Ledger[Photo], _CatalogueRows(self._catalogue, self._names))

    def entries(self) -> list[Entry]:
        return [
            Entry(place.id, place.attempt, name, part, self.path, 0, not place.ok)
            for name, document in self._names.items()
            for part, place in self._catalogue.places(document).items()
        ]


class _CatalogueRows:
    """Rows as a ledger gives them; also those that are not committed yet."""

    def __init__(self, catalogue: Catalogue, names: Mapping[str, str]) -> None:
        self._catalogue = catalogue
        self._names = names

    def item(self, entry: Entry) -> Page | Photo:
        item = self._catalogue.page(self._names[entry.document], entry.part)
        if item is None:
            raise UsageError(f"{entry.document!r} is no longer there.", "Send it again.")
        return replace(item, document=entry.document)


def _short_names(documents: Iterable[str]) -> dict[str, str]:
    """Returns the documents by the names they were sent with; where two have one name, by their own."""
    short = Counter(document.rpartition("/")[2] for document in dict.fromkeys(documents))
    names = {}
    for document in documents:
        name = document.rpartition("/")[2]
        names[name if short[name] == 1 else document] = document
    return names


def _checked(record: JobRecord, name: str) -> str:
    """Returns the name of a result. Raises UsageError for one that there is not."""
    known = PHOTO_RESULTS if record.kind == "volumes" else PAGE_RESULTS
    name = OTHER_NAMES.get(name, name)
    if name not in known:
        raise UsageError(f"There is no result {name!r} of this job.", f"Choose from: {', '.join(known)}.")
    return name


def photo_row(photo: Photo) -> dict[str, Any]:
    """Returns a photo in the shape of a page's row, with its objects as in objects.jsonl."""
    found = inventory([photo], same_room=False)
    things = {"objects": [object_row(line) for line in found.lines], "total": total_row(found.boxes)}
    return {**picture_row(photo), "regions": [], "markdown": "", "image_crops": [], **things}


def item_row(item: Page | Photo) -> dict[str, Any]:
    """Returns a page as in ocr_results.jsonl, a photo with its objects."""
    return result_row(item) if isinstance(item, Page) else photo_row(item)


def _page_rows(items: Iterable[Page | Photo]) -> Iterator[str]:
    """Yields JSON piece by piece: {"documents": [{"name": ..., "pages": [...]}]}."""
    yield '{"documents": ['
    current: str | None = None
    for item in items:
        begins = item.document != current
        if begins:
            yield f'{"" if current is None else "]}, "}{{"name": {json.dumps(item.document)}, "pages": ['
            current = item.document
        yield ("" if begins else ", ") + json.dumps(item_row(item), ensure_ascii=False)
    yield "]}" if current is None else "]}]}"


def photo_rows(photos: Sequence[Photo], same_room: bool) -> Iterator[str]:
    """Yields JSON: the things by photo, what a thing repeats, and the totals."""
    found = inventory(photos, same_room)
    rows = [object_row(line) for line in found.lines]
    by_photo = [
        {**picture_row(photo), "objects": [row for row in rows if row["photo_id"] == photo.id]}
        for photo in photos
    ]
    rows_and_totals = {"photos": by_photo, "total": total_row(found.boxes), "moving": total_row(found.moving)}
    yield json.dumps(rows_and_totals, ensure_ascii=False)


def _assets_of(item: Page | Photo) -> set[str]:
    if isinstance(item, Page):
        found = [region.crop_path for region in item.regions]
    else:
        found = [path for one in item.objects for path in (one.mask_path, one.cloud_path, one.mesh_path)]
    return {path for path in found if path}


def _zipped(out: Out, paths: Iterable[Path], target: Path) -> Path:
    with replacing(target, out, sync=False) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for path in dict.fromkeys(paths):
            made.write(path, path.relative_to(out.path))
    return target

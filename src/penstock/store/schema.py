"""The Arrow schema of a committed row, and the way from an item to it and back.

Pages and photos share one schema; the column `kind` says which a row is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Generic

import pyarrow as pa

from penstock.errors import Failure
from penstock.page import Page, PageAttempt, ReaderChoice
from penstock.photo import Photo, PhotoObject
from penstock.region import Asset, CellPlace, FormField, Line, Link, Region, Signals
from penstock.stage import ItemT

BOX = pa.list_(pa.float32(), 4)
FAILURE = pa.struct(
    [("stage", pa.string()), ("kind", pa.string()), ("message", pa.string()), ("advice", pa.string())]
)
# `other` and `words` are absent in shards that older versions wrote
LINE = pa.struct(
    [
        ("text", pa.string()),
        ("box", BOX),
        ("confidence", pa.float32()),
        ("other", pa.string()),
        ("words", pa.list_(pa.float32())),
    ]
)
CELL = pa.struct(
    [
        ("row", pa.int32()),
        ("column", pa.int32()),
        ("box", BOX),
        ("confidence", pa.float32()),
        ("other", pa.string()),
    ]
)
SIGNALS = pa.struct(
    [
        ("network", pa.float32()),
        ("weakest", pa.float32()),
        ("probability", pa.float32()),
        ("least_probability", pa.float32()),
        ("agreement", pa.float32()),
        ("digits", pa.float32()),
        ("script", pa.float32()),
        ("marks", pa.list_(pa.string())),
        ("other", pa.string()),
        ("other_reader", pa.string()),
    ]
)
LINK = pa.struct([("text", pa.string()), ("address", pa.string())])
REGION = pa.struct(
    [
        ("index", pa.int32()),
        ("label", pa.string()),
        ("native_label", pa.string()),
        ("box", BOX),
        ("score", pa.float32()),
        ("content", pa.string()),
        ("confidence", pa.float32()),
        ("reader", pa.string()),
        ("lines", pa.list_(LINE)),
        ("polygon", pa.list_(pa.list_(pa.float32(), 2))),
        ("crop_path", pa.string()),
        ("links", pa.list_(LINK)),
        ("cells", pa.list_(CELL)),
        ("signals", SIGNALS),
        ("note", pa.string()),
        ("failure", FAILURE),
    ]
)
OBJECT = pa.struct(
    [
        ("index", pa.int32()),
        ("label", pa.string()),
        ("kind", pa.string()),
        ("box", BOX),
        ("score", pa.float32()),
        ("finder", pa.string()),
        ("mask_path", pa.string()),
        ("cut", pa.list_(pa.string())),
        ("colour_histogram", pa.list_(pa.float32())),
        ("cloud_path", pa.string()),
        ("num_gaussians", pa.int32()),
        ("mesh_path", pa.string()),
        ("estimate", pa.string()),
        # no lengths are fixed: pyarrow before 26 cannot read such lists from Parquet where one is missing
        ("size", pa.list_(pa.float64())),
        ("distance", pa.float64()),
        ("position", pa.list_(pa.float64())),
        ("rotation", pa.list_(pa.float64())),
        ("bbox_cbm", pa.float64()),
        ("low_cbm", pa.float64()),
        ("high_cbm", pa.float64()),
        ("hull_cbm", pa.float64()),
        ("occupied_cbm", pa.float64()),
        ("moving_cbm", pa.float64()),
        ("movable", pa.bool_()),
        ("shared", pa.float64()),
        ("measurement_notes", pa.list_(pa.string())),
        ("note", pa.string()),
        ("failure", FAILURE),
    ]
)
ATTEMPT = pa.struct(
    [
        ("way", pa.string()),
        ("finish_reason", pa.string()),
        ("prompt_tokens", pa.int32()),
        ("completion_tokens", pa.int32()),
        ("ms", pa.float64()),
        ("issues", pa.list_(pa.string())),
    ]
)
FORM_FIELD = pa.struct([("name", pa.string()), ("label", pa.string()), ("text", pa.string()), ("box", BOX)])
CHOICE = pa.struct([("reader", pa.string()), ("reason", pa.string()), ("likely_wrong", pa.float64())])
# what tells a row from all others and puts it in its place; the same in items/ and failures/
KEY = [
    ("id", pa.string()),
    ("attempt", pa.int32()),
    ("document", pa.string()),
    ("part", pa.int64()),
    ("uri", pa.string()),
    ("kind", pa.string()),
    ("media", pa.string()),
]
ITEMS = pa.schema(
    [
        *KEY,
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("dpi", pa.float32()),
        ("rotation", pa.int16()),
        ("num_failed_regions", pa.int32()),
        ("regions", pa.list_(REGION)),
        ("markdown", pa.string()),
        ("objects", pa.list_(OBJECT)),
        ("attempts", pa.list_(ATTEMPT)),
        ("raw_answer_path", pa.string()),
        ("shortfall", FAILURE),
        ("flattened", pa.string()),
        ("layer_fault", pa.string()),
        ("layout", pa.string()),
        ("choice", CHOICE),
        ("form", pa.list_(FORM_FIELD)),
    ]
)
FAILURES = pa.schema([*KEY, ("failure", FAILURE)])

_PICTURE_NAMES = ["width", "height", "dpi", "rotation"]
_OBJECT_NAMES = [field.name for field in OBJECT if field.name != "failure"]
_REGION_NAMES = [
    field.name
    for field in REGION
    if field.name not in {"lines", "polygon", "crop_path", "links", "cells", "signals", "failure"}
]
_KEY_FIELDS = [name for name, _ in KEY if name != "kind"]


@dataclass(frozen=True, slots=True)
class Rows(Generic[ItemT]):
    """How one pass writes its items: parsing keeps pages, embedding keeps vectors of the same ids.

    `columns` and `fields` are what a row and its item have besides their key, unless the item failed.
    """

    items: pa.Schema
    kind: type[ItemT]
    columns: Callable[[ItemT], dict[str, Any]]
    fields: Callable[[dict[str, Any]], dict[str, Any]]
    failures: pa.Schema = FAILURES

    def to_row(self, item: ItemT) -> dict[str, Any]:
        """Returns a row of `items`, or of `failures` where the item failed."""
        row = {**{name: getattr(item, name) for name in _KEY_FIELDS}, "kind": item.unit}
        if item.failure is not None:
            return {**row, "failure": failure_row(item.failure)}
        return {**row, "num_failed_regions": sum(1 for _ in item.failed_parts()), **self.columns(item)}

    def from_row(self, row: dict[str, Any]) -> ItemT:
        key = {name: row[name] for name in _KEY_FIELDS}
        failure = failure_from(row.get("failure"))
        return self.kind(**key, failure=failure, **({} if failure else self.fields(row)))


def storable(value: Any) -> Any:
    """Returns the value with texts that can be written.

    Broken fonts give halves of surrogate pairs; these are replaced.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: storable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [storable(inner) for inner in value]
    return value


def failure_row(failure: Failure | None) -> dict[str, Any] | None:
    return asdict(failure) if failure is not None else None


def failure_from(row: dict[str, Any] | None) -> Failure | None:
    return Failure(**row) if row is not None else None


def _picture_columns(item: Page | Photo) -> dict[str, Any]:
    own = _page_columns(item) if isinstance(item, Page) else _photo_columns(item)
    return {**{name: getattr(item, name) for name in _PICTURE_NAMES}, **own}


def _page_columns(page: Page) -> dict[str, Any]:
    return {
        "regions": [_region_row(region) for region in page.regions],
        "markdown": page.markdown,
        "attempts": [{**asdict(each), "issues": list(each.issues)} for each in page.attempts] or None,
        "raw_answer_path": page.raw_answer.path if page.raw_answer else None,
        "shortfall": failure_row(page.shortfall),
        "flattened": page.flattened or None,
        "layer_fault": page.layer_fault or None,
        "layout": page.layout or None,
        "choice": asdict(page.choice) if page.choice else None,
        "form": [field._asdict() for field in page.form] or None,
    }


def _photo_columns(photo: Photo) -> dict[str, Any]:
    return {"regions": [], "markdown": "", "objects": [_object_row(thing) for thing in photo.objects] or None}


def _page_fields(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in _PICTURE_NAMES},
        "regions": tuple(_region(region) for region in row["regions"]),
        "markdown": row["markdown"],
        "attempts": tuple(_attempt(each) for each in row.get("attempts") or ()),
        "raw_answer": _asset(row.get("raw_answer_path")),
        "shortfall": failure_from(row.get("shortfall")),
        "flattened": row.get("flattened") or "",
        "layer_fault": row.get("layer_fault") or "",
        "layout": row.get("layout") or "",
        "choice": ReaderChoice(**row["choice"]) if row.get("choice") else None,
        "form": tuple(FormField(**{**field, "box": tuple(field["box"])}) for field in row.get("form") or ()),
    }


def _photo_fields(row: dict[str, Any]) -> dict[str, Any]:
    objects = tuple(_object(thing) for thing in row.get("objects") or ())
    return {**{name: row[name] for name in _PICTURE_NAMES}, "objects": objects}


PAGES: Rows[Page] = Rows(ITEMS, Page, _picture_columns, _page_fields)
PHOTOS: Rows[Photo] = Rows(ITEMS, Photo, _picture_columns, _photo_fields)


class _PagesOrPhotos(Rows[Page | Photo]):
    def from_row(self, row: dict[str, Any]) -> Page | Photo:
        return (PHOTOS if row["kind"] == Photo.unit else PAGES).from_row(row)


PAGES_OR_PHOTOS = _PagesOrPhotos(ITEMS, Page, _picture_columns, _page_fields)


def _region_row(region: Region) -> dict[str, Any]:
    row = {name: getattr(region, name) for name in _REGION_NAMES}
    row["lines"] = [
        {
            "text": line.text,
            "box": line.box,
            "confidence": line.confidence,
            "other": line.other or None,
            "words": line.words or None,
        }
        for line in region.lines
    ]
    row["polygon"] = [list(point) for point in region.polygon]
    row["crop_path"] = region.crop_path
    row["links"] = [{"text": link.text, "address": link.address} for link in region.links] or None
    row["cells"] = [{**cell._asdict(), "other": cell.other or None} for cell in region.cells] or None
    row["signals"] = asdict(region.signals) if region.signals is not None else None
    row["failure"] = failure_row(region.failure)
    return row


def _region(row: dict[str, Any]) -> Region:
    fields = {name: row[name] for name in _REGION_NAMES}
    fields["box"] = tuple(row["box"])
    lines = tuple(
        Line(
            text=line["text"],
            box=tuple(line["box"]),
            confidence=line["confidence"],
            other=line.get("other") or "",
            words=tuple(line.get("words") or ()),
        )
        for line in row["lines"]
    )
    polygon = tuple((point[0], point[1]) for point in row.get("polygon") or ())
    links = tuple(Link(**link) for link in row.get("links") or ())
    cells = tuple(_cell(cell) for cell in row.get("cells") or ())
    signals = _signals(row.get("signals"))
    crop, failure = _asset(row["crop_path"]), failure_from(row["failure"])
    return Region(
        **fields, lines=lines, cells=cells, signals=signals, polygon=polygon, crop=crop, links=links,
        failure=failure,
    )  # fmt: skip


def _cell(row: dict[str, Any]) -> CellPlace:
    return CellPlace(**{**row, "box": tuple(row["box"]), "other": row.get("other") or ""})


def _signals(row: dict[str, Any] | None) -> Signals | None:
    return Signals(**{**row, "marks": tuple(row["marks"] or ())}) if row is not None else None


def _asset(path: str | None) -> Asset | None:
    return Asset(path=path) if path else None


def _attempt(row: dict[str, Any]) -> PageAttempt:
    return PageAttempt(**{**row, "issues": tuple(row["issues"])})


def _object_row(thing: PhotoObject) -> dict[str, Any]:
    row = {name: getattr(thing, name) for name in _OBJECT_NAMES}
    row["failure"] = failure_row(thing.failure)
    return row


def _object(row: dict[str, Any]) -> PhotoObject:
    fields = {name: row[name] for name in _OBJECT_NAMES if name in row}
    for name in ("box", "cut", "size", "position", "rotation"):
        fields[name] = tuple(row[name]) if row[name] is not None else None
    for name in ("colour_histogram", "measurement_notes"):
        fields[name] = tuple(row.get(name) or ())
    return PhotoObject(**fields, failure=failure_from(row["failure"]))

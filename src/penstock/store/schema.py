"""The Arrow schema of a committed row, and the way from an item to it and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from penstock.item import Failure, Item, Line, PhotoObject, Region

BOX = pa.list_(pa.float32(), 4)
FAILURE = pa.struct(
    [("stage", pa.string()), ("kind", pa.string()), ("message", pa.string()), ("advice", pa.string())]
)
LINE = pa.struct([("text", pa.string()), ("box", BOX), ("confidence", pa.float32())])
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
        ("look", pa.list_(pa.float32())),
        ("cloud_path", pa.string()),
        ("num_gaussians", pa.int32()),
        ("mesh_path", pa.string()),
        ("estimate", pa.string()),
        ("size", pa.list_(pa.float64(), 3)),
        ("distance", pa.float64()),
        ("bbox_cbm", pa.float64()),
        ("low_cbm", pa.float64()),
        ("high_cbm", pa.float64()),
        ("hull_cbm", pa.float64()),
        ("occupied_cbm", pa.float64()),
        ("moving_cbm", pa.float64()),
        ("movable", pa.bool_()),
        ("note", pa.string()),
        ("failure", FAILURE),
    ]
)
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
        ("objects", pa.list_(OBJECT)),  # absent in shards written before there were any
    ]
)
FAILURES = pa.schema([*KEY, ("failure", FAILURE)])

_KEY_NAMES = [name for name, _ in KEY]
_PAGE_NAMES = ["width", "height", "dpi", "rotation", "markdown"]
_OBJECT_NAMES = [field.name for field in OBJECT if field.name != "failure"]
_REGION_NAMES = [field.name for field in REGION if field.name not in {"lines", "polygon", "failure"}]


@dataclass(frozen=True, slots=True)
class Rows:
    """How one pass writes its items: parsing keeps pages, embedding keeps vectors of the same ids."""

    items: pa.Schema
    to_row: Callable[[Item], dict[str, Any]]
    from_row: Callable[[dict[str, Any]], Item]
    failures: pa.Schema = FAILURES


def storable(value: Any) -> Any:
    """The value with every text writable: halves of surrogate pairs, as broken fonts give them, replaced."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: storable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [storable(inner) for inner in value]
    return value


def to_row(item: Item) -> dict[str, Any]:
    """A row of `ITEMS`, or of `FAILURES` where the item failed."""
    row = {name: getattr(item, name) for name in _KEY_NAMES}
    if item.failure is not None:
        return {**row, "failure": asdict(item.failure)}
    page = {name: getattr(item, name) for name in _PAGE_NAMES}
    num_failed = sum(region.failure is not None for region in item.regions)
    num_failed += sum(thing.failure is not None for thing in item.objects)
    regions = [_region_row(region) for region in item.regions]
    objects = [_object_row(thing) for thing in item.objects] or None
    return {**row, **page, "num_failed_regions": num_failed, "regions": regions, "objects": objects}


def from_row(row: dict[str, Any]) -> Item:
    key = {name: row[name] for name in _KEY_NAMES}
    if row.get("failure") is not None:
        return Item(**key, failure=Failure(**row["failure"]))
    regions = tuple(_region(region) for region in row["regions"])
    objects = tuple(_object(thing) for thing in row.get("objects") or ())
    return Item(**key, **{name: row[name] for name in _PAGE_NAMES}, regions=regions, objects=objects)


def _region_row(region: Region) -> dict[str, Any]:
    row = {name: getattr(region, name) for name in _REGION_NAMES}
    row["lines"] = [
        {"text": line.text, "box": line.box, "confidence": line.confidence} for line in region.lines
    ]
    row["polygon"] = [list(point) for point in region.polygon]
    row["failure"] = asdict(region.failure) if region.failure is not None else None
    return row


def _region(row: dict[str, Any]) -> Region:
    fields = {name: row[name] for name in _REGION_NAMES}
    fields["box"] = tuple(row["box"])
    lines = tuple(
        Line(text=line["text"], box=tuple(line["box"]), confidence=line["confidence"])
        for line in row["lines"]
    )
    failure = Failure(**row["failure"]) if row["failure"] is not None else None
    polygon = tuple((point[0], point[1]) for point in row.get("polygon") or ())
    return Region(**fields, lines=lines, polygon=polygon, failure=failure)


PAGES = Rows(ITEMS, to_row, from_row)


def _object_row(thing: PhotoObject) -> dict[str, Any]:
    row = {name: getattr(thing, name) for name in _OBJECT_NAMES}
    row["failure"] = asdict(thing.failure) if thing.failure is not None else None
    return row


def _object(row: dict[str, Any]) -> PhotoObject:
    fields = {name: row[name] for name in _OBJECT_NAMES}
    for name in ("box", "cut", "look", "size"):
        fields[name] = tuple(row[name]) if row[name] is not None else None
    failure = Failure(**row["failure"]) if row["failure"] is not None else None
    return PhotoObject(**fields, failure=failure)

"""What a mover would count: every thing of every photo, what is the same twice, and the totals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from penstock.exports.photo_phrases import HOW
from penstock.photo import Photo, PhotoObject
from penstock.photos.duplicates import Seen, groups
from penstock.photos.furniture import FT3_PER_M3, Furniture
from penstock.photos.moving import APART, CARTON_CBM, cartons, truck, weight_kg
from penstock.photos.notes import FOUND_TWICE
from penstock.photos.totals import SHARED, Total, is_unsure, total
from penstock.store.out import Out

USUAL = Furniture.open()  # the built-in table: sizes that the weights are of
PARTS = {"pdf": "page", "arrow": "row", "parquet": "row"}  # what a source's parts are called


@dataclass(frozen=True, slots=True)
class InventoryLine:
    """One thing. `same_as` is the number of the line it repeats, in another photo of the room or in the same
    photo given twice; it is then not counted again.

    `looks_like` is that number where the user did not say that the photos show one room: it is counted.
    """

    number: int  # from 1, over all photos
    item: Photo
    thing: PhotoObject
    same_as: int | None = None
    looks_like: int | None = None

    @property
    def counted(self) -> bool:
        return self.same_as is None and self.thing.bbox_cbm is not None and self.thing.failure is None


@dataclass(frozen=True, slots=True)
class Inventory:
    lines: tuple[InventoryLine, ...]
    failed: tuple[Photo, ...]  # photos that could not be read
    empty: tuple[str, ...]  # photos in which nothing was found
    boxes: Total
    moving: Total


def read_inventory(out: Out, items: Iterable[Photo]) -> Inventory:
    """The inventory of a run. The run's options say whether its photos show one room."""
    run = out.run()
    return inventory(items, bool(run.get("same_room")))


def inventory(items: Iterable[Photo], same_room: bool) -> Inventory:
    """`same_room`: the photos show one room, and a thing in two of them is one thing."""
    failed: list[Photo] = []
    things: list[tuple[Photo, PhotoObject]] = []
    empty: list[str] = []
    for item in items:
        if item.failure is not None:
            failed.append(item)
        elif not item.objects:
            empty.append(photo_name(item))
        things += [(item, thing) for thing in item.objects]
    first = [owner + 1 if owner != n else None for n, owner in enumerate(_owners(things))]
    again = [owner + 1 if owner != n else None for n, owner in enumerate(_equal(things))]
    lines = tuple(
        InventoryLine(n + 1, item, thing, same, None if same_room or same else first[n])
        for n, (item, thing) in enumerate(things)
        for same in [first[n] if same_room and first[n] else again[n]]
    )
    counted = [line for line in lines if line.counted]
    boxes = _total([(line, line.thing.bbox_cbm or 0.0) for line in counted])
    moving = _total([(line, line.thing.moving_cbm or 0.0) for line in counted if line.thing.movable])
    return Inventory(lines, tuple(failed), tuple(empty), boxes, moving)


def _total(counted: list[tuple[InventoryLine, float]]) -> Total:
    """The sum with its range: things of one photo share their camera's error."""
    photos = {line.item.id: number for number, (line, _) in enumerate(counted)}
    return total(
        [_range(line.thing, volume) for line, volume in counted],
        [SHARED if line.thing.shared is None else line.thing.shared for line, _ in counted],
        [photos[line.item.id] for line, _ in counted],
    )


def object_row(line: InventoryLine) -> dict[str, Any]:
    """One line of objects.jsonl."""
    thing, item = line.thing, line.item
    size = dict(zip(("width", "depth", "height"), thing.size, strict=True)) if thing.size else None
    row: dict[str, Any] = {
        "number": line.number,
        "photo_id": item.id,
        "locator": str(item.locator.at_thing(thing.index)),
        "document": item.document,
        "index": thing.index,
        "label": thing.label,
        "kind": thing.kind,
        "score": round(thing.score, 4),
        "finder": thing.finder,
        "box": [round(v, 1) for v in thing.box],
        "cut_by_frame": list(thing.cut),
        "estimate": thing.estimate,
        "size_m": _rounded(size, 3),
        "distance_m": _rounded(thing.distance, 2),
        "pose": _pose(thing),
        "bbox_cbm": _rounded(thing.bbox_cbm, 4),
        "bbox_ft3": _rounded(thing.bbox_cbm and thing.bbox_cbm * FT3_PER_M3, 2),
        "range_cbm": [_rounded(thing.low_cbm, 4), _rounded(thing.high_cbm, 4)],
        "unsure": is_thing_unsure(thing),
        "moving_cbm": _rounded(thing.moving_cbm, 4),
        "hull_cbm": _rounded(thing.hull_cbm, 4),
        "occupied_cbm": _rounded(thing.occupied_cbm, 4),
        "fill_ratio": _fill_ratio(thing),
        "movable": thing.movable,
        **_handling(thing),
        "same_as": line.same_as,
        "looks_like": line.looks_like,
        "counted": line.counted,
        "mask": thing.mask_path,
        "ply": thing.cloud_path,
        "num_gaussians": thing.num_gaussians,
        "glb": thing.mesh_path,
        "measurement_notes": list(thing.measurement_notes),
        "note": thing.note,
        "valid": thing.failure is None,
    }
    if thing.failure is not None:
        row["failure"] = asdict(thing.failure)
    return row


def _pose(thing: PhotoObject) -> dict[str, list[float]] | None:
    """Where a 3D shape stands before the camera and how it is turned."""
    if thing.position is None or thing.rotation is None:
        return None
    return {
        "position_m": [round(value, 3) for value in thing.position],
        "rotation_wxyz": [round(value, 5) for value in thing.rotation],
    }


def _handling(thing: PhotoObject) -> dict[str, Any]:
    """What movers plan with, where the class is known."""
    if not thing.kind or thing.bbox_cbm is None:
        return {"weight_kg": None, "comes_apart": None, "cartons": None}
    usual = USUAL.find(thing.kind).size
    return {
        "weight_kg": round(weight_kg(thing.kind, thing.size, usual)),
        "comes_apart": thing.kind in APART,
        "cartons": cartons(thing.kind, thing.bbox_cbm),
    }


def total_row(sum_of_things: Total) -> dict[str, Any]:
    """A total for programs: cubic metres, its range, and whether that is too wide to plan with."""
    return {**asdict(sum_of_things), "unsure": sum_of_things.is_unsure}


def handling(found: Inventory) -> dict[str, Any]:
    """Weight, cartons and the truck of all that is moved; the truck takes the upper end of the range."""
    rows = [_handling(line.thing) for line in found.lines if line.counted and line.thing.movable]
    boxes = sum(row["cartons"] or 0 for row in rows)
    return {
        "weight_kg": sum(row["weight_kg"] or 0 for row in rows),
        "cartons": boxes,
        "truck": truck(found.moving.high + boxes * CARTON_CBM) if rows else "",
    }


def failures(found: Inventory) -> list[tuple[str, str]]:
    """What could not be read or measured, each with the reason and what to do."""
    photos = [(photo_name(item), item.failure) for item in found.failed]
    things = [(f"{photo_name(line.item)}, {line.thing.label}", line.thing.failure) for line in found.lines]
    return [
        (name, f"{failure.message} {failure.advice}".rstrip())
        for name, failure in [*photos, *things]
        if failure is not None
    ]


def failed_row(item: Photo) -> dict[str, Any]:
    """The line of a photo that could not be read."""
    assert item.failure is not None
    return {
        "photo_id": item.id,
        "document": item.document,
        "valid": False,
        "failure": asdict(item.failure),
    }


def photo_name(item: Photo) -> str:
    """What people call a photo: its file, and which page or row of it where it has several."""
    word = PARTS.get(item.media) or ("page" if item.part else "")
    return f"{item.document} {word} {item.part + 1}" if word else item.document


def likely(thing: PhotoObject) -> str:
    """Returns the ends of the range in cubic metres: "0.22 to 1.58"."""
    return f"{thing.low_cbm:.2f} to {thing.high_cbm:.2f}" if thing.low_cbm and thing.high_cbm else ""


def how_measured(line: InventoryLine) -> str:
    """Returns how a thing was measured and what to keep in mind: "estimate, unsure, same as 3"."""
    thing = line.thing
    words = [HOW.get(thing.estimate, (thing.estimate, ""))[0]]
    words += ["unsure"] * is_thing_unsure(thing) + [FOUND_TWICE] * (FOUND_TWICE in thing.measurement_notes)
    return ", ".join([*words, *[f"same as {line.same_as}"] * (line.same_as is not None)])


def is_thing_unsure(thing: PhotoObject) -> bool:
    """Returns whether the thing's range is too wide to plan with."""
    return bool(thing.low_cbm and thing.high_cbm) and is_unsure(thing.low_cbm or 0.0, thing.high_cbm or 0.0)


def _fill_ratio(thing: PhotoObject) -> float | None:
    if not thing.bbox_cbm or thing.occupied_cbm is None:
        return None
    return round(min(1.0, thing.occupied_cbm / thing.bbox_cbm), 3)


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, dict):
        return {key: round(number, digits) for key, number in value.items()}
    return None if value is None else round(value, digits)


def _range(thing: PhotoObject, volume: float) -> tuple[float, float, float]:
    """The thing's volume and range, scaled from its box to what is counted."""
    share = volume / thing.bbox_cbm if thing.bbox_cbm else 0.0
    low, high = (end or thing.bbox_cbm or 0.0 for end in (thing.low_cbm, thing.high_cbm))
    return volume, low * share, high * share


def _equal(things: list[tuple[Photo, PhotoObject]]) -> list[int]:
    """For each thing the first with the very same pixels: the same file was given twice.

    Masks are named by their content. No two photos of one thing give the same mask and the same colours.
    """
    seen: dict[tuple[object, ...], int] = {}
    owners = []
    for number, (photo, thing) in enumerate(things):
        first = number
        if thing.mask_path and thing.colour_histogram:
            first = seen.setdefault((thing.label, thing.mask_path, thing.colour_histogram, thing.box), number)
        owners.append(number if things[first][0].id == photo.id else first)
    return owners


def _owners(things: list[tuple[Photo, PhotoObject]]) -> list[int]:
    seen = [
        Seen(item.id, thing.kind or thing.label, thing.colour_histogram, thing.bbox_cbm or 0.0)
        for item, thing in things
    ]
    return groups(seen)

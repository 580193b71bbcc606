"""Where the error without depth comes from: the estimator is told the truth of one matter after another.

What is left when everything but a thing's depth is told is what no estimator can help: the side that a photo
does not show varies within its class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import cv2
import numpy as np

from benchmarks.lib.kept_rooms import kept_room
from benchmarks.lib.room_scores import FURNITURE, Room, each_of, figure_of, scored, seen_camera
from benchmarks.lib.scenes.measured_rooms import MeasuredRoom, MeasuredThing
from benchmarks.lib.scenes.real_sizes import SIZES
from penstock.photo import PhotoObject
from penstock.photos.camera import Camera
from penstock.photos.furniture import ALONE, UNKNOWN, Kind
from penstock.photos.masks import Mask, cut_sides
from penstock.photos.sizing.estimates import DOUBT, KNOWN_DOUBT, before_walls
from penstock.photos.sizing.outline import occluders, outline_of
from penstock.photos.sizing.sizes import GIVEN, Estimate, SizeQuery, estimate_photo

SURELY = 0.003  # the spread of a logarithm, or of an angle, that is told


@dataclass(frozen=True, slots=True)
class Truths:
    """What the estimator is told."""

    lens: bool = False
    tilt: bool = False
    roll: bool = False
    above: bool = False  # how high the camera is
    labels: bool = False
    outlines: bool = False  # to the pixel
    whole: bool = False  # outlines as if nothing stood before a thing
    sizes: bool = False  # what each class measures in the shops these rooms are furnished from
    sides: bool = False  # width and height of each thing


CAMERA = Truths(lens=True, tilt=True, roll=True, above=True)
SEEN = replace(CAMERA, labels=True, outlines=True, whole=True)
TOLD: dict[str, Truths] = {
    "nothing": Truths(),
    "lens": Truths(lens=True),
    "tilt": Truths(tilt=True),
    "roll": Truths(roll=True),
    "height of the camera": Truths(above=True),
    "labels": Truths(labels=True),
    "outlines to the pixel": Truths(outlines=True),
    "whole outlines": Truths(outlines=True, whole=True),
    "what classes measure": Truths(sizes=True),
    "camera": CAMERA,
    "camera, labels, whole outlines": SEEN,
    "camera, labels, whole outlines, what classes measure": replace(SEEN, sizes=True),
    "all but the depth of things": replace(SEEN, sizes=True, sides=True),
}


def score_truths(
    seeds: Iterable[int], keep: Path | None = None, processes: int = 1
) -> dict[str, dict[str, float]]:
    """The figures of totals of five things, by what was told."""
    found = each_of(partial(_of_seed, keep=keep), seeds, processes)
    return {name: figure_of([room[name][1] for room in found]) for name in found[0]}


def _of_seed(seed: int, keep: Path | None) -> dict[str, Room]:
    room = kept_room(seed, 5, keep)
    cameras = {known: seen_camera(room, known) for known in (True, False)}
    found = {
        name: _with_notes(seed, room, cameras[truths.lens or room.camera.has_exif], truths)
        for name, truths in TOLD.items()
    }
    return {**found, "no photo: the median of each class": _by_class(seed, room)}


def _with_notes(seed: int, room: MeasuredRoom, seen: Camera, truths: Truths) -> Room:
    camera = _camera(room, seen, truths)
    masks = [_mask(thing, truths) for thing in room.things]
    if truths.roll:
        masks = [_levelled(mask, room.camera.roll) for mask in masks]
    before = [None] * len(masks) if truths.whole else occluders(masks)
    queries = [
        _query(thing, mask, nearer, truths)
        for thing, mask, nearer in zip(room.things, masks, before, strict=True)
    ]
    found = estimate_photo(queries, before_walls(camera, masks), FURNITURE.kinds[UNKNOWN])
    return scored(seed, room, [_object(one) for one in found])


def _camera(room: MeasuredRoom, seen: Camera, truths: Truths) -> Camera:
    true, camera = room.camera, seen
    if truths.lens:
        camera = replace(camera, focal=true.focal, focal_spread=SURELY)
    if truths.tilt:
        camera = replace(camera, pitch=true.pitch, pitch_spread=SURELY, pitch_by_edges=False)
    if truths.above:
        camera = replace(camera, above_floor=true.above, above_floor_spread=SURELY)
    return camera


def _mask(thing: MeasuredThing, truths: Truths) -> Mask:
    return thing.whole if truths.whole else thing.exact if truths.outlines else thing.mask


def _levelled(mask: Mask, roll: float) -> Mask:
    """The mask as a camera that is not rolled would have it."""
    height, width = mask.shape
    turn = cv2.getRotationMatrix2D((width / 2 - 0.5, height / 2 - 0.5), -float(np.rad2deg(roll)), 1.0)
    turned = cv2.warpAffine(mask.astype(np.uint8), turn, (width, height), flags=cv2.INTER_NEAREST)
    return np.asarray(turned > 0) if turned.any() else mask


def _query(thing: MeasuredThing, mask: Mask, nearer: Mask | None, truths: Truths) -> SizeQuery:
    name = thing.kind if truths.labels else thing.label
    kind = _kind(name) if truths.sizes else FURNITURE.find(name)
    if truths.sides:
        width, _, height = thing.size
        sure = (SURELY, kind.spread[1], SURELY)
        known = (width, kind.size[1], height)
        kind = replace(kind, size=known, spread=sure, source=GIVEN, together=ALONE)
    is_box = not (thing.outlined or truths.outlines)
    outline = outline_of(mask, cut_sides(_mask(thing, truths)), nearer, is_box)
    return SizeQuery(kind, outline, KNOWN_DOUBT if truths.labels else DOUBT)


@cache
def _kind(name: str) -> Kind:
    """The class as these rooms' shops have it, or as our table does where they have none."""
    kind = FURNITURE.find(name)
    if name not in SIZES:
        return kind
    logs = np.log(np.array(SIZES[name]) / 100)
    size, spread = np.exp(np.median(logs, axis=0)), np.maximum(logs.std(axis=0, ddof=1), 0.02)
    width, depth, height = (float(side) for side in size)
    wide, deep, high = (float(side) for side in spread)
    return replace(kind, size=(width, depth, height), spread=(wide, deep, high), source=GIVEN)


def _by_class(seed: int, room: MeasuredRoom) -> Room:
    """What one would say without looking: every thing is as large as its class is on average."""
    sizes = [_kind(thing.kind).size for thing in room.things]
    return scored(seed, room, [_plain(size) for size in sizes])


def _object(found: Estimate) -> PhotoObject:
    made = _plain((found.width, found.depth, found.height))
    return replace(made, low_cbm=found.low, high_cbm=found.high, shared=found.shared)


def _plain(size: tuple[float, float, float]) -> PhotoObject:
    return PhotoObject(label="", box=(0, 0, 1, 1), size=size, low_cbm=1.0, high_cbm=1.0)

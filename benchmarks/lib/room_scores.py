"""Scores the sizes without weights on measured rooms: error, and how often a range holds, by camera.

Things and photos' totals are scored. Outlines are given; labels are what a detector would say, a few of
them wrong. With `depth` the exact depth of the room is given too, as a depth camera would, or as a phone's
sensor gives it: coarse, noisy, and blurred where a thing ends.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.lib.kept_rooms import kept_room
from benchmarks.lib.scenes.measured_rooms import MeasuredRoom, measured_room
from penstock.photo import PhotoObject
from penstock.photos import notes
from penstock.photos.camera import Camera, look_at
from penstock.photos.furniture import Furniture
from penstock.photos.masks import box_of, cut_sides, pack
from penstock.photos.sizing.estimates import with_estimates
from penstock.photos.totals import total
from penstock.photos.user_boxes import KnownSize

T = TypeVar("T")

FURNITURE = Furniture.open()
HEIGHTS = (0.8, 1.0, 1.2, 1.4, 1.6, 1.9)
SENSOR, SENSOR_NOISE = (256, 192), 0.005  # pixels; m, and share of the distance
TILTS = (-90.0, 6.0, 14.0, 90.0)
Z95 = 1.96  # standard deviations that hold 95 of 100
FILM_SLICES = {"13-16 mm": (13, 20), "24-28 mm": (20, 30), "35-50 mm": (30, 60)}


@dataclass(frozen=True, slots=True)
class Scored:
    """One thing or one photo's total: what was said and what is true."""

    room: int  # its seed
    slices: tuple[str, ...]
    said: float
    low: float
    high: float
    true: float

    @property
    def error(self) -> float:
        return abs(self.said / self.true - 1)

    @property
    def held(self) -> bool:
        return self.low <= self.true <= self.high


Room = tuple[list[Scored], Scored]
Figures = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Trial:
    """How rooms are shown to the estimator. A depth camera knows its lens, so it has EXIF."""

    num_things: int = 5
    depth: bool = False
    blurred: bool = False
    keep: Path | None = None  # a folder of rooms that were cast before

    def of_seed(self, seed: int) -> Room:
        """The things of one room, and its total."""
        room = kept_room(seed, self.num_things, self.keep)
        if self.blurred:
            room = replace(room, depth=as_a_phone_sees(room.depth, seed))
        camera = seen_camera(room, self.depth or room.camera.has_exif)
        return scored(seed, room, estimates(room, camera, self.depth))


def seen_camera(room: MeasuredRoom, has_exif: bool) -> Camera:
    """What the photo, and its file's EXIF where it has some, tell of the camera."""
    with tempfile.TemporaryDirectory() as folder:
        exif = _exif(Path(folder), room.camera.told_film) if has_exif else None
        return look_at(room.pixels, str(exif) if exif else None)


def score_rooms(seeds: Iterable[int], trial: Trial, processes: int = 1) -> Figures:
    """Figures of things and totals, whole and by slice."""
    return figures_of(each_of(trial.of_seed, seeds, processes))


def each_of(score: Callable[[int], T], seeds: Iterable[int], processes: int = 1) -> list[T]:
    """What `score` says of each seed, in their order, by one process or several."""
    if processes == 1:
        return [score(seed) for seed in seeds]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(score, seeds, chunksize=4))


def figures_of(rooms: Sequence[Room]) -> Figures:
    things = [thing for things, _ in rooms for thing in things]
    return {"things": _figures(things), "totals": _figures([total for _, total in rooms])}


def as_a_phone_sees(depth: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """The depth as a small sensor gives it, brought to the photo's size."""
    height, width = depth.shape
    coarse = cv2.resize(depth, SENSOR, interpolation=cv2.INTER_AREA)
    noise = np.random.default_rng(seed).normal(size=coarse.shape)
    coarse = (coarse + noise * (SENSOR_NOISE + SENSOR_NOISE * coarse)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR))


def score_anchors(seeds: Iterable[int]) -> dict[str, dict[str, float]]:
    """Totals of five things of the same rooms: as they are, with an A4 sheet on the floor, with one width."""
    found: dict[str, list[Scored]] = {"none": [], "sheet": [], "known width": []}
    for seed in seeds:
        plain, laid = measured_room(seed), measured_room(seed, sheet=True)
        if len(laid.things) == len(plain.things):
            continue  # no floor is in sight: every way gets the same rooms
        first = max(plain.things, key=lambda thing: int(thing.mask.sum()))
        known = [KnownSize("", first.label, "wide", first.size[0])]
        ways = {"none": (plain, ()), "sheet": (laid, ()), "known width": (plain, known)}
        for name, (room, sizes) in ways.items():
            camera = seen_camera(room, room.camera.has_exif)
            things = estimates(room, camera, False, sizes)[: len(plain.things)]
            found[name].append(scored(seed, plain, things)[1])
    return {name: figure_of(totals) for name, totals in found.items()}


def estimates(
    room: MeasuredRoom, camera: Camera, depth: bool, known: Sequence[KnownSize] = ()
) -> list[PhotoObject]:
    return with_estimates(objects_of(room), camera, room.depth if depth else None, FURNITURE, known)


def objects_of(room: MeasuredRoom) -> list[PhotoObject]:
    objects = []
    for index, thing in enumerate(room.things):
        box = box_of(thing.mask)
        assert box is not None
        cut = tuple(sorted(cut_sides(thing.mask)))
        words = () if thing.outlined else (notes.BOX_TAKEN,)
        objects.append(
            PhotoObject(
                label=thing.label,
                box=box,
                index=index,
                mask=pack(thing.mask),
                cut=cut,
                measurement_notes=words,
            )
        )
    return objects


def scored(seed: int, room: MeasuredRoom, found: Sequence[PhotoObject]) -> Room:
    """What was said of a room's things, and of their total, beside the truth."""
    slices = slices_of(room)
    said = [(float(np.prod(one.size or 0)), one.low_cbm or 0.0, one.high_cbm or 0.0) for one in found]
    true = [thing.volume for thing in room.things]
    things = [Scored(seed, (*slices, *_own_slices(room, n)), *said[n], true[n]) for n in range(len(found))]
    whole = total(said, [one.shared or 0.0 for one in found])
    return things, Scored(seed, slices, whole.cbm, whole.low, whole.high, sum(true))


def slices_of(room: MeasuredRoom) -> tuple[str, ...]:
    camera = room.camera
    height = next((a, b) for a, b in itertools.pairwise(HEIGHTS) if camera.above <= b)
    tilt = np.rad2deg(camera.pitch)
    steep = "tilt under 6°" if tilt < TILTS[1] else "tilt 6-14°" if tilt < TILTS[2] else "tilt over 14°"
    film = next(name for name, (low, high) in FILM_SLICES.items() if low <= camera.told_film < high)
    return f"camera {height[0]}-{height[1]} m", steep, film, "EXIF" if camera.has_exif else "no EXIF"


def _own_slices(room: MeasuredRoom, number: int) -> tuple[str, ...]:
    thing = room.things[number]
    names = {
        "label wrong": thing.label != thing.kind,
        "cut by the frame": bool(cut_sides(thing.mask)),
        "outline failed": not thing.outlined,
        "not on the floor": not thing.on_floor,
    }
    return tuple(name for name, holds in names.items() if holds) or ("plain",)


def _figures(scored: list[Scored]) -> dict[str, dict[str, float]]:
    names = dict.fromkeys(["all", *sorted({name for one in scored for name in one.slices})])
    return {name: figure_of([one for one in scored if name == "all" or name in one.slices]) for name in names}


def figure_of(scored: list[Scored]) -> dict[str, float]:
    errors = [one.error for one in scored]
    low, high = chance(scored)
    return {
        "n": len(scored),
        "median_error": round(float(np.median(errors)), 4),
        "p90_error": round(float(np.quantile(errors, 0.9)), 4),
        "bias": round(float(np.exp(np.median(np.log([one.said / one.true for one in scored])))), 4),
        "range_holds": round(sum(one.held for one in scored) / len(scored), 4),
        "holds_at_least": round(low, 4),
        "holds_at_most": round(high, 4),
        "range_width": round(float(np.median([one.high / one.low for one in scored])), 3),
    }


def chance(scored: Sequence[Scored]) -> tuple[float, float]:
    """Between what shares the ranges hold in truth, 95 of 100 times (Wilson's interval).

    Things of one room share its camera, so they count for fewer: what rooms differ by says for how many.
    """
    held = np.array([one.held for one in scored], float)
    share, num = held.mean(), len(held)
    _, room = np.unique([one.room for one in scored], return_inverse=True)
    between = (np.bincount(room, held - share) ** 2).sum() / num**2
    alone = share * (1 - share) / num
    num = num * min(1.0, alone / between) if between > 0 else num
    middle = (share + Z95**2 / (2 * num)) / (1 + Z95**2 / num)
    half = Z95 * np.sqrt(share * (1 - share) / num + Z95**2 / (4 * num**2)) / (1 + Z95**2 / num)
    return float(middle - half), float(middle + half)


def _exif(folder: Path, film: int) -> Path:
    """A tiny photo whose EXIF tells the focal length."""
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0xA405] = film
    path = folder / f"{film}.jpg"
    Image.new("RGB", (8, 6)).save(path, exif=exif)
    return path

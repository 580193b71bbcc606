"""Sizes from a depth map: what is seen is measured, and the class counts only for what is hidden.

The floor is found first. The points of a thing then have places in the room; the angle of the thing
is that of its upright sides, and its extents along and across are lengths. A side is hidden where the camera
stands square before the thing and cannot look on its top, and where the frame cuts it or something nearer
hides it: then it is at least as long as what is seen, and its class says by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from penstock.photos.camera import FILM_WIDTH, Camera
from penstock.photos.gaussians import Floats
from penstock.photos.masks import Mask
from penstock.photos.sizing.camera_draws import draw_cameras
from penstock.photos.sizing.depth_pieces import REACH, Piece, find_pieces
from penstock.photos.sizing.depth_room import DepthRoom, find_bend, open_room, without_ramps
from penstock.photos.sizing.floor import Array
from penstock.photos.sizing.gaussian import gaussian_density
from penstock.photos.sizing.sizes import SURE, Estimate, SizeQuery, prior_of, summary_of

LENSES = 12  # focal lengths that are tried where EXIF does not tell
# three that count the same and vary as a bell does; the middles of its thirds would vary by a fifth less
THREE_POINTS = np.sqrt(1.5) * np.array([-1.0, 0.0, 1.0])
CROPPED, ROUNDED = 0.01, 0.29  # share of a focal length, and mm of film: half a millimetre either way
NUM = 160  # sizes drawn for each of them
MAX_SIDE = 800  # pixels of a depth map that are looked at: no depth camera has more to say
POINTS = 800  # of a thing's, to find its angle by
MIN_POINTS = 40
STRAY, STRAY_SHARE = 2, 0.0005  # points, and share of all, beyond an end: stray ones
ROUGH = 0.0015  # of the distance, that a floor's points are off: depth that a model guessed, or a poor sensor
BLURRED = 0.0007  # of the distance: depth that is so rough is blurred at edges too
LENGTH_SPREAD = (
    0.01,
    0.03,
)  # of the logarithm of a length that is seen from end to end, by good and by poor depth
OFF, OFF_SPREAD = (0.03, 0.5), 0.25  # of such lengths are that far off: an end was hidden, or was no end
MIN_SHARED = (0.2, 0.4)  # of the variance: what depth and floor are off is wrong for all things of a photo
GRID = 64  # lengths that are tried for a side that is not seen to its end
ALL_SEEN = 0.25  # of sides whose end something hides end there all the same
UNSEEN_SHARE = 0.6  # of what is seen of the others, as much again is hidden on average
ODD_SPREAD = 0.5  # of the logarithm of a hidden side of a thing that is not what its label says
GAP = 0.35  # m without a point: what is behind it is another thing
TOP_SEEN = 0.04  # m the camera must be above a top to look on it
OFF_FLOOR = 0.25  # m: what begins higher does not stand on it
STANDS, OFF_FLOOR_AFTER_ALL = 0.1, 0.9  # a class that is less often raised must begin that high to be so
MAX_LOST, MAX_REACH = 0.08, 0.25  # m that a top's far edge, and an outline that is off, may take
THIN = 0.3  # of the shorter side its class has: what is that thin is one face, and its depth was not seen
END_SHARE, MIN_END = 0.03, 0.02  # of a length, and m: what lies that near to an end makes the end
FACE = 0.15  # of all points lie at an end that is a face
CELLS = 12  # squares in a row, seen along an axis: in each of them a thing has a last point
NEAR_END = 0.25  # of a length: last points that far from the end are asked
OWN_END = 0.35  # of them lie at the end and are the thing's own edge: it ends there
BEHIND_WALL, MAX_BEHIND = 0.06, 0.01  # m, and share of a room's points: behind a wall is nothing


@dataclass(frozen=True, slots=True)
class Extents:
    """Lengths of what is seen, and of which of them both ends are seen."""

    lengths: tuple[float, float, float]  # across, along, up
    whole: tuple[bool, bool, bool]
    begun: tuple[bool, bool, bool]  # of those that are not whole: a good part of it is seen
    far: float
    off_floor: bool


@dataclass(frozen=True, slots=True)
class _DepthWorth:
    """What lengths by a depth map are worth: between what they are by good and by poor depth."""

    spread: float
    off: float
    shared: float

    @classmethod
    def of(cls, room: DepthRoom) -> _DepthWorth:
        poor = min(1.0, room.rough / ROUGH)
        spread, off, shared = (good + poor * (bad - good) for good, bad in (LENGTH_SPREAD, OFF, MIN_SHARED))
        return cls(spread, off, shared)


def estimate_with_depth(
    queries: Sequence[SizeQuery], masks: Sequence[Mask], depth: Floats, camera: Camera
) -> list[Estimate | None]:
    """Sizes of a photo's things; None for a thing without points."""
    random = np.random.default_rng(0)
    step = -(-max(depth.shape) // MAX_SIDE)
    small = depth[::step, ::step]
    lenses = _lenses(camera, random) / step
    bend = find_bend(small, float(np.median(lenses)))
    rooms = [open_room(small, lens, bend, camera) for lens in lenses]
    if rooms[len(rooms) // 2].rough > BLURRED:
        small = without_ramps(small)
        rooms = [open_room(small, lens, bend, camera) for lens in lenses]
    usual = rooms[len(rooms) // 2]
    worth = _DepthWorth.of(usual)
    pieces = find_pieces([mask[::step, ::step] for mask in masks], usual.points)
    seen = [
        [None if piece is None else _extents(piece, one, room) for room in rooms]
        for one, piece in zip(queries, pieces, strict=True)
    ]
    drawn = [
        _drawn(one, extents, worth, random) if all(extents) else None
        for one, extents in zip(queries, seen, strict=True)
    ]
    weight = _softmax(np.sum([np.zeros(len(rooms)), *(one[1] for one in drawn if one is not None)], axis=0))
    return [
        None if one is None else _summary(one[0], weight, extents, worth)
        for one, extents in zip(drawn, seen, strict=True)
    ]


def _lenses(camera: Camera, random: np.random.Generator) -> Array:
    """Focal lengths that count the same."""
    if camera.focal_known:
        spread = camera.focal_spread if camera.focal_by_depth else _exif_spread(camera)
        return np.asarray(camera.focal * np.exp(spread * THREE_POINTS))
    focal = np.sort(draw_cameras(camera, 64 * LENSES, random).focal)
    return np.asarray(focal[32::64])


def _exif_spread(camera: Camera) -> float:
    """What EXIF's focal length may be off: EXIF rounds it to millimetres, and frames are cropped."""
    film = camera.focal / max(camera.width, camera.height) * FILM_WIDTH
    return float(min(camera.focal_spread, np.hypot(CROPPED, ROUNDED / film)))


def _extents(piece: Piece, query: SizeQuery, room: DepthRoom) -> Extents | None:
    """Returns what is seen of a thing, along its own axes."""
    cloud = _Cloud.of(piece, room)
    if len(cloud.points) < MIN_POINTS:
        return None
    low, high = _ends(cloud.points[:, 2])
    yaw = _yaw(cloud.points[:: 1 + len(cloud.points) // POINTS], high)
    cloud = replace(cloud, points=_turned(cloud.points, yaw))
    off_floor, upright = _stand(cloud, query, low, high)
    aside, behind = _pixel(cloud.points, yaw, room, high)
    reach = REACH * aside + np.minimum(MAX_REACH, REACH * behind)
    ends = np.array([cloud.ends(axis, reach[axis]) for axis in (0, 1)])
    outside = (ends[:, 0] > 0) | (ends[:, 1] < 0)  # the camera then sees the side that ends this axis
    on_top = room.floor.above > high + TOP_SEEN and not off_floor
    across = int(abs(np.sin(yaw)) > abs(np.cos(yaw)))  # the axis that runs from left to right in the photo
    shown = [bool(on_top or outside[1 - axis]) for axis in (0, 1)]
    at_wall = _is_at_wall(_turned(room.some(), yaw)[:, 1 - across], ends[1 - across])
    whole = [shown[axis] and cloud.ends_at(axis, *ends[axis]) for axis in (0, 1)]
    if at_wall:  # then it ends there, though the wall hides how it goes on
        whole[1 - across] = shown[1 - across] and cloud.ends_at(1 - across, min(ends[1 - across], key=abs))
    begun = [shown[axis] or axis == across for axis in (0, 1)]
    lost = 2 * piece.lost * aside
    if on_top and not outside.all():  # then its far end is seen on its top alone
        lost = lost + np.minimum(MAX_LOST, (piece.lost + 0.5) * behind)
    lengths = np.maximum(ends[:, 1] - ends[:, 0] + lost, 0.01)
    for axis in np.flatnonzero(lengths < THIN * min(query.kind.size[:2])):
        whole[axis] = begun[axis] = False
    return Extents(
        (float(lengths[0]), float(lengths[1]), float(max(high - low if off_floor else high, 0.02))),
        (whole[0], whole[1], upright),
        (begun[0], begun[1], True),
        float(np.hypot(*cloud.points[:, :2].T).min()),
        off_floor,
    )


def _is_at_wall(others: Array, ends: Array) -> bool:
    """Whether nothing of the room is behind a thing's far end; places along an axis from the camera on."""
    near, far = sorted(ends, key=abs)
    beyond = others * np.sign(far) > abs(far) + BEHIND_WALL
    return bool(abs(near) < abs(far) and beyond.mean() < MAX_BEHIND)


@dataclass(frozen=True, slots=True, eq=False)
class _Cloud:
    """A thing's points in the room, and which of them lie at its own edge or at an open one."""

    points: Array
    sure: NDArray[np.bool_]
    own: NDArray[np.bool_]
    open: NDArray[np.bool_]

    @classmethod
    def of(cls, piece: Piece, room: DepthRoom) -> _Cloud:
        points = room.points[piece.pixels]
        kept = _of_one_thing(points)
        flags = [edge[piece.pixels][kept] for edge in (piece.sure, piece.own_edge, piece.open_edge)]
        return cls(points[kept], *flags)

    def ends(self, axis: int, reach: float) -> tuple[float, float]:
        """Where it begins and ends along an axis, no farther than `reach` from what is sure."""
        low, high = _ends(self.points[:, axis])
        if self.sure.sum() < MIN_POINTS:
            return low, high
        begin, end = _ends(self.points[self.sure, axis])
        return max(low, begin - reach), min(high, end + reach)

    def ends_at(self, axis: int, *ends: float) -> bool:
        """Whether the thing ends at all of these places along an axis, and not only what is seen of it."""
        cells = _cells(np.delete(self.points, axis, axis=1))
        return all(self._ends(np.abs(self.points[:, axis] - end), cells) for end in ends)

    def _ends(self, off: Array, cells: NDArray[np.intp]) -> bool:
        """`off` is how far each point is from the end: where its last points are its own edge, it ends."""
        length = float(off.max())
        at_end = off < max(MIN_END, END_SHARE * length)
        if at_end.mean() > FACE:
            return True
        order = np.lexsort((off, cells))
        last = order[np.unique(cells[order], return_index=True)[1]]
        last = last[off[last] < NEAR_END * length]
        own, hidden = int((self.own & at_end)[last].sum()), int(self.open[last].sum())
        return own >= OWN_END * (own + hidden)


def _cells(flat: Array) -> NDArray[np.intp]:
    """The number of the small square in which each point is, seen along an axis."""
    low, size = flat.min(axis=0), np.maximum(np.ptp(flat, axis=0), 1e-6)
    places = np.minimum((flat - low) / size * CELLS, CELLS - 1).astype(int)
    return np.asarray(places[:, 0] * CELLS + places[:, 1])


def _stand(cloud: _Cloud, query: SizeQuery, low: float, high: float) -> tuple[bool, bool]:
    """Whether it is off the floor, and whether its height is seen from end to end."""
    cut_below = "bottom" in query.outline.open_sides
    whole = cloud.ends_at(2, high)
    if query.kind.raised <= STANDS:  # of a stool whose lowest points are seat, something hides the legs
        return low > OFF_FLOOR_AFTER_ALL and not cut_below, whole
    if low <= OFF_FLOOR:
        return False, whole
    return True, whole and not cut_below


def _ends(values: Array) -> tuple[float, float]:
    """The least and the greatest, but for stray ones."""
    stray = min(STRAY + int(STRAY_SHARE * len(values)), len(values) // 4)
    ranked = np.partition(values, [stray, len(values) - 1 - stray])
    return float(ranked[stray]), float(ranked[len(values) - 1 - stray])


def _pixel(points: Array, yaw: float, room: DepthRoom, top: float) -> tuple[Array, Array]:
    """What a pixel is worth along both axes: aside, and behind on a top that the camera looks on."""
    far = float(np.median(np.hypot(points[:, 0], points[:, 1])))
    aside = far / room.focal
    behind = far**2 / (room.focal * max(room.floor.above - top, TOP_SEEN))
    cos, sin = abs(np.cos(yaw)), abs(np.sin(yaw))
    return np.array([aside * cos, aside * sin]), np.array([behind * sin, behind * cos])


def _of_one_thing(points: Array) -> NDArray[np.bool_]:
    """Which are of the largest piece between gaps along the way to it: what is behind is another thing."""
    away = np.hypot(points[:, 0], points[:, 1])
    order = np.argsort(away)
    pieces = np.cumsum(np.concatenate([[0], np.diff(away[order]) > GAP]))
    kept = np.zeros(len(points), bool)
    kept[order] = pieces == np.bincount(pieces).argmax()
    return kept


def _yaw(points: Array, top: float) -> float:
    """The angle at which most points of the upright sides lie at an edge of the box around them."""
    sides = points[points[:, 2] < top - 0.04, :2]
    flat = sides if len(sides) > MIN_POINTS else points[:, :2]
    best = 0.0
    for angles in (np.arange(0.0, 90.0, 2.0), np.arange(-1.75, 2.0, 0.25)):  # degrees: coarse, then fine
        best = min(best + np.deg2rad(angles), key=lambda yaw: _off_edges(_turned(flat, yaw)))
    return float(best)


def _off_edges(flat: Array) -> float:
    (left, right), (near, far) = _ends(flat[:, 0]), _ends(flat[:, 1])
    low, high = np.array([left, near]), np.array([right, far])
    off = np.minimum(np.abs(flat - low), np.abs(high - flat)).min(axis=1)
    return float(np.minimum(off, 0.1).mean())


def _turned(points: Array, yaw: float) -> Array:
    """Returns points, flat or not, along the axes of a thing at this angle."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    turned = points[:, :2] @ np.array([[cos, -sin], [sin, cos]])
    return np.concatenate([turned, points[:, 2:]], axis=1)


def _drawn(
    query: SizeQuery, seen: Sequence[Extents | None], worth: _DepthWorth, random: np.random.Generator
) -> tuple[Array, Array]:
    """Sizes for each lens, (lens, draw, 3), and the logarithm of how well each lens suits the class."""
    sizes, chances = [], []
    for extents in seen:
        assert extents is not None
        ways = [_one_way(query, extents, worth, order, random) for order in ((0, 1, 2), (1, 0, 2))]
        logs = np.array([chance for _, chance in ways])
        first = random.random(NUM) < _softmax(logs)[0]
        sizes.append(np.where(first[:, None], ways[0][0], ways[1][0]))
        # a label may be wrong: then no lens is better than another
        chances.append(np.logaddexp.reduce([np.logaddexp(*logs), np.log(max(query.doubt, 1e-3))]))
    return np.array(sizes), np.array(chances)


def _one_way(
    query: SizeQuery,
    seen: Extents,
    worth: _DepthWorth,
    order: tuple[int, int, int],
    random: np.random.Generator,
) -> tuple[Array, float]:
    """Sizes if these extents are width, depth and height in this order, and how likely the class has them.

    Sides that are seen from end to end tell of those that are not, as far as the class's go together.
    """
    logs = np.log([seen.lengths[place] for place in order])
    whole = [axis for axis, place in enumerate(order) if seen.whole[place]]
    prior, doubt = prior_of(query.kind), query.doubt
    chance = prior.chance(whole, logs[whole], worth.spread)
    left = prior.given(whole, logs[whole], worth.spread)
    sizes = []
    for axis, place in enumerate(order):
        if axis in whole:
            off = np.where(random.random(NUM) < worth.off, OFF_SPREAD, worth.spread)
            sizes.append(logs[axis] + off * random.normal(size=NUM))
        else:
            hidden = _HiddenSide(float(left.mean[axis]), float(np.sqrt(left.covariance[axis, axis])), doubt)
            more, likely = hidden.draw(logs[axis], seen.begun[place], random)
            chance += likely
            sizes.append(more)
    return np.exp(np.stack(sizes, axis=1)), chance


@dataclass(frozen=True, slots=True)
class _HiddenSide:
    """What the class says of a side that is not seen to its end, and how likely it is another class."""

    mean: float  # of the logarithm
    spread: float
    doubt: float

    def draw(self, seen: float, begun: bool, random: np.random.Generator) -> tuple[Array, float]:
        """Logarithms of lengths of which `seen` is seen, and how likely the class has such."""
        widest = max(self.spread, ODD_SPREAD)
        logs = np.linspace(seen, max(seen, self.mean + 3 * widest) + 0.7, GRID)
        usual = gaussian_density(logs - self.mean, self.spread)
        odd = gaussian_density(logs - self.mean, ODD_SPREAD)
        chance = np.sqrt(2 * np.pi) * ((1 - self.doubt) * usual + self.doubt * odd) + 1e-6
        if begun:  # most of it is in sight: a detector outlined it
            more = np.exp(-(np.exp(logs - seen) - 1) / UNSEEN_SHARE)
            more *= (1 - ALL_SEEN) / more.sum()
            more[0] += ALL_SEEN
            chance = chance * more / (logs[1] - logs[0])
        whole = chance.sum()
        drawn = random.choice(GRID, NUM, p=chance / whole)
        return logs[drawn], float(np.log(whole * (logs[1] - logs[0])))


def _summary(sizes: Array, weight: Array, seen: Sequence[Extents | None], worth: _DepthWorth) -> Estimate:
    own = np.full(sizes.shape[:2], 1 / NUM)
    there = [one for one in seen if one is not None]
    far = np.repeat([[one.far] for one in there], NUM, axis=1)
    raised = np.repeat([[one.off_floor] for one in there], NUM, axis=1)
    found = summary_of(sizes, own, weight, far, raised, np.zeros_like(raised), (1 - SURE) / 2, lean=0.0)
    return replace(found, shared=max(found.shared, worth.shared))


def _softmax(logs: Array) -> Array:
    weight = np.exp(logs - np.max(logs))
    return np.asarray(weight / weight.sum())

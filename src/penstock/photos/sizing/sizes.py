"""How large the things of a photo are, from their outlines, one camera, and what their classes measure.

The height of the camera, its tilt and often its lens are unknown. All things
of a photo were seen by the same one, so all of them find it together: each says how well each of some
hundred cameras explains its outline with a size that its class has. Then every thing is measured with the
cameras that explain the whole photo. Things share what is left of the camera's error, and totals know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.photos.camera import Camera
from penstock.photos.furniture import Kind
from penstock.photos.sizing.box_fit import Draws, Fits, SizePrior, fit_boxes
from penstock.photos.sizing.camera_draws import CameraDraws, draw_again, draw_cameras
from penstock.photos.sizing.outline import Outline

Array = NDArray[np.float64]

CAMERAS = (200, 400)  # drawn from what is known; then near those that explain the photo
WAYS = 24  # in which a thing may stand before each camera: with 10 chance moves a total by 3 %
ODD_WAYS = 8  # the same for a thing whose outline is wrong, and for one that is not what its label says
SURE = 0.8  # share of truths the range is made to hold
TAIL = 0.11  # of draws on either side of it: holds 82 % of 2,000 things, 0.12 would hold 79 %
LEAN = 0.5  # 0 tells the median, 1 what is off least in percent: chosen on 400 rooms, see docs/log.md
WRONG_OUTLINE, WRONG_NOISE = 0.2, 3.0  # of outlines are that many times as far off: hidden ends, shadows
MIN_SPREAD = 0.14  # of a class's sizes: one maker's catalogue is narrower than what people own
FOOT_ROW_NOISE = 0.015  # of the outline's height
HIDDEN = 0.4  # of what is seen of a thing, below the photo's edge, on average
FACING = 0.55  # of things face the camera more or less; the others stand at any angle
FACING_SPREAD = np.deg2rad(30.0)
AT_WALLS, ACROSS, WALL_SPREAD = 0.7, 0.4, np.deg2rad(3.0)  # of things stand as the walls do, some across
MIN_BASE, MAX_BASE = 0.3, 1.6  # m: where things are that do not stand on the floor
MIN_CAMERAS = 8.0  # effective ones; fewer mean that the photo explains itself badly, and less is believed
YAWS = 2048
MIN_OTHER_WAYS = 0.05  # of what counts: where one way is nearly all, its own spread says nothing
GIVEN = "given"  # the source of a size that a user measured
STANDARD = "standard"  # of one that is built everywhere alike: a door finds the camera


@dataclass(frozen=True, slots=True)
class SizeQuery:
    """A thing to measure. `doubt` is the chance that its label is wrong."""

    kind: Kind
    outline: Outline
    doubt: float = 0.08


@dataclass(frozen=True, slots=True)
class Estimate:
    """About medians (see `summary_of`), and the range of the volume that holds SURE of truths.

    `shared` is how much of the variance of its logarithm the photo's other things share. `raised` says how
    likely it does not stand on the floor, `odd` how likely it is not what its label says.
    """

    width: float
    depth: float
    height: float
    volume: float
    low: float
    high: float
    distance: float
    shared: float
    raised: float
    odd: float


@dataclass(frozen=True, slots=True, eq=False)
class _SeenThing:
    """One thing before every camera: (camera, way) arrays."""

    evidence: Array
    size: Array  # (camera, way, 3)
    far: Array
    raised: NDArray[np.bool_]
    odd: NDArray[np.bool_]

    def explained(self) -> Array:
        """The logarithm of each camera's evidence."""
        top = self.evidence.max(axis=1)
        logs: Array = top + np.log(np.exp(self.evidence - top[:, None]).sum(axis=1))
        return logs


def estimate_photo(queries: Sequence[SizeQuery], camera: Camera, other: Kind) -> list[Estimate]:
    """The sizes of all things of a photo. The same photo always gives the same answer.

    `other` is the class of all other things, which a thing has whose label is wrong.
    """
    if not queries:
        return []
    random = np.random.default_rng(0)
    cameras = draw_cameras(camera, CAMERAS[0], random)
    seen = [_seen_thing(thing, cameras, camera, other, random) for thing in queries]
    cameras = draw_again(camera, cameras, _weights(cameras, seen), CAMERAS[1], random)
    seen = [_seen_thing(thing, cameras, camera, other, random) for thing in queries]
    weight = _weights(cameras, seen)
    return [_summary(one, weight) for one in seen]


def _weights(cameras: CameraDraws, seen: Sequence[_SeenThing]) -> Array:
    """What each camera counts: how likely it was and how well it explains every thing."""
    logs = cameras.log_weight + np.sum([one.explained() for one in seen], axis=0)
    for softer in (1.0, 1.5, 2.5, 4.0, 8.0):
        weight = np.exp((logs - logs.max()) / softer)
        weight /= weight.sum()
        if 1 / (weight**2).sum() >= MIN_CAMERAS:
            break
    return np.asarray(weight)


def _seen_thing(
    thing: SizeQuery, cameras: CameraDraws, camera: Camera, other: Kind, random: np.random.Generator
) -> _SeenThing:
    """The thing as its label says, and as anything else, before each camera."""
    sure = 1 - thing.doubt
    parts = [
        (thing.kind, WAYS, 1.0, sure * (1 - WRONG_OUTLINE), False),
        (thing.kind, ODD_WAYS, WRONG_NOISE, sure * WRONG_OUTLINE, False),
        (other, ODD_WAYS, 1.0, thing.doubt, True),
    ]
    made = []
    for kind, ways, noise, chance, odd in parts:
        draws = _draws(kind, thing.outline, cameras, camera, ways, random)
        fits = fit_boxes(prior_of(kind), draws, thing.outline, random, noise)
        made.append(_as_seen(fits, draws, ways, chance, odd))
    return _SeenThing(
        *(np.concatenate([getattr(one, name) for one in made], axis=1) for name in _SeenThing.__slots__)
    )


def _spread_of(kind: Kind) -> Array:
    """Spreads of the logarithms of width, depth and height: no class's are narrow, but what is known is."""
    spread = np.array(kind.spread)
    return spread if kind.source in (GIVEN, STANDARD) else np.maximum(spread, MIN_SPREAD)


def prior_of(kind: Kind) -> SizePrior:
    """What is known of a thing of this class before it is seen."""
    spread = _spread_of(kind)
    deep, high, both = kind.together
    together = np.array([[1.0, deep, high], [deep, 1.0, both], [high, both, 1.0]])
    return SizePrior(np.log(kind.size), np.outer(spread, spread) * together)


def _as_seen(fits: Fits, draws: Draws, ways: int, chance: float, odd: bool) -> _SeenThing:
    shape = (-1, ways)
    evidence = fits.evidence.reshape(shape) + np.log(chance / ways)
    raised = (draws.base > 0).reshape(shape)
    return _SeenThing(
        evidence, fits.size.reshape(*shape, 3), fits.far.reshape(shape), raised, np.full(evidence.shape, odd)
    )


def _draws(
    kind: Kind, seen: Outline, cameras: CameraDraws, camera: Camera, ways: int, random: np.random.Generator
) -> Draws:
    num = len(cameras.focal) * ways
    foot = seen.y1 + random.normal(scale=FOOT_ROW_NOISE * seen.tall, size=num)
    if "bottom" in seen.open_sides:
        foot += random.exponential(HIDDEN * seen.tall, num)
    is_raised = random.random(num) < kind.raised
    return Draws(
        focal=np.repeat(cameras.focal, ways),
        above=np.repeat(cameras.above, ways),
        pitch=np.repeat(cameras.pitch, ways),
        yaw=_yaws(cameras, ways, random),
        foot=foot,
        base=np.where(is_raised, random.uniform(MIN_BASE, MAX_BASE, num), 0.0),
        middle=(camera.width / 2, camera.height / 2),
    )


def _yaws(cameras: CameraDraws, ways: int, random: np.random.Generator) -> Array:
    """The same shares of all angles before each camera, so that cameras are compared fairly."""
    num = len(cameras.focal)
    facing = random.normal(scale=FACING_SPREAD, size=round(FACING * YAWS))
    anyhow = random.uniform(-np.pi / 2, np.pi / 2, YAWS - len(facing))
    ranked = np.sort(np.concatenate([facing, anyhow]))
    share = (np.arange(ways) + random.random((num, ways))) / ways
    yaw = ranked[(share * YAWS).astype(int)]
    if cameras.heading is not None:
        walls = cameras.heading[:, None] + random.normal(scale=WALL_SPREAD, size=(num, ways))
        walls += np.where(random.random((num, ways)) < ACROSS, np.pi / 2, 0.0)
        yaw = np.where(random.random((num, ways)) < AT_WALLS, walls, yaw)
    return np.asarray(yaw.ravel())


def _summary(seen: _SeenThing, camera_weight: Array) -> Estimate:
    own = np.exp(seen.evidence - seen.evidence.max(axis=1, keepdims=True))
    own /= own.sum(axis=1, keepdims=True)
    return summary_of(seen.size, own, camera_weight, seen.far, seen.raised, seen.odd)


def summary_of(
    size: Array,
    own: Array,
    camera_weight: Array,
    far: Array,
    raised: NDArray[np.bool_],
    odd: NDArray[np.bool_],
    tail: float = TAIL,
    lean: float = LEAN,
) -> Estimate:
    """One thing's estimate from sizes of shape (camera, way, 3), what each way and each camera counts.

    Volumes that are twice too large cost more, in percent, than those that are half too small: large draws
    count less, by the power `lean`. With a power of 1 a thing is off least, but sums of such are too small.
    """
    joint = own * camera_weight[:, None]
    weight = joint.ravel()
    volume = size.prod(axis=2)
    low, high = _quantiles(volume.ravel(), weight, (tail, 1 - tail))
    [middle] = _quantiles(volume.ravel(), weight * volume.ravel() ** -lean, (0.5,))
    medians = np.array([_quantiles(size[..., axis].ravel(), weight, (0.5,))[0] for axis in range(3)])
    # the medians' product is near the middle volume, not equal: sides give way, the less the surer they are
    width, depth, height = medians * (middle / medians.prod()) ** _doubts(size.reshape(-1, 3), weight)
    there = np.isfinite(far.ravel()) & (weight > 0)
    return Estimate(
        float(width),
        float(depth),
        float(height),
        middle,
        low,
        high,
        distance=_quantiles(far.ravel()[there], weight[there], (0.5,))[0] if there.any() else 0.0,
        shared=_shared(np.log(volume), own, camera_weight),
        raised=float(joint[raised].sum()),
        odd=float(joint[odd].sum()),
    )


def _doubts(size: Array, weight: Array) -> Array:
    """What each side has of the doubt about all three: one that a user measured has nearly none.

    By the middle half of the draws: a few are of things that are not what they are called.
    """
    ends = [_quantiles(size[:, axis], weight, (0.25, 0.75)) for axis in range(3)]
    doubt = np.array([np.log(high / low) ** 2 for low, high in ends]) + 1e-12
    return np.asarray(doubt / doubt.sum())


def _shared(logs: Array, own: Array, camera_weight: Array) -> float:
    """The share of the variance that comes of not knowing the camera.

    Before each camera a thing has few ways that count, so that their means differ by chance too: that part
    is the thing's own.
    """
    means = (own * logs).sum(axis=1)
    around = (own * (logs - means[:, None]) ** 2).sum(axis=1)
    within = float(around @ camera_weight)
    between = float((means - means @ camera_weight) ** 2 @ camera_weight)
    one_way = (own**2).sum(axis=1)  # 1 where a single way counts
    by_chance = float((around * one_way / np.maximum(1 - one_way, MIN_OTHER_WAYS)) @ camera_weight)
    return max(0.0, between - by_chance) / max(within + between, 1e-12)


def _quantiles(values: Array, weight: Array, shares: tuple[float, ...]) -> list[float]:
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    places = np.searchsorted(reached, np.array(shares) * reached[-1])
    return [float(values[order[min(place, len(order) - 1)]]) for place in places]

"""Sizes and ranges of all things of a photo by outlines, one camera and classes, and how they were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.photo import PhotoObject
from penstock.photos import notes
from penstock.photos.camera import Camera
from penstock.photos.edges import roll_of_edges
from penstock.photos.furniture import ALONE, UNKNOWN, Furniture, Kind
from penstock.photos.gaussians import Floats
from penstock.photos.masks import Mask, unpack
from penstock.photos.sizing.ceiling import wall_edges
from penstock.photos.sizing.depth_sizes import estimate_with_depth
from penstock.photos.sizing.outline import Outline, occluders, outline_of
from penstock.photos.sizing.sizes import GIVEN, Estimate, SizeQuery, estimate_photo
from penstock.photos.user_boxes import KnownSize

DOUBT = 0.08  # that a detector, or a person who drew a box, named it wrongly
COARSE_DOUBT = 0.2  # the same of a small detector, whose words are wide: an armchair is a chair to it
UNSEEN_DOUBT = 0.8  # of a word that was given for whatever is in the photo
KNOWN_DOUBT = 0.01
KNOWN_SPREAD = 0.015  # of the logarithm of a length that a user measured
SMALL_DETECTOR = "nanodet"
LIKELY = 0.5  # from this chance on a note says so


def with_estimates(
    things: Sequence[PhotoObject],
    camera: Camera,
    depth: Floats | None,
    furniture: Furniture,
    known: Sequence[KnownSize] = (),
) -> list[PhotoObject]:
    """A photo's things with size, range and how they were measured. They find the camera together."""
    masks = [unpack(thing.mask) for thing in things if thing.mask is not None]
    outlines = [
        outline_of(mask, frozenset(thing.cut), nearer, notes.BOX_TAKEN in thing.measurement_notes)
        for thing, mask, nearer in zip(things, masks, occluders(masks), strict=True)
    ]
    queries = [
        _query(thing, outline, furniture, known) for thing, outline in zip(things, outlines, strict=True)
    ]
    by_depth = _by_depth(queries, masks, depth, camera)
    found: list[Estimate | None] = list(by_depth)
    if not all(by_depth):
        by_class = estimate_photo(queries, before_walls(camera, masks), furniture.kinds[UNKNOWN])
        found = [one or other for one, other in zip(by_depth, by_class, strict=True)]
    return [
        _with_notes(_measured(thing, one), seek, one, camera, measured is not None)
        for thing, seek, one, measured in zip(things, queries, found, by_depth, strict=True)
        if one is not None
    ]


def before_walls(camera: Camera, masks: Sequence[Mask]) -> Camera:
    """The camera with those edges of its photo that may be a wall's."""
    if camera.edges is None:
        return camera
    roll = roll_of_edges(camera.edges, camera.focal, camera.pitch)
    return replace(camera, walls=wall_edges(camera.edges, masks, camera.width, camera.height).levelled(roll))


def _by_depth(
    queries: Sequence[SizeQuery], masks: Sequence[Mask], depth: Floats | None, camera: Camera
) -> Sequence[Estimate | None]:
    return [None] * len(queries) if depth is None else estimate_with_depth(queries, masks, depth, camera)


def _query(
    thing: PhotoObject, outline: Outline, furniture: Furniture, known: Sequence[KnownSize]
) -> SizeQuery:
    kind = furniture.find(thing.label)
    sizes = [
        one
        for one in known
        if furniture.find(one.label).name == kind.name != UNKNOWN or one.label == thing.label
    ]
    if sizes:
        return SizeQuery(_with_known(kind, sizes), outline, KNOWN_DOUBT)
    return SizeQuery(kind, outline, _doubt(thing))


def _with_known(kind: Kind, sizes: Sequence[KnownSize]) -> Kind:
    size, spread = list(kind.size), list(kind.spread)
    for one in sizes:
        size[one.axis], spread[one.axis] = one.metres, KNOWN_SPREAD
    # a class's correlations are about its own median, from which a known length may be far
    return replace(
        kind,
        size=(size[0], size[1], size[2]),
        spread=(spread[0], spread[1], spread[2]),
        source=GIVEN,
        together=ALONE,
    )


def _doubt(thing: PhotoObject) -> float:
    if _is_unseen(thing):
        return UNSEEN_DOUBT
    return COARSE_DOUBT if thing.finder == SMALL_DETECTOR else DOUBT


def _is_unseen(thing: PhotoObject) -> bool:
    """Whether no detector saw the label: saliency outlines one thing and gives it the label it was given."""
    return thing.finder == "saliency" and thing.label != UNKNOWN


def _measured(thing: PhotoObject, found: Estimate) -> PhotoObject:
    return replace(
        thing,
        estimate="prior",
        size=(found.width, found.depth, found.height),
        low_cbm=found.low,
        high_cbm=found.high,
        distance=None if found.raised > LIKELY else found.distance or None,
        shared=round(found.shared, 4),
    )


def _with_notes(
    thing: PhotoObject, query: SizeQuery, found: Estimate, camera: Camera, by_depth: bool
) -> PhotoObject:
    words = {
        notes.CAMERA_BY_DEPTH: by_depth,
        notes.CAMERA_GIVEN: camera.height_known and not by_depth,
        notes.CAMERA_FOUND: not camera.height_known and not by_depth,
        notes.LENS_BY_EXIF: camera.focal_known and not camera.focal_by_depth,
        notes.LENS_BY_DEPTH: camera.focal_by_depth,
        notes.LENS_GUESSED: not camera.focal_known,
        notes.SIZE_KNOWN: query.kind.source == GIVEN,
        notes.BOX_TAKEN: notes.BOX_TAKEN in thing.measurement_notes,
        notes.FOUND_TWICE: notes.FOUND_TWICE in thing.measurement_notes,
        notes.LABEL_NOT_SEEN: _is_unseen(thing),
        notes.NOT_ITS_LABEL: found.odd > LIKELY and query.kind.name != UNKNOWN,
        notes.UNKNOWN_KIND: query.kind.name == UNKNOWN and thing.label != UNKNOWN,
        notes.NOT_ON_FLOOR: found.raised > LIKELY,
        notes.CUT: bool(thing.cut),
        notes.HIDDEN: bool(query.outline.open_sides - set(thing.cut)),
    }
    return replace(thing, measurement_notes=tuple(word for word, holds in words.items() if holds))

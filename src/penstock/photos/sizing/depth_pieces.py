"""Which pixels of a depth map are a thing's: an outline is off by some pixels, and depth jumps at its edge.

Pixels that go on from one to the next without a jump are a piece. A piece that lies inside the outline is the
thing's, up to its own edge; one that goes on outside is what is behind or before. Where a thing and what it
touches are one piece, the outline without its rim has to do. The edge of a piece is the thing's own where
what surrounds it is farther, and open where it is nearer or where the frame ends: there it may go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from penstock.box import Box, area, iou
from penstock.photos.masks import Mask, box_of
from penstock.photos.sizing.floor import Array

JUMP, JUMP_SHARE = 0.04, 0.01  # m, and share of the distance, from one pixel to the next
BENT, BENT_SHARE = 0.004, 0.001  # the same, of how far a pixel is from the straight line through two others
HIDES = 2.0  # times as far before the straight line is what hides how a surface goes on
REACH = 3  # pixels that an outline may be short or long
MARGIN = 0.35  # of the outline's box, around it: there one sees that a wall goes on
WITHIN = 0.9  # of a piece's pixels are in reach of the outline of its thing
MOSTLY = 0.5  # of an outline is its thing
BOX_FILLED = 0.97  # of a box is mask: an outline that failed, or a thing that fills its box
MIN_ALIKE = 0.3  # overlap of a piece's box with a box that was taken for an outline
MIN_PART = 0.02  # of a thing's pixels: smaller pieces are specks
FLOOR_SKIN = 0.03  # m above the floor that may be floor
RIM = 3  # pixels: half of them at either side of an outline may be what is behind


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A thing's pixels, which of them lie at an open or an own edge, and how many pixels are lost at an edge.

    `sure` are those well inside the outline: the thing does not go on for more than REACH pixels from them.
    """

    pixels: Mask
    sure: Mask
    open_edge: Mask
    own_edge: Mask
    lost: float


def find_pieces(masks: Sequence[Mask], points: Array) -> list[Piece | None]:
    """The thing of each outline in a room of points, (height, width, 3); None for one without points."""
    inner = [np.zeros_like(mask) if _is_box(mask) else _without_rim(mask) for mask in masks]
    taken = np.sum(inner, axis=0, dtype=np.uint8)
    return [
        _piece(mask, points, taken > own.astype(np.uint8)) for mask, own in zip(masks, inner, strict=True)
    ]


def _piece(mask: Mask, points: Array, taken: Mask) -> Piece | None:
    """`taken` are pixels of other things."""
    if not mask.any():
        return None
    window = _window(mask)
    inside, in_room = mask[window], points[window]
    away = np.hypot(in_room[..., 0], in_room[..., 1])
    there = np.isfinite(away) & (in_room[..., 2] > FLOOR_SKIN)
    found, lost = _chosen(inside, away, there & ~taken[window])
    if not found.any():
        return None
    around = np.where(there, away, np.inf)  # the floor before a thing hides nothing of it
    return _with_edges(found, around, window, mask, lost)


def _window(mask: Mask) -> tuple[slice, slice]:
    x0, y0, x1, y1 = _box(mask)
    aside, up = (REACH + round(MARGIN * size) for size in (x1 - x0, y1 - y0))
    return (
        slice(max(0, int(y0) - up), int(y1) + up),
        slice(max(0, int(x0) - aside), int(x1) + aside),
    )


def _chosen(mask: Mask, away: Array, there: Mask) -> tuple[Mask, float]:
    """The pieces that are the outline's thing, and how many pixels are lost at their edges."""
    reach = cv2.dilate(mask.astype(np.uint8), np.ones((2 * REACH + 1, 2 * REACH + 1), np.uint8)) > 0
    if _is_box(mask):
        found = _in_box(mask, reach, _pieces(away, there, np.zeros_like(mask)), _pieces(away, there, mask))
        if found.any():
            return found, 0
    inner, deep = _without_rim(mask), _without_rim(mask, 2 * REACH + 1)
    pieces = _pieces(away, there, deep)
    held = _held(pieces, deep)
    whole = [one for one in held if _share_inside(pieces == one, reach) > WITHIN]
    found = np.isin(pieces, whole) & reach
    if found.sum() > MOSTLY * mask.sum():
        return found, 0
    found = np.isin(pieces, held) & inner  # it is one with what is around it
    return (found if found.any() else inner & there), RIM // 2


def _held(pieces: NDArray[np.int32], deep: Mask) -> list[int]:
    """The pieces that hold a part of what is deep inside an outline; others are what is seen around it."""
    ids, counts = np.unique(pieces[deep & (pieces > 0)], return_counts=True)
    return [int(one) for one in ids[counts >= MIN_PART * counts.sum()]]


def _pieces(away: Array, there: Mask, own: Mask) -> NDArray[np.int32]:
    """The number of each pixel's piece, 0 where there is none. Folds end a piece but in pixels of `own`."""
    filled = np.where(there, away, np.inf)
    bents = _bent(filled), _bent(filled.T).T
    smooth = _smooth(filled, bents[0]), _smooth(filled.T, bents[1].T).T
    fold = _folds(bents[0], smooth[0]) | _folds(bents[1].T, smooth[1].T).T
    # between two pixels stands a third, which is there if one goes on to the other
    links = np.zeros((2 * away.shape[0] - 1, 2 * away.shape[1] - 1), np.uint8)
    links[::2, ::2] = there
    links[::2, 1::2] = smooth[0] & _unfolded(fold, own)
    links[1::2, ::2] = smooth[1] & _unfolded(fold.T, own.T).T
    return np.asarray(cv2.connectedComponents(links, connectivity=4)[1][::2, ::2], np.int32)


def _bent(away: Array) -> Array:
    """How far each pixel is behind the straight line through its two neighbours, in what is allowed.

    One over the distance is linear where a surface is flat.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = away[:, 1:-1]
        bent = np.diff(1 / away, 2, axis=1) * middle**2 / (BENT + BENT_SHARE * middle)
    return np.pad(bent, ((0, 0), (1, 1)), constant_values=np.nan)


def _smooth(away: Array, bent: Array) -> Mask:
    """Whether each pixel goes on to the one at its right: there is no jump, or a straight line."""
    with np.errstate(invalid="ignore"):
        near = np.minimum(away[:, :-1], away[:, 1:])
        step = np.abs(np.diff(away, axis=1)) < JUMP + JUMP_SHARE * near
        straight = np.abs(bent) < 1
    both = np.isfinite(away[:, :-1]) & np.isfinite(away[:, 1:])
    return np.asarray(both & (step | straight[:, :-1] | straight[:, 1:]))


def _folds(bent: Array, smooth: Mask) -> Mask:
    """Pixels in which two surfaces meet: behind the straight line, and no jump at either side."""
    between = np.pad(smooth[:, :-1] & smooth[:, 1:], ((0, 0), (1, 1)))
    with np.errstate(invalid="ignore"):
        return np.asarray(between & (bent > 1))


def _unfolded(fold: Mask, own: Mask) -> Mask:
    """Whether no fold is between each pixel and the one at its right, or both are `own`."""
    return np.asarray(~(fold[:, :-1] | fold[:, 1:]) | (own[:, :-1] & own[:, 1:]))


def _in_box(mask: Mask, reach: Mask, pieces: NDArray[np.int32], wider: NDArray[np.int32]) -> Mask:
    """The piece whose own box is most like this one, and those in the box that are one with it."""
    main = _most_alike(mask, reach, pieces)
    if main is None:
        return np.zeros_like(mask)
    numbers, counts = np.unique(wider[main], return_counts=True)
    around = np.where((wider == numbers[counts.argmax()]) & mask, pieces, 0)
    ids = [one for one in np.unique(around[around > 0]) if _share_inside(pieces == one, reach) > WITHIN]
    return main | (np.isin(pieces, ids) & reach)


def _share_inside(piece: Mask, reach: Mask) -> float:
    return float((piece & reach).sum() / piece.sum())


def _most_alike(box: Mask, reach: Mask, pieces: NDArray[np.int32]) -> Mask | None:
    """The piece whose own box is most like this one: what is behind goes on outside of it."""
    best, found = MIN_ALIKE, None
    ids, counts = np.unique(pieces[box & (pieces > 0)], return_counts=True)
    for one in ids[counts >= MIN_PART * box.sum()]:
        whole = pieces == one
        alike = iou(_box(whole), _box(box))
        if alike > best:
            best, found = alike, whole & reach
    return found


def _box(mask: Mask) -> Box:
    """The box of a mask that is not empty."""
    box = box_of(mask)
    assert box is not None
    return box


def _is_box(mask: Mask) -> bool:
    box = box_of(mask)
    return box is not None and mask.sum() > BOX_FILLED * area(box)


def _without_rim(mask: Mask, rim: int = RIM) -> Mask:
    inner = cv2.erode(mask.astype(np.uint8), np.ones((rim, rim), np.uint8)) > 0
    return np.asarray(inner if inner.sum() > 0.3 * mask.sum() else mask)


def _with_edges(found: Mask, away: Array, window: tuple[slice, slice], mask: Mask, lost: float) -> Piece:
    """The piece in the whole photo, and what its edges are."""
    shape = mask.shape
    pixels = np.zeros(shape, bool)
    pixels[window] = found
    inverse = np.pad(np.zeros(shape), 1, constant_values=np.inf)  # the frame is nearer than everything
    inverse[1:-1, 1:-1][window] = 1 / away
    beyond = np.pad(pixels, 1)
    here = inverse[1:-1, 1:-1]
    opened, owned = np.zeros(shape, bool), np.zeros(shape, bool)
    for dy, dx in ((0, 1), (2, 1), (1, 0), (1, 2)):
        ahead, behind = (
            (slice(y, y + shape[0]), slice(x, x + shape[1])) for y, x in ((dy, dx), (2 - dy, 2 - dx))
        )
        edge = pixels & ~beyond[ahead]
        before = np.where(beyond[behind], inverse[behind], here)
        straight_on = 2 * here - before
        nearer = inverse[ahead] - straight_on > HIDES * here * (BENT * here + BENT_SHARE)
        opened |= edge & nearer
        owned |= edge & ~nearer
    opened, owned = (_wider(edge) & pixels for edge in (opened, owned))
    sure = pixels & _without_rim(mask)
    return Piece(pixels, sure if sure.any() else pixels, opened, owned & ~opened, lost)


def _wider(mask: Mask) -> Mask:
    return np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0)

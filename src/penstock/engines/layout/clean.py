"""Cleans what a layout network found: duplicates, nested boxes, order, margins.

The rules are those that PP-DocLayoutV3 is published with: thresholds by class, suppression of duplicates,
page-sized pictures, boxes inside boxes, reading order, unclip. Pairs of boxes that touch are found
at once and judged as columns, in float64, so that a tie falls as it does in a loop over plain numbers.
Knows nothing of networks or pixels: arrays in, arrays out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from penstock.choices import Merge
from penstock.region import LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

SAME_CLASS = 0.6  # overlap at which the weaker of two boxes of one class goes
OTHER_CLASS = 0.98  # of two classes: only when they are practically the same box
CONTAINED = 0.8  # share of its own area at which a box lies inside another
PAGE_SIZED = {"landscape": 0.82, "portrait": 0.93}  # share of the page at which an image is the page itself
KEPT_INSIDE = ("image", "seal", "chart")  # never dropped for lying inside something

# A box inside another goes, save that a list of references gives way to the references in it.
MERGE: Mapping[str, Merge] = {**dict.fromkeys(LABELS, "large"), "reference": "small"}


@dataclass(frozen=True, slots=True)
class FoundBoxes:
    """Boxes as columns. `order` is the place in reading order, `query` where the box came from."""

    labels: Ints  # (n,), places in the vocabulary
    scores: Floats  # (n,)
    boxes: Floats  # (n, 4) in pixels
    order: Ints  # (n,)
    query: Ints  # (n,)

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, which: Ints | Flags) -> FoundBoxes:
        """The rows that `which` names, in its order."""
        return FoundBoxes(
            self.labels[which], self.scores[which], self.boxes[which], self.order[which], self.query[which]
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts as a find. `class_thresholds`, `merge` and `unclip_by_class` go by label name.

    `unclip` grows a box about its centre by these factors of its width and height. Without `nms` boxes
    that overlap stay, and only what lies inside another is judged.
    """

    threshold: float = 0.3
    class_thresholds: Mapping[str, float] = field(default_factory=dict)
    merge: Mapping[str, Merge] = field(default_factory=lambda: MERGE)
    unclip: tuple[float, float] = (1.0, 1.0)
    unclip_by_class: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    nms: bool = True
    names: tuple[str, ...] = LABELS
    tables: RuleArrays = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", _tables(self))

    @property
    def lowest_threshold(self) -> float:
        """What a network must keep so that no class loses a box too early."""
        return min([self.threshold, *self.class_thresholds.values()])


def rules_from(
    threshold: float,
    class_thresholds: Mapping[str, float],
    merge: Merge | None,
    class_merge: Mapping[str, Merge],
    unclip: tuple[float, float],
    class_unclip: Mapping[str, tuple[float, float]],
    nms: bool,
) -> Rules:
    """Returns the rules for a stage's settings. `merge` is for all classes; None means as published."""
    everywhere = MERGE if merge is None else dict.fromkeys(LABELS, merge)
    return Rules(
        threshold=threshold,
        class_thresholds=class_thresholds,
        merge={**everywhere, **class_merge},
        unclip=unclip,
        unclip_by_class=class_unclip,
        nms=nms,
    )


@dataclass(frozen=True, slots=True)
class RuleArrays:
    """The rules as arrays, indexed by a label's number."""

    thresholds: Floats
    large: Flags
    small: Flags
    movable: Flags  # may be dropped for lying inside something
    unclip: Floats  # (labels, 2)
    grows: bool
    image: int


def _tables(rules: Rules) -> RuleArrays:
    names = rules.names
    unclip = np.array([rules.unclip_by_class.get(name, rules.unclip) for name in names], dtype=np.float64)
    return RuleArrays(
        thresholds=np.array([rules.class_thresholds.get(name, rules.threshold) for name in names]),
        large=np.array([rules.merge.get(name) == "large" for name in names]),
        small=np.array([rules.merge.get(name) == "small" for name in names]),
        movable=np.array([name not in KEPT_INSIDE for name in names]),
        unclip=unclip,
        grows=bool((unclip != 1.0).any()),
        image=names.index("image") if "image" in names else -1,
    )


DEFAULT = Rules()


def clean(found: FoundBoxes, width: int, height: int, rules: Rules = DEFAULT) -> FoundBoxes:
    """The boxes that stay, in reading order, grown as the rules say and cut to the page."""
    tables = rules.tables
    rows = np.flatnonzero(found.scores >= tables.thresholds[found.labels])
    rows = rows[np.argsort(found.scores[rows], kind="stable")[::-1]]
    labels, boxes = found.labels[rows], found.boxes[rows]
    pairs = _touching(boxes)
    stay = _unsuppressed(labels, boxes, pairs) if rules.nms else np.ones(len(boxes), dtype=bool)
    stay &= _not_page_sized(labels, boxes, stay, width, height, tables.image)
    stay &= _not_nested(labels, boxes, pairs, stay, tables)
    rows = rows[stay]
    rows = rows[np.argsort(found.order[rows], kind="stable")]
    return _on_page(_unclipped(found.take(rows), tables), width, height)


def _touching(boxes: Floats) -> tuple[Ints, Ints]:
    """All pairs (i, j), i before j and both ways round, of boxes that are less than a pixel apart.

    Few of a page's boxes touch, so that what follows computes on these pairs alone.
    """
    x0, y0, x1, y1 = np.ascontiguousarray(boxes.T)
    both = (x1 + 1)[:, None] > x0
    both &= (y1 + 1)[:, None] > y0
    both &= both.T.copy()
    np.fill_diagonal(both, False)
    first, second = np.nonzero(both)
    return first, second


def _unsuppressed(labels: Ints, boxes: Floats, pairs: tuple[Ints, Ints]) -> Flags:
    """Keeps the rows (best first) that no better kept row overlaps too much.

    Boxes count their last pixel in, as integer boxes do: each side is one longer.
    """
    stay = np.ones(len(boxes), dtype=bool)
    ordered = pairs[0] < pairs[1]
    better, worse = pairs[0][ordered], pairs[1][ordered]
    sides = boxes[:, 2:] - boxes[:, :2] + 1
    areas = sides[:, 0] * sides[:, 1]
    shared = _shared(boxes, better, worse, 1.0)
    limits = np.where(labels[better] == labels[worse], SAME_CLASS, OTHER_CLASS)
    over = shared / (areas[better] + areas[worse] - shared) >= limits
    for strong, weak in zip(better[over].tolist(), worse[over].tolist(), strict=True):
        if stay[strong]:
            stay[weak] = False
    return stay


def _shared(boxes: Floats, first: Ints, second: Ints, extra: float) -> Floats:
    """The area each pair has in common, with both sides longer by `extra`."""
    sides = np.minimum(boxes[first, 2:], boxes[second, 2:])
    sides -= np.maximum(boxes[first, :2], boxes[second, :2])
    sides += extra
    np.maximum(sides, 0.0, out=sides)
    return np.asarray(sides[:, 0] * sides[:, 1])


def _not_page_sized(labels: Ints, boxes: Floats, stay: Flags, width: int, height: int, image: int) -> Flags:
    """Drops images that are the whole page, unless nothing else is there."""
    pictures = stay & (labels == image)
    if not pictures.any() or np.count_nonzero(stay) < 2:
        return stay
    limit = PAGE_SIZED["landscape" if width > height else "portrait"] * (width * height)
    sides = np.minimum(boxes[:, 2:], (width, height)) - np.maximum(boxes[:, :2], 0)
    smaller = stay & ~(pictures & (sides[:, 0] * sides[:, 1] > limit))
    return smaller if smaller.any() else stay


def _not_nested(
    labels: Ints, boxes: Floats, pairs: tuple[Ints, Ints], stay: Flags, tables: RuleArrays
) -> Flags:
    """Drops what lies inside a box of a `large` class, and what holds a box of a `small` class."""
    judged = stay[pairs[0]] & stay[pairs[1]] & tables.movable[labels[pairs[0]]]
    inner, outer = pairs[0][judged], pairs[1][judged]
    sides = boxes[:, 2:] - boxes[:, :2]
    areas = sides[:, 0] * sides[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):  # a box without area lies in nothing
        inside = _shared(boxes, inner, outer, 0.0) / areas[inner] >= CONTAINED
    inner, outer = inner[inside], outer[inside]
    free = np.ones(len(boxes), dtype=bool)
    free[inner[tables.large[labels[outer]]]] = False
    held = tables.small[labels[inner]]
    if held.any():
        free &= _not_around(labels, inner[held], outer[held])
    return free


def _not_around(labels: Ints, inner: Ints, outer: Ints) -> Flags:
    """Drops what holds a box of a small class, unless it is itself such a box held by another."""
    free = np.ones(len(labels), dtype=bool)
    for label in np.unique(labels[inner]):
        of_class = labels[inner] == label
        free[np.setdiff1d(outer[of_class], inner[of_class])] = False
    return free


def _unclipped(found: FoundBoxes, tables: RuleArrays) -> FoundBoxes:
    if not tables.grows:
        return found
    sizes = found.boxes[:, 2:] - found.boxes[:, :2]
    centres = found.boxes[:, :2] + sizes / 2
    reach = sizes * tables.unclip[found.labels] / 2
    boxes = np.concatenate([centres - reach, centres + reach], axis=1)
    return FoundBoxes(found.labels, found.scores, boxes, found.order, found.query)


def _on_page(found: FoundBoxes, width: int, height: int) -> FoundBoxes:
    """Cuts boxes to the page and drops those with no area left."""
    boxes = np.maximum(found.boxes, 0.0)
    np.minimum(boxes, (width, height, width, height), out=boxes)
    stay = (boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3])
    cut = FoundBoxes(found.labels, found.scores, boxes, found.order, found.query)
    return cut if stay.all() else cut.take(stay)

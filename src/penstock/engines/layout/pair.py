"""Finds the blocks of a page with both built-in networks, each for what it sees better.

Our own network tells blocks of text apart, names them and puts them in reading order. Its boxes of tables,
pictures and formulas are often shifted or cut; those of CDLA's network are close, so they take their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from penstock.box import area, iou, shared_area
from penstock.engines.layout.cdla import CdlaLayout, Detection
from penstock.engines.layout.doclayout_output import PlacedDetection
from penstock.engines.layout.student import StudentLayout
from penstock.region import PICTURE_LABELS

if TYPE_CHECKING:
    from penstock.box import Pixels

CLOSE = ("table", "image", "display_formula")  # whose boxes CDLA's network draws closer, in turn
SOLID = PICTURE_LABELS | {"table"}  # which a formula does not replace
INSIDE = 0.7  # share of a box that lies in the one that takes its place
SAME = 0.3  # share of the smaller of two boxes of one label that are the same block
TWIN = 0.5  # of the area of both together that two pictures share which are one
SURE, MAX_TEXT = 0.7, 0.3  # a score of text, and the share of a table by the others that such text may cover
LARGER = 2.0  # times a formula's area: a paragraph or a table that it stands in


class PairLayout:
    """The open networks. `detect` may be called from many threads."""

    def __init__(
        self, threads: int = 1, threshold: float | None = None, by_label: Mapping[str, float] | None = None
    ) -> None:
        self._own = StudentLayout(threads, threshold, by_label)
        self._cdla = CdlaLayout(threads, threshold, by_label)

    def detect(self, pixels: Pixels) -> list[Detection]:
        """Returns the page's blocks. Those that only CDLA's network sees have no place in the order."""
        return joined(self._own.detect(pixels), self._cdla.detect(pixels))

    def close(self) -> None:
        self._own.close()
        self._cdla.close()


def joined(own: Sequence[PlacedDetection], others: Sequence[Detection]) -> list[Detection]:
    """Returns our blocks, those that lie in a table, a formula or a picture of the others' replaced by it.

    A picture that the others alone see counts for nothing: it may be text on a coloured ground.
    """
    found: list[Detection] = list(own)
    close = [other for other in others if other.label in CLOSE]
    for block in sorted(close, key=lambda block: CLOSE.index(block.label)):
        if _is_seen(block, found):
            replaced = [other for other in found if _is_replaced(other, block)]
            found = [other for other in found if not any(other is gone for gone in replaced)]
            found.append(_in_place_of(replaced, block))
    return found


def _is_seen(block: Detection, found: Sequence[Detection]) -> bool:
    """Whether a block may stand among those found.

    A formula stands in no paragraph, a picture where we see one, a table not where we surely see text.
    """
    if block.label == "image":
        return any(other.label in PICTURE_LABELS and iou(other.box, block.box) > TWIN for other in found)
    if block.label == "table":
        return any(map(partial(_is_same, block), found)) or _sure_text(found, block) < MAX_TEXT * area(
            block.box
        )
    shared = ((shared_area(other.box, block.box), area(other.box)) for other in found)
    return not any(
        part > INSIDE * area(block.box) and whole > LARGER * area(block.box) for part, whole in shared
    )


def _is_replaced(own: Detection, block: Detection) -> bool:
    if block.label == "image" and own.label not in PICTURE_LABELS:
        return False
    if block.label == "display_formula" and own.label in SOLID:
        return False
    return _is_same(block, own) or shared_area(own.box, block.box) > INSIDE * area(own.box)


def _is_same(block: Detection, own: Detection) -> bool:
    shared = shared_area(own.box, block.box)
    return own.label == block.label and shared > SAME * min(area(own.box), area(block.box))


def _sure_text(found: Sequence[Detection], table: Detection) -> float:
    """Returns the area of the blocks in a table that we are sure are text."""
    return sum(
        area(own.box)
        for own in found
        if own.label not in SOLID
        and own.score >= SURE
        and shared_area(own.box, table.box) > INSIDE * area(own.box)
    )


def _in_place_of(replaced: Sequence[Detection], block: Detection) -> Detection:
    """Returns the block with the place of the first one replaced, and what we call a picture of its kind."""
    places = [each for each in replaced if isinstance(each, PlacedDetection)]
    if not places:
        return block
    first = min(places, key=lambda each: each.order)
    label = block.label
    if label == "image":
        label = max(places, key=lambda each: iou(each.box, block.box)).label
    return PlacedDetection(label, block.native_label, block.box, block.score, first.order)

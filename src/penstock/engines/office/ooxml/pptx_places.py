"""Where the shapes of a slide are: in groups, and where its layout and master have their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from penstock.box import Box
from penstock.engines.office.package import (
    PartRelation,
    XmlPackage,
    attribute,
    child,
    descendants,
    local,
    number,
)

EMU = 9_525  # of a pixel at 96 to the inch, in which boxes are given
GROUPS = ("AlternateContent", "Choice", "grpSp")
SHAPES = ("sp", "pic", "graphicFrame")
# what stands for several kinds in a master
MASTER_KINDS = {"ctrTitle": "title", "subTitle": "body", "obj": "body", "": "body"}


class GroupPlace(NamedTuple):
    """Where the measure of a group begins on the slide, and how wide and high one of its units is there."""

    x: float = 0
    y: float = 0
    wide: float = 1
    high: float = 1

    def on_slide(self, box: Box) -> Box:
        left, top, right, bottom = box
        return (self.x + left * self.wide, self.y + top * self.high,
                self.x + right * self.wide, self.y + bottom * self.high)  # fmt: skip


WHOLE_SLIDE = GroupPlace()


class Placeholder(NamedTuple):
    """A place of a layout or a master."""

    kind: str
    number: str
    box: Box


def shapes_of(tree: Element | None, group: GroupPlace = WHOLE_SLIDE) -> Iterator[tuple[Element, GroupPlace]]:
    """Yields shapes in the order of the file, those of groups too, with their group's place."""
    for inner in tree if tree is not None else ():
        name = local(inner)
        if name in GROUPS:
            yield from shapes_of(inner, _in_group(inner, group) if name == "grpSp" else group)
        elif name in SHAPES:
            yield inner, group


def own_box(shape: Element, group: GroupPlace = WHOLE_SLIDE) -> Box | None:
    """Returns the box that a shape says itself."""
    place = next(descendants(shape, "xfrm"), None)
    box = _box(place, "off", "ext")
    return group.on_slide(box) if box is not None else None


def placeholders_of(package: XmlPackage, relations: dict[str, PartRelation]) -> list[Placeholder]:
    """Returns the places of a slide's layout, then those of its master."""
    layout = _related(relations, "slideLayout")
    if not layout or not package.has(layout):
        return []
    master = _related(package.relations(layout), "slideMaster")
    below = list(_placeholders(package, master, [])) if master and package.has(master) else []
    return [*_placeholders(package, layout, below), *below]


def box_of_placeholder(holder: Element, places: list[Placeholder]) -> Box | None:
    """Returns the box of the place that a shape names: by its number, or else by its kind."""
    kind, number = attribute(holder, "type"), attribute(holder, "idx")
    by_number = (place for place in places if number and place.number == number)
    by_kind = (place for place in places if place.kind == kind)
    by_role = (place for place in places if _role(place.kind) == _role(kind))
    return next((place.box for found in (by_number, by_kind, by_role) for place in found), None)


def _placeholders(package: XmlPackage, part: str, below: list[Placeholder]) -> Iterator[Placeholder]:
    for shape, group in shapes_of(child(package.xml(part), "cSld", "spTree")):
        holder = next(descendants(shape, "ph"), None)
        if holder is not None:
            box = own_box(shape, group) or box_of_placeholder(holder, below)
            if box is not None:
                yield Placeholder(attribute(holder, "type"), attribute(holder, "idx"), box)


def _related(relations: dict[str, PartRelation], kind: str) -> str:
    return next((each.target for each in relations.values() if each.kind == kind and not each.is_outside), "")


def _role(kind: str) -> str:
    return MASTER_KINDS.get(kind, kind)


def _in_group(element: Element, group: GroupPlace) -> GroupPlace:
    place = child(element, "grpSpPr", "xfrm")
    outer, inner = _box(place, "off", "ext"), _box(place, "chOff", "chExt")
    if outer is None or inner is None:
        return group
    left, top, right, bottom = group.on_slide(outer)
    wide = (right - left) / (inner[2] - inner[0] or 1)
    high = (bottom - top) / (inner[3] - inner[1] or 1)
    return GroupPlace(left - inner[0] * wide, top - inner[1] * high, wide, high)


def _box(place: Element | None, start: str, size: str) -> Box | None:
    corner, sides = child(place, start), child(place, size)
    if corner is None or sides is None:
        return None
    x, y = number(corner, "x") / EMU, number(corner, "y") / EMU
    return (x, y, x + number(sides, "cx") / EMU, y + number(sides, "cy") / EMU)

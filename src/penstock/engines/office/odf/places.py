"""Where the shapes of an OpenDocument slide are, and how large the slide is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from penstock.box import Box
from penstock.engines.office.blocks import UNIT_SIDE
from penstock.engines.office.package import XmlPackage, attribute, child, descendants, local

# pixels at 96 to the inch, in which boxes are given
PIXELS = {"in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72, "pc": 16.0, "px": 1.0}
MAX_GROUPS = 20  # in each other
_LENGTH = re.compile(r"(-?\d{1,6}(?:\.\d{1,9})?)(in|cm|mm|pt|pc|px)")


def shapes_of(page: Element, depth: int = 0) -> Iterator[Element]:
    """Yields the shapes of a slide, those of groups too, in the order of the file."""
    for inner in page:
        if local(inner) == "g" and depth < MAX_GROUPS:
            yield from shapes_of(inner, depth + 1)
        else:
            yield inner


def own_box(shape: Element) -> Box | None:
    """Returns a shape's box on its slide; None for one that is turned or says none."""
    x, y, wide, high = (_pixels(attribute(shape, name)) for name in ("x", "y", "width", "height"))
    if x is None or y is None or not wide or not high or attribute(shape, "transform"):
        return None
    return x, y, x + wide, y + high


def page_size(package: XmlPackage, page: Element) -> tuple[float, float]:
    """Returns the width and height of a slide, which its master's layout has."""
    tree = package.xml_if_there("styles.xml")
    wanted = attribute(page, "master-page-name")
    masters = (row for row in descendants(tree, "master-page") if attribute(row, "name") == wanted)
    layout = attribute(next(masters, None), "page-layout-name")
    for row in descendants(tree, "page-layout"):
        if attribute(row, "name") != layout:
            continue
        settings = child(row, "page-layout-properties")
        wide, high = (_pixels(attribute(settings, name)) for name in ("page-width", "page-height"))
        if wide and high:
            return wide, high
    return UNIT_SIDE, UNIT_SIDE


def _pixels(length: str) -> float | None:
    found = _LENGTH.fullmatch(length)
    return float(found[1]) * PIXELS[found[2]] if found else None

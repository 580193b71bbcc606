"""What styles of an OpenDocument say that its content does not: page breaks, numbers, what is hidden."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from penstock.engines.office.package import XmlPackage, attribute, child, children, local

HIDING = (("table-properties", "display", "false"), ("drawing-page-properties", "visibility", "hidden"))


@dataclass(slots=True)
class OdfStyles:
    """Styles by name: their parents, those that begin a page or hide what has them, and lists that count."""

    parents: dict[str, str] = field(default_factory=dict)
    breaks: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    ordered: set[tuple[str, int]] = field(default_factory=set)  # by style and depth
    margins: list[Element] = field(default_factory=list)  # running headers and footers


def read_styles(package: XmlPackage) -> OdfStyles:
    found = OdfStyles()
    for part in ("styles.xml", "content.xml"):
        tree = package.xml_if_there(part)
        for row in tree.iter() if tree is not None else ():
            if local(row) == "style":
                _add(row, found)
            elif local(row) == "list-style":
                levels = children(row, "list-level-style-number")
                numbers = (number(level, "level") for level in levels if attribute(level, "num-format"))
                found.ordered |= {(attribute(row, "name"), level - 1) for level in numbers}
            elif local(row) == "master-page":
                found.margins += [each for each in row if local(each).startswith(("header", "footer"))]
    return found


def _add(row: Element, found: OdfStyles) -> None:
    name, parent = attribute(row, "name"), attribute(row, "parent-style-name")
    if parent and parent != name:
        found.parents[name] = parent
    if attribute(child(row, "paragraph-properties"), "break-before") == "page":
        found.breaks.add(name)
    if any(attribute(child(row, properties), setting) == value for properties, setting, value in HIDING):
        found.hidden.add(name)


def number(element: Element, name: str) -> int:
    """Returns a count that an element has; 1 where it has none."""
    text = attribute(element, name)
    return int(text) if text.isdecimal() and len(text) < 9 else 1

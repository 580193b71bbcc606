"""Settings of OOXML: elements whose attribute `val` says all."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from penstock.engines.office.package import attribute, child

ON = frozenset({"1", "true", "on"})


def setting(element: Element | None, *path: str, default: str = "") -> str:
    """Returns what a setting says, by the names that lead to it; the default where it is not there."""
    found = child(element, *path)
    return default if found is None else attribute(found, "val")


def is_on(switch: Element | None) -> bool:
    """Returns whether a switch is there and not off: without a value it is on."""
    return switch is not None and attribute(switch, "val", "1") in ON

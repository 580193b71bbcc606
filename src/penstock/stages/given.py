"""What a user says of a photo: a box around a thing, a depth map."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from penstock.item import Box, Item


@dataclass(frozen=True, slots=True)
class GivenBox:
    """A box a user drew. `photo` is the end of a photo's path, or empty for every photo."""

    photo: str
    box: Box
    label: str


@dataclass(frozen=True, slots=True)
class GivenDepth:
    """The file with a photo's depth; `photo` as above."""

    photo: str
    path: str


def is_for(given: GivenBox | GivenDepth, item: Item) -> bool:
    name = given.photo
    return not name or item.document == name or PurePath(item.uri).match(name)

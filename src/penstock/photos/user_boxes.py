"""What a user says of a photo: a box around a thing, a depth map, a size that is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from penstock.box import Box
from penstock.photo import Photo

SIDES = ("wide", "deep", "high")  # the order of a thing's size


@dataclass(frozen=True, slots=True)
class GivenBox:
    """A box a user drew. `photo` is the end of a photo's path, its id, or empty for every photo."""

    photo: str
    box: Box
    label: str

    def __str__(self) -> str:
        """The form of the command line, which run.json and messages use too."""
        x0, y0, x1, y1 = self.box
        where = f"{self.photo}=" if self.photo else ""
        return f"{where}{x0:g},{y0:g},{x1 - x0:g},{y1 - y0:g}:{self.label}"


@dataclass(frozen=True, slots=True)
class GivenDepth:
    """The file with a photo's depth; `photo` as above."""

    photo: str
    path: str

    def __str__(self) -> str:
        return f"{self.photo}={self.path}" if self.photo else self.path


@dataclass(frozen=True, slots=True)
class KnownSize:
    """One length of the things a label names, as a user measured it; `photo` as above."""

    photo: str
    label: str
    side: str  # of SIDES
    metres: float

    @property
    def axis(self) -> int:
        return SIDES.index(self.side)

    def __str__(self) -> str:
        where = f"{self.photo}=" if self.photo else ""
        return f"{where}{self.label}={self.metres:g}m {self.side}"


def is_for(given: GivenBox | GivenDepth | KnownSize, item: Photo) -> bool:
    name = given.photo
    return not name or name in (item.document, item.id) or PurePath(item.uri).match(name)

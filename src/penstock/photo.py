"""One photo, and the things in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from penstock.box import Box
from penstock.errors import Failure
from penstock.item import PictureItem


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoObject:
    """One thing in a photo: where it is, how large, and how that is known.

    `estimate` is "metric" (reconstructed to scale), "anchored" (reconstructed, scaled by the photo's
    geometry) or "prior" (outline, camera and class). Lengths are metres, volumes cubic metres; the
    truth lies between `low_cbm` and `high_cbm` in 8 of 10 cases.
    """

    label: str  # as found or given; `kind` is its class in the furniture table
    box: Box
    index: int = 0  # in its photo, from 0
    kind: str = ""
    score: float = 1.0
    finder: str = ""  # the engine that found it
    mask: bytes | None = field(
        default=None, repr=False
    )  # one-bit PNG of the photo's size, until the store writes it
    mask_path: str | None = None  # relative to OUT, named by content
    cut: tuple[str, ...] = ()  # sides of the frame that cut it: left, top, right, bottom
    colour_histogram: tuple[float, ...] = ()  # by it, photos of one room are compared
    cloud: bytes | None = field(default=None, repr=False)  # Gaussian PLY, until the store writes it
    cloud_path: str | None = None
    num_gaussians: int = 0
    mesh: bytes | None = field(default=None, repr=False)  # GLB where asked for, until the store writes it
    mesh_path: str | None = None
    estimate: str = ""
    size: tuple[float, float, float] | None = None  # width, depth, height
    distance: float | None = None  # from the camera, along the floor
    position: tuple[float, float, float] | None = None  # of a 3D shape, metres: x right, y down, z forward
    rotation: tuple[float, float, float, float] | None = None  # w, x, y, z, as SAM-3D gives it
    bbox_cbm: float | None = None
    low_cbm: float | None = None
    high_cbm: float | None = None
    hull_cbm: float | None = None
    occupied_cbm: float | None = None
    moving_cbm: float | None = None  # the box as movers count it: taken apart, nested
    movable: bool = True
    shared: float | None = None  # how much of the range's variance all things of its photo share
    measurement_notes: tuple[str, ...] = ()  # how it was measured, in the words of `photos/notes.py`
    note: str = ""
    failure: Failure | None = None

    def __repr__(self) -> str:
        size = "" if self.size is None else " " + " x ".join(f"{metres:.2f}" for metres in self.size) + " m"
        return f"<PhotoObject {self.index} {self.label!r}{size}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo(PictureItem):
    """One photo. A listing may bring `objects` whose boxes a user gave."""

    unit: ClassVar[str] = "photo"
    listed: ClassVar[frozenset[str]] = PictureItem.listed | {"objects"}

    objects: tuple[PhotoObject, ...] = ()

    def __repr__(self) -> str:
        holds = f"{len(self.objects)} things" if self.failure is None else f"failed, {self.failure.kind}"
        return f"<Photo {self.document!r}: {holds}>"

    @property
    def place(self) -> str:
        return self.document

    def failed_parts(self) -> Iterator[tuple[str, Failure]]:
        for thing in self.objects:
            if thing.failure is not None:
                yield thing.label, thing.failure

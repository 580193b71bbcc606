"""What makes an object's cloud: the contract, and the builder without weights. SAM-3D's is in sam3d.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from penstock.box import Pixels
from penstock.photo import PhotoObject
from penstock.photos.camera import Camera
from penstock.photos.depth import nearest
from penstock.photos.furniture import UNKNOWN, Furniture
from penstock.photos.gaussians import Floats, Gaussians
from penstock.photos.masks import unpack
from penstock.photos.ply import write_ply
from penstock.photos.silhouette import inflate
from penstock.photos.size_prior import estimate, outline_of
from penstock.region import asset

CLOUDS = "clouds"


@dataclass(frozen=True, slots=True, eq=False)
class PhotoScene:
    """What all objects of one photo share. Worked out once."""

    id: str
    pixels: Pixels
    camera: Camera
    depth: Floats | None  # metres for every pixel, where something measured them


class Builder(Protocol):
    """Makes clouds. Called from several threads."""

    def build(self, photo: PhotoScene, thing: PhotoObject) -> PhotoObject:
        """The thing with cloud and estimate. Raises ItemError."""
        ...

    def finish(self, photo: PhotoScene) -> None:
        """Deletes what the builder keeps for a photo."""
        ...

    def close(self) -> None: ...


class Silhouettes:
    """The builder without weights."""

    def __init__(self, furniture: Furniture) -> None:
        self._furniture = furniture

    def build(self, photo: PhotoScene, thing: PhotoObject) -> PhotoObject:
        thing = with_estimate(photo, thing, self._furniture)
        assert thing.mask is not None
        assert thing.size is not None
        return with_cloud(thing, inflate(photo.pixels, unpack(thing.mask), *thing.size))

    def finish(self, photo: PhotoScene) -> None:
        pass

    def close(self) -> None:
        pass


def with_estimate(photo: PhotoScene, thing: PhotoObject, furniture: Furniture) -> PhotoObject:
    """The thing with size and range by outline, camera and class."""
    assert thing.mask is not None
    mask = unpack(thing.mask)
    distance = nearest(photo.depth, mask) if photo.depth is not None else None
    kind = furniture.find(thing.label)
    found = estimate(kind, photo.camera, outline_of(mask, frozenset(thing.cut), distance))
    notes = [f"Cut by the photo's {' and '.join(thing.cut)} edge."] if thing.cut else []
    if kind.name == UNKNOWN and thing.label != UNKNOWN:
        notes.append("The furniture table does not know it: its size is less sure.")
    if not found.fits:
        notes.append("Its foot is not on the floor in sight: the size is its class's usual one.")
    return replace(
        thing,
        estimate="prior",
        size=(found.width, found.depth, found.height),
        low_cbm=found.low,
        high_cbm=found.high,
        distance=found.distance or None,
        note=" ".join(notes),
    )


def with_cloud(thing: PhotoObject, cloud: Gaussians) -> PhotoObject:
    made = asset(CLOUDS, write_ply(cloud), "ply")
    return replace(thing, cloud=made.data, cloud_path=made.path, num_gaussians=cloud.num)

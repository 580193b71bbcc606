"""What makes an object's cloud: the contract, and the builder without weights. SAM-3D's is in sam3d.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from penstock.box import Pixels
from penstock.photo import PhotoObject
from penstock.photos.camera import Camera
from penstock.photos.gaussians import Floats, Gaussians
from penstock.photos.masks import unpack
from penstock.photos.ply import write_ply
from penstock.photos.silhouette import inflate
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
        """The thing, whose size is estimated already, with its cloud. Raises ItemError."""
        ...

    def finish(self, photo: PhotoScene) -> None:
        """Deletes what the builder keeps for a photo."""
        ...

    def close(self) -> None: ...


class Silhouettes:
    """The builder without weights."""

    def build(self, photo: PhotoScene, thing: PhotoObject) -> PhotoObject:
        assert thing.mask is not None
        assert thing.size is not None
        return with_cloud(thing, inflate(photo.pixels, unpack(thing.mask), *thing.size))

    def finish(self, photo: PhotoScene) -> None:
        pass

    def close(self) -> None:
        pass


def with_cloud(thing: PhotoObject, cloud: Gaussians) -> PhotoObject:
    made = asset(CLOUDS, write_ply(cloud), "ply")
    return replace(thing, cloud=made.data, cloud_path=made.path, num_gaussians=cloud.num)

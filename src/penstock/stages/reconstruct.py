"""Gives every object of a photo its cloud of Gaussians, in metres.

Without weights the outline is inflated to the size that camera, floor and class allow, and says so
(`estimate: "prior"`). With SAM-3D, objects of all photos in flight wait in one queue for a pool of
processes, one a GPU; one that fails, hangs or kills its process costs only itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.engines.mesh.request import MeshOptions
from penstock.item import Item
from penstock.photo import Photo
from penstock.photos.furniture import without_password
from penstock.photos.user_boxes import GivenDepth, KnownSize
from penstock.stage import Stage, tuning


@dataclass(frozen=True, kw_only=True)
class Reconstruct(Stage):
    """Objects to clouds. `engine` is "silhouette" (no weights) or "sam3d"."""

    name: ClassVar[str] = "reconstruct"
    worker: ClassVar[str] = "penstock.workers.reconstruct:ReconstructWorker"
    item: ClassVar[type[Item]] = Photo
    reads: ClassVar[tuple[str, ...]] = ("pixels", "objects", "uri")
    writes: ClassVar[tuple[str, ...]] = ("objects",)
    engine: str = "silhouette"
    camera_height: float | None = None
    pitch: float | None = None  # degrees below the horizon
    depths: tuple[GivenDepth, ...] = ()
    known: tuple[KnownSize, ...] = ()
    furniture: str | None = None
    sizing: int = 2  # how sizes are found without weights; 1 took every camera to be 1.45 m above the floor
    mesh: MeshOptions | None = None
    kept: str | None = tuning(None)  # a folder for 3D shapes of photos that are not done
    pool_size: int = tuning(1)  # threads, or processes where the engine needs its own

    def settings(self) -> dict[str, Any]:
        mesh = self.mesh.results() if self.mesh is not None else None
        return {**super().settings(), "mesh": mesh, "furniture": without_password(self.furniture)}

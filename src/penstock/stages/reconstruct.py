"""Gives every object of a photo its cloud of Gaussians, in metres.

Without weights the outline is pumped up to the size that camera, floor and class allow, and says so
(`estimate: "prior"`). With SAM-3D, objects of all photos in flight wait in one queue for a crew of
processes, one a GPU; one that fails, hangs or kills its process costs only itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.item import Failure, Item
from penstock.stage import Stage, tuning
from penstock.stages.builders import Builder, Photo, Silhouettes
from penstock.stages.given import GivenDepth, is_for
from penstock.stages.parts import PartPool

if TYPE_CHECKING:
    from penstock.engines.mesh.request import MeshOptions
    from penstock.item import Pixels

NO_DEADLINE_S = 10 * 24 * 3600.0  # a part has its own in its process; the queue before it has none


@dataclass(frozen=True, kw_only=True)
class Reconstruct(Stage):
    """Objects to clouds. `engine` is "silhouette" (no weights) or "sam3d"."""

    name: ClassVar[str] = "reconstruct"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "objects", "uri")
    writes: ClassVar[tuple[str, ...]] = ("objects",)
    engine: str = "silhouette"
    camera_height: float | None = None
    pitch: float | None = None  # degrees below the horizon
    depths: tuple[GivenDepth, ...] = ()
    furniture: str | None = None
    mesh: MeshOptions | None = None
    crew: int = tuning(1)  # threads, or processes where the engine needs its own

    def settings(self) -> dict[str, Any]:
        from penstock.photos.furniture import without_password

        mesh = self.mesh.results() if self.mesh is not None else None
        return {**super().settings(), "mesh": mesh, "furniture": without_password(self.furniture)}

    def open(self) -> _Reconstructor:
        return _Reconstructor(self)


class _Reconstructor:
    """Thread-safe: `overlap` photos at once, their objects in one queue."""

    def __init__(self, stage: Reconstruct) -> None:
        self._stage = stage
        self._builder = _open_builder(stage)
        # twice the crew: while its members work, others of these threads prepare and finish
        self._pool = PartPool(2 * stage.crew, stage.name, NO_DEADLINE_S)

    def __call__(self, items: list[Item]) -> list[Item]:
        return [self._photo(item) for item in items]

    def close(self) -> None:
        self._pool.close()
        self._builder.close()

    def kill(self) -> None:
        """Ends the crew from any thread: whoever waits for it gets an error now and not at its deadline."""
        # not the pool: parts it had cancelled would never be told, and their photo would wait for them
        self._builder.close()

    def _photo(self, item: Item) -> Item:
        todo = [thing for thing in item.objects if thing.failure is None]
        if item.pixels is None or not todo:
            return item
        photo = self._look(item, item.pixels)
        try:
            results = self._pool.map([partial(self._builder.build, photo, thing) for thing in todo])
        finally:
            self._builder.finish(photo)
        done = {
            thing.index: replace(thing, failure=result) if isinstance(result, Failure) else result
            for thing, result in zip(todo, results, strict=True)
        }
        return replace(item, objects=tuple(done.get(thing.index, thing) for thing in item.objects))

    def _look(self, item: Item, pixels: Pixels) -> Photo:
        from penstock.photos.camera import look_at
        from penstock.photos.depth import read_depth

        stage = self._stage
        path = item.uri if item.media == "image" else None
        pitch = math.radians(stage.pitch) if stage.pitch is not None else None
        camera = look_at(pixels, path, stage.camera_height, pitch)
        given = [one.path for one in stage.depths if is_for(one, item)]
        depth = read_depth(given[0], item.width, item.height) if given else None
        return Photo(item.id, pixels, camera, depth)


def _open_builder(stage: Reconstruct) -> Builder:
    from penstock.photos.furniture import Furniture

    furniture = Furniture.open(stage.furniture)
    if stage.engine == "silhouette":
        return Silhouettes(furniture)
    from penstock.engines.mesh.request import MeshOptions
    from penstock.stages.sam3d import Sam3dBuilder

    return Sam3dBuilder(stage.mesh or MeshOptions(), stage.crew, furniture)

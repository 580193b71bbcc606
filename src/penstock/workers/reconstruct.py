"""Builds a cloud for every object of the photos in flight, all in one queue."""

from __future__ import annotations

import logging
import math
import shutil
from dataclasses import replace
from functools import partial

import numpy as np

from penstock.box import Pixels
from penstock.engines.image.decode import learn_heic
from penstock.engines.mesh.moge import DepthReply, open_moge
from penstock.engines.mesh.request import MeshOptions
from penstock.engines.mesh.shape_cache import folder_of
from penstock.errors import Failure, ItemError
from penstock.photo import Photo
from penstock.photos.camera import look_at, with_lens
from penstock.photos.depth import read_depth
from penstock.photos.furniture import Furniture
from penstock.photos.gaussians import Floats
from penstock.photos.sizing.estimates import with_estimates
from penstock.photos.user_boxes import is_for
from penstock.processes.child import Child
from penstock.processes.part_pool import PartPool
from penstock.processes.pool import ProcessPool
from penstock.processes.resources import cores, environment, visible_gpus
from penstock.processes.scratch import scratch_folder
from penstock.stage import Worker
from penstock.stages.reconstruct import Reconstruct
from penstock.workers.builders import Builder, PhotoScene, Silhouettes
from penstock.workers.sam3d import Sam3dBuilder

log = logging.getLogger(__name__)
NO_DEADLINE_S = 10 * 24 * 3600.0  # a part has its own in its process; the queue before it has none


class ReconstructWorker(Worker[Photo]):
    """Thread-safe: `overlap` photos at once, their objects in one queue."""

    def __init__(self, stage: Reconstruct) -> None:
        self._stage = stage
        learn_heic()  # whose EXIF tells the lens
        self._furniture = Furniture.open(stage.furniture)
        self._builder = _open_builder(stage)
        self._moge = _open_moge(stage)
        # twice the pool: while its members work, others of these threads prepare and finish
        self._pool = PartPool(2 * stage.pool_size, stage.name, NO_DEADLINE_S)

    def __call__(self, items: list[Photo]) -> list[Photo]:
        return [self._photo(photo) for photo in items]

    def close(self) -> None:
        self._pool.close()
        self._builder.close()
        if self._moge is not None:
            self._moge.close()

    def kill(self) -> None:
        """Ends the processes, from any thread. Callers that wait get an error now, not at their deadline."""
        # not the pool: parts it had cancelled would never be reported, and their photo would wait for them
        self._builder.close()
        if self._moge is not None:
            self._moge.close()

    def _photo(self, photo: Photo) -> Photo:
        todo = [thing for thing in photo.objects if thing.failure is None]
        if photo.pixels is None or not todo:
            return photo
        scene = self._look(photo, photo.pixels)
        known = [one for one in self._stage.known if is_for(one, photo)]
        todo = with_estimates(todo, scene.camera, scene.depth, self._furniture, known)
        try:
            results = self._pool.map([partial(self._builder.build, scene, thing) for thing in todo])
        finally:
            self._builder.finish(scene)
        done = {
            thing.index: replace(thing, failure=result) if isinstance(result, Failure) else result
            for thing, result in zip(todo, results, strict=True)
        }
        return replace(photo, objects=tuple(done.get(thing.index, thing) for thing in photo.objects))

    def _look(self, photo: Photo, pixels: Pixels) -> PhotoScene:
        stage = self._stage
        path = photo.uri if photo.media == "image" else None
        pitch = math.radians(stage.pitch) if stage.pitch is not None else None
        camera = look_at(pixels, path, stage.camera_height, pitch)
        given = [one.path for one in stage.depths if is_for(one, photo)]
        if given:
            return PhotoScene(photo.id, pixels, camera, read_depth(given[0], photo.width, photo.height))
        if self._moge is None:
            return PhotoScene(photo.id, pixels, camera, None)
        depth, focal = self._moge.depth(photo.id, pixels)
        return PhotoScene(photo.id, pixels, with_lens(camera, focal), depth)


class MogeDepths:
    """Gets photos' depth from MoGe-2 in its own interpreter, one at a time."""

    def __init__(self, options: MeshOptions) -> None:
        self._folder = scratch_folder("moge")
        gpus = visible_gpus()
        child: Child[str, DepthReply] = Child(
            partial(open_moge, options.moge),
            name="moge",
            env=environment(cores(), gpus[0] if gpus else None),
            executable=options.python or None,
            open_s=options.opening_s,
            warms_up=True,
        )
        self._pool = ProcessPool([child], options.deadline_s)

    def depth(self, photo: str, pixels: Pixels) -> tuple[Floats | None, float]:
        """Metres for every pixel, and the lens in pixels. A photo that MoGe fails on has neither."""
        image = self._folder / f"{folder_of(photo)}.npy"
        np.save(image, pixels)
        try:
            reply = self._pool.call(str(image))
            return np.load(reply.depth), reply.focal * pixels.shape[1]
        except ItemError as exc:
            log.warning("photo %s has no depth: %s", photo, exc, extra={"item": photo})
            return None, 0.0
        finally:
            for path in self._folder.glob(f"{image.stem}.*"):
                path.unlink()

    def close(self) -> None:
        self._pool.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _open_moge(stage: Reconstruct) -> MogeDepths | None:
    """SAM-3D has MoGe in its own process; for sizes without weights it has one of its own."""
    wanted = stage.mesh is not None and stage.mesh.moge and stage.engine == "silhouette"
    return MogeDepths(stage.mesh) if wanted and stage.mesh is not None else None


def _open_builder(stage: Reconstruct) -> Builder:
    if stage.engine == "silhouette":
        return Silhouettes()
    return Sam3dBuilder(stage.mesh or MeshOptions(), stage.pool_size, stage.kept)

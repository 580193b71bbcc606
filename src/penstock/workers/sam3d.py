"""Reconstruct's builder for SAM-3D: a pool of processes in its own interpreter, one a GPU."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from penstock.engines.mesh.request import SMALLER, MeshOptions, MeshReply, MeshRequest, OutOfMemory
from penstock.engines.mesh.sam3d import open_sam3d
from penstock.engines.mesh.shape_cache import BuiltShape, KeptShapes, folder_of, key_of, taken
from penstock.errors import MissingModel
from penstock.photo import PhotoObject
from penstock.photos import notes
from penstock.photos.camera import Camera, floor_depth, pointmap, to_pytorch3d
from penstock.photos.gaussians import Floats, Gaussians
from penstock.photos.volumes import clean, trimmed
from penstock.processes.child import Child
from penstock.processes.pool import ProcessPool
from penstock.processes.resources import cores, environment, visible_gpus
from penstock.processes.scratch import scratch_folder
from penstock.region import asset
from penstock.stage import Supervision
from penstock.workers.builders import PhotoScene, with_cloud

TRIM = 0.01
MESHES = "meshes"


class Sam3dBuilder:
    """Things to clouds in metres. Pictures and clouds pass through files in a folder of its own.

    `kept` is a folder for shapes of photos that are not done: what a killed run had built is not built again.
    """

    def __init__(self, options: MeshOptions, size: int, kept: str | None = None) -> None:
        self._options = options
        self._kept = KeptShapes(kept)
        self._folder = scratch_folder("sam3d")
        self._pool = _pool(options, size)
        with ExitStack() as undo:  # Ctrl-C must leave no process behind either
            undo.callback(self.close)
            self._pool.start()
            undo.pop_all()

    @property
    def starts(self) -> int:
        return self._pool.starts

    def build(self, photo: PhotoScene, thing: PhotoObject) -> PhotoObject:
        shape = self._shape(photo, thing)
        reply = shape.reply
        cloud = _gaussians(shape.table).scaled(reply.scale)
        if reply.metric:
            thing = with_pose(thing, reply, photo.camera)
        else:
            assert thing.size is not None
            cloud = _anchored(cloud, thing.size[2])
        thing = replace(thing, estimate="metric" if reply.metric else "anchored")
        return with_cloud(_with_mesh(thing, shape.glb), cloud)

    def finish(self, photo: PhotoScene) -> None:
        for path in self._paths(photo):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        self._pool.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _shape(self, photo: PhotoScene, thing: PhotoObject) -> BuiltShape:
        """The shape that a process builds, or that a run before this one had built."""
        assert thing.mask is not None
        seen = np.ascontiguousarray(photo.pixels[::4, ::4]).tobytes()
        depth = b"" if photo.depth is None else np.ascontiguousarray(photo.depth[::4, ::4]).tobytes()
        key = key_of(self._options, thing.mask, seen, depth)
        shape = self._kept.find(photo.id, key)
        if shape is None:
            shape = taken(self._reply(self._request(photo, thing), photo.id))
            self._kept.keep(photo.id, key, shape)
        return shape

    def _reply(self, request: MeshRequest, photo: str) -> MeshReply:
        """Calls a process; if the GPU is too small for the setting, calls again with the next smaller one."""
        try:
            return self._pool.call(request, affinity=photo)
        except OutOfMemory:
            if request.setting not in SMALLER:
                raise
            return self._reply(replace(request, setting=SMALLER[request.setting]), photo)

    def _request(self, photo: PhotoScene, thing: PhotoObject) -> MeshRequest:
        image, points = self._paths(photo)
        _save_once(image, photo.pixels)
        if not points.exists() and (depth := self._depth(photo)) is not None:
            _save_once(points, to_pytorch3d(pointmap(depth, photo.camera.focal)))
        assert thing.mask is not None
        return MeshRequest(
            key=f"{photo.id}/{thing.index}",
            image=str(image),
            mask=thing.mask,
            pointmap=str(points),
            empty_room=self._is_bare(photo),
            setting=self._options.setting,
            result=str(self._folder / f"{image.stem}-{thing.index}.npy"),
        )

    def _depth(self, photo: PhotoScene) -> Floats | None:
        """The measured depth, or an empty room's if the options say so. None: the process estimates it."""
        return floor_depth(photo.camera) if self._is_bare(photo) else photo.depth

    def _is_bare(self, photo: PhotoScene) -> bool:
        options = self._options
        return options.floor_depth and not options.moge and photo.depth is None

    def _paths(self, photo: PhotoScene) -> tuple[Path, Path]:
        """The photo's picture and its pointmap, which the first member that needs it makes."""
        name = folder_of(photo.id)
        return self._folder / f"{name}.npy", self._folder / f"{name}.points.npy"


def _save_once(path: Path, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    if path.exists():
        return
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npy", delete=False) as file:
        np.save(file, array)
    Path(file.name).replace(path)  # whole or not at all: several objects begin at once


def _pool(options: MeshOptions, size: int) -> ProcessPool[MeshRequest, MeshReply]:
    if options.opener is None and not options.python:
        raise MissingModel(
            "SAM-3D runs in its own Python environment, and none is named.",
            "Install facebookresearch/sam-3d-objects and pass --sam3d-python and --sam3d-config.",
        )
    opener = partial(options.opener or open_sam3d, options)
    supervision = Supervision(options.silence_s, options.recycle_after, options.recycle_growth_mb)
    gpus = visible_gpus()
    members: list[Child[MeshRequest, MeshReply]] = [
        Child(
            opener,
            name=f"sam3d-{number}",
            env=environment(max(1, cores() // size), gpus[number % len(gpus)] if gpus else None),
            executable=options.python or None,
            supervision=supervision,
            open_s=options.opening_s,
            warms_up=options.opener is None,
        )
        for number in range(size)
    ]
    return ProcessPool(members, options.deadline_s)


def with_pose(thing: PhotoObject, reply: MeshReply, camera: Camera) -> PhotoObject:
    """Returns the thing with its pose before the camera, in camera axes, and so how far away it is.

    A shape that would stand where the photo does not show the thing is at odds with it.
    """
    if reply.position is None or reply.rotation is None:
        return thing
    x, y, z = -reply.position[0], -reply.position[1], reply.position[2]
    forward = z * np.cos(camera.pitch) - y * np.sin(camera.pitch)
    words = (
        thing.measurement_notes
        if _is_there((x, y, z), thing, camera)
        else (*thing.measurement_notes, notes.AT_ODDS)
    )
    return replace(
        thing,
        position=(x, y, z),
        rotation=reply.rotation,
        distance=float(np.hypot(x, forward)),
        measurement_notes=words,
    )


def _is_there(place: tuple[float, float, float], thing: PhotoObject, camera: Camera) -> bool:
    """Whether the camera sees this place within the thing's box, or no farther off than half of it."""
    x, y, z = place
    if z <= 0:
        return False
    column, row = camera.width / 2 + camera.focal * x / z, camera.height / 2 + camera.focal * y / z
    x0, y0, x1, y1 = thing.box
    aside, above = (x1 - x0) / 2, (y1 - y0) / 2
    return x0 - aside <= column <= x1 + aside and y0 - above <= row <= y1 + above


def _with_mesh(thing: PhotoObject, glb: bytes) -> PhotoObject:
    return replace(thing, mesh=glb, mesh_path=asset(MESHES, glb, "glb").path) if glb else thing


def _gaussians(table: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> Gaussians:
    return Gaussians(table[:, 0:3], table[:, 3:6], table[:, 6], table[:, 7:10], table[:, 10:14])


def _anchored(cloud: Gaussians, height: float) -> Gaussians:
    """The cloud as tall as the photo's geometry says."""
    low, high = trimmed(clean(cloud), TRIM)
    return cloud.scaled(height / max(1e-6, float(high[2] - low[2])))

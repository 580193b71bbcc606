"""Shapes that are finished before their photo is: a killed run goes on with the next object of a photo.

A photo's row is written when all its objects are done, which takes minutes where each takes half of one.
Each shape is a file, named by all that it was made from; `forget` removes those of photos that have a row.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penstock.engines.mesh.request import MeshOptions, MeshReply

UNFINISHED = "unfinished"  # below OUT
SHAPE_NAME = re.compile(r"[0-9a-f]{32}\.npz|tmp\w{8}\.shape\.part")


@dataclass(frozen=True, slots=True, eq=False)
class BuiltShape:
    """A reply with what its files held."""

    reply: MeshReply
    table: NDArray[np.float32]  # as MeshReply describes it
    glb: bytes = field(default=b"", repr=False)


def taken(reply: MeshReply) -> BuiltShape:
    """The shape of a reply, whose files are removed."""
    shape = BuiltShape(reply, np.load(reply.cloud), Path(reply.glb).read_bytes() if reply.glb else b"")
    for path in filter(None, (reply.cloud, reply.glb)):
        Path(path).unlink()
    return shape


def key_of(options: MeshOptions, *made_from: bytes) -> str:
    """A name for a shape: the same options and the same bytes give the same."""
    digest = hashlib.sha256(json.dumps(options.results(), sort_keys=True).encode())
    for part in made_from:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:32]


class KeptShapes:
    """Shapes below a folder, by photo. Without a folder nothing is kept."""

    def __init__(self, folder: str | None) -> None:
        self._folder = Path(folder) if folder else None

    def find(self, photo: str, key: str) -> BuiltShape | None:
        """The shape of this name; None where there is none, or half of one."""
        if self._folder is None:
            return None
        try:
            whole = io.BytesIO(self._path(photo, key).read_bytes())
            with np.load(whole, allow_pickle=False) as file:
                said = json.loads(str(file["reply"]))
                shape = BuiltShape(MeshReply(**said), file["table"], file["glb"].tobytes())
        except (OSError, ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile):
            return None
        return shape

    def keep(self, photo: str, key: str, shape: BuiltShape) -> None:
        """Writes the shape, whole or not at all. A folder that cannot be written costs only the keeping."""
        if self._folder is None:
            return
        path = self._path(photo, key)
        said = json.dumps(asdict(shape.reply))
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".shape.part", delete=False) as file:
                np.savez(file, reply=said, table=shape.table, glb=np.frombuffer(shape.glb, np.uint8))
            Path(file.name).replace(path)

    def _path(self, photo: str, key: str) -> Path:
        assert self._folder is not None
        return self._folder / folder_of(photo) / f"{key}.npz"


def folder_of(photo: str) -> str:
    return photo.replace("/", "_")


def _remove_shapes(folder: Path) -> None:
    """Removes shapes, by the names that only we give, and the folder when nothing is left."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in folder.iterdir():
        if SHAPE_NAME.fullmatch(path.name) and not path.is_symlink():
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def forget(out: Path, photos: Iterable[str]) -> None:
    """Removes what was kept of these photos, and the folder when nothing is left."""
    folder = out / UNFINISHED
    if folder.is_symlink():
        return
    for photo in photos:
        _remove_shapes(folder / folder_of(photo))
    with contextlib.suppress(OSError):  # not empty, or not there
        folder.rmdir()

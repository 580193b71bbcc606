"""What comes with photos: depth maps, and a table of furniture.

Depth maps are strangers' bytes: a process that can be killed reads them, and a run sees only what that one
understood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

import numpy as np

from penstock.errors import UsageError
from penstock.photos.depth import open_depths
from penstock.photos.gaussians import Floats
from penstock.photos.own_sizes import read_sizes
from penstock.photos.user_boxes import GivenDepth
from penstock.processes.child import Child
from penstock.serve.requests.received_file import ReceivedFile
from penstock.sources.names.safe import safe_name
from penstock.store.atomic_files import make_folder, store_errors, sync_folder
from penstock.store.ownership import claim

DEPTHS, FURNITURE = "depths", "furniture"  # fields of a request, and folders below a job's
FIELDS = (DEPTHS, FURNITURE)
READ = "depths_read"
TABLE = "furniture.csv"
DEPTH_S = 60.0  # for a map of some million pixels
KINDS = {b"\x93NUMPY": ".npy", b"\x89PNG\r\n": ".png"}
NAME_IT = "Name it after its photo: room.npy or room.png for room.jpg."

Attachments = Mapping[str, Sequence[ReceivedFile]]


def check_attachments(photos: Sequence[ReceivedFile], attachments: Attachments) -> None:
    """Raises UsageError for what does not fit, before a job is promised. The files are on the disk."""
    depths, tables = attachments.get(DEPTHS, ()), attachments.get(FURNITURE, ())
    photos_of([safe_name(file.name) for file in photos], [safe_name(file.name) for file in depths])
    for file in depths:
        _ending(file.path, file.name)
    if len(tables) > 1:
        raise UsageError("There is more than one table of furniture.", "Send one.")
    for file in tables:
        read_sizes(file.path)


def keep_attachments(folder: Path, attachments: Attachments) -> None:
    """Moves the files into a job's folder."""
    for number, file in enumerate(attachments.get(DEPTHS, ())):
        name = PurePath(safe_name(file.name)).stem + _ending(file.path, file.name)
        _move(file, folder, f"{DEPTHS}/{number:05d}/{name}")
    for file in attachments.get(FURNITURE, ()):
        _move(file, folder, TABLE)


def furniture_of(folder: Path) -> dict[str, str]:
    """Returns the recipe's option for the table that came with a job."""
    return {"furniture": str(folder / TABLE)} if (folder / TABLE).is_file() else {}


def depths_of(folder: Path, photos: Sequence[str]) -> tuple[GivenDepth, ...]:
    """Returns the depth maps of a job's photos, read and written anew. Raises ItemError, naming the map."""
    sent = sorted((folder / DEPTHS).glob("*/*"))
    if not sent:
        return ()
    numbers = photos_of([Path(photo).name for photo in photos], [path.name for path in sent])
    given = []
    for path, depth, number in zip(sent, _read(sent), numbers, strict=True):
        target = folder / READ / path.parent.name / f"{path.stem}.npy"
        with store_errors(target):
            claim(folder, target)
            make_folder(target.parent)
            np.save(target, depth)
        photo = Path(photos[number])
        given.append(GivenDepth(f"{photo.parent.name}/{photo.name}", str(target)))
    return tuple(given)


def photos_of(photos: Sequence[str], depths: Sequence[str]) -> list[int]:
    """Returns which photo each depth map is of: the one of its name, or the only one. Raises UsageError."""
    if len(photos) == len(depths) == 1:
        return [0]
    stems = [PurePath(name).stem for name in photos]
    found = []
    for name in depths:
        stem = PurePath(name).stem
        if stems.count(stem) != 1 or stems.index(stem) in found:
            which = "no photo" if stem not in stems else "a photo that has another, or of two photos"
            raise UsageError(f"The depth map {name!r} is of {which}.", NAME_IT)
        found.append(stems.index(stem))
    return found


def _read(paths: Sequence[Path]) -> Iterator[Floats]:
    child: Child[str, Floats] = Child(open_depths, name="the reader of depth maps", confined=True)
    with child:
        for path in paths:
            yield child.call(str(path), DEPTH_S)


def _ending(path: Path, name: str) -> str:
    """Returns a depth map's kind by what it holds. Raises UsageError."""
    with path.open("rb") as file:
        head = file.read(16)
    for magic, ending in KINDS.items():
        if head.startswith(magic):
            return ending
    raise UsageError(f"The depth map {name!r} is neither .npy (metres) nor 16-bit PNG (millimetres).")


def _move(file: ReceivedFile, folder: Path, name: str) -> None:
    target = folder / name
    with store_errors(target):
        claim(folder, target)
        make_folder(target.parent)
        file.path.replace(target)
        sync_folder(target.parent)

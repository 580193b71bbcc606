"""What a user says of photos in words, as a shell and a form send it: boxes, depth maps, known sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from penstock.errors import UsageError
from penstock.options.option import values_of
from penstock.options.photos import PHOTO_READING, SAID, SAM3D, SAME_ROOM
from penstock.options.running import EXECUTOR, FRESH, RETRY_FAILED
from penstock.passes.photos import PhotoOptions
from penstock.photos.user_boxes import SIDES, GivenBox, GivenDepth, KnownSize

MIN_KNOWN, MAX_KNOWN = 0.05, 10.0  # m
UNITS = {"mm": 0.001, "cm": 0.01, "m": 1.0, "in": 0.0254, "ft": 0.3048}
SIDE_WORDS = {"wide": 0, "deep": 1, "high": 2, "tall": 2}
KNOWN = re.compile(
    rf"(?:(.+)=)?([^=]+)=\s*([0-9]+(?:\.[0-9]+)?)\s*({'|'.join(UNITS)})\s+({'|'.join(SIDE_WORDS)})"
)


def photo_options(photos: Iterable[str], given: Mapping[str, Any]) -> PhotoOptions:
    """Returns the options of a run from those that a shell gave, by their names in the table."""
    names, said = tuple(photos), values_of(SAID, given)
    return PhotoOptions(
        photos=names,
        boxes=tuple(map(parse_box, said.get("boxes", ()))),
        depths=tuple(parse_depth(text, names) for text in said.get("depths", ())),
        known=tuple(map(parse_known, said.get("known", ()))),
        settings=values_of(PHOTO_READING, given),
        sam3d=sam3d_options(given),
        **values_of((SAME_ROOM, EXECUTOR, RETRY_FAILED, FRESH), given),
    )


def sam3d_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of SAM-3D that were given, by their names in `MeshOptions`; all of them are off."""
    return {name: given[one.name] for name, one in SAM3D.items() if given.get(one.name)}


def parse_box(text: str) -> GivenBox:
    """'room.jpg=10,20,300,400:chair' -> a box for room.jpg. Raises UsageError."""
    where, equals, rest = text.rpartition("=")
    numbers, colon, label = rest.partition(":")
    try:
        x, y, width, height = (float(part) for part in numbers.split(","))
    except ValueError as exc:
        raise UsageError(
            f"--box {text} is not a box.", "Write x,y,w,h:label, as in 10,20,300,400:chair."
        ) from exc
    if not all(map(math.isfinite, (x, y, width, height))):
        raise UsageError(f"--box {text} has a number that is not finite.", "Write x,y,w,h:label in pixels.")
    if width <= 0 or height <= 0 or not colon or not label.strip():
        raise UsageError(f"--box {text} has no size or no label.", "Write x,y,w,h:label.")
    return GivenBox(where if equals else "", (x, y, x + width, y + height), label.strip())


def parse_depth(text: str, photos: tuple[str, ...]) -> GivenDepth:
    """'room.jpg=depth.npy' -> the depth of room.jpg. Raises UsageError."""
    where, equals, path = text.rpartition("=")
    if not equals and (len(photos) != 1 or not Path(photos[0]).is_file()):
        raise UsageError(
            f"--depth {text} is one photo's, and there may be several.", f"Write --depth room.jpg={text}."
        )
    if not Path(path).is_file():
        raise UsageError(f"--depth {text}: there is no file {path}.")
    return GivenDepth(where, path)


def parse_known(text: str) -> KnownSize:
    """'table=140cm wide' or 'room.jpg=table=1.4m wide' -> the width of tables. Raises UsageError."""
    found = KNOWN.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"--known {text} is not a size.", 'Write what it is, a length and a side: "table=140cm wide".'
        )
    where, label, length, unit, side = found.groups()
    metres = float(length) * UNITS[unit]
    if not MIN_KNOWN <= metres <= MAX_KNOWN:
        raise UsageError(
            f"--known {text}: nothing is {metres:g} m {side}.",
            f"Lengths are {MIN_KNOWN:g} to {MAX_KNOWN:g} m.",
        )
    return KnownSize(where or "", label.strip(), SIDES[SIDE_WORDS[side]], metres)

"""Boxes that users drew on photos, and with which of them each photo was measured.

A photo whose boxes changed since the last run is measured again, under its next attempt; others are not.
OUT/given.json names the boxes of each attempt before the photo is measured: if a run is killed in between,
the row of that attempt is missing and the next run makes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.errors import StoreError
from penstock.photo import Photo, PhotoObject
from penstock.photos.user_boxes import GivenBox, is_for
from penstock.store.atomic_files import replacing
from penstock.store.out import Out

GIVEN = "given.json"


@dataclass(frozen=True, slots=True)
class _MeasuredBoxes:
    attempt: int = 0
    boxes: tuple[str, ...] = ()


def with_boxes(out: Out, photos: Iterable[Photo], boxes: Sequence[GivenBox]) -> Iterator[Photo]:
    """Gives each photo its boxes as objects. Call it while you hold OUT's lock."""
    past = _read(out)
    if not boxes and not past:
        yield from photos
        return
    entries = out.photos.entries()
    listed = []
    for photo in photos:
        own = [box for box in boxes if is_for(box, photo)]
        last, said = (
            past.get(photo.id, _MeasuredBoxes()),
            tuple(str(replace(box, photo="")) for box in own),
        )
        if said != last.boxes:
            done = entries[photo.id].attempt if photo.id in entries else 0
            last = past[photo.id] = _MeasuredBoxes(max(last.attempt, done) + 1, said)
        objects = tuple(given_object(box) for box in own)
        listed.append(replace(photo, attempt=max(photo.attempt, last.attempt), objects=objects))
    _write(out, past)
    yield from listed


def given_object(box: GivenBox) -> PhotoObject:
    """A thing that a user drew a box around, before it is outlined."""
    return PhotoObject(label=box.label, box=box.box, finder="given")


def _read(out: Out) -> dict[str, _MeasuredBoxes]:
    path = out / GIVEN
    try:
        rows = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        return {id: _MeasuredBoxes(row["attempt"], tuple(row["boxes"])) for id, row in rows.items()}
    except (ValueError, LookupError, TypeError, AttributeError) as exc:
        raise StoreError(f"{path} is damaged.", "Use --fresh to start over.") from exc


def _write(out: Out, past: dict[str, _MeasuredBoxes]) -> None:
    rows = {id: {"attempt": one.attempt, "boxes": one.boxes} for id, one in past.items()}
    with replacing(out / GIVEN, out) as file:
        file.write(json.dumps(rows, ensure_ascii=False, indent=1).encode("utf-8", "replace"))

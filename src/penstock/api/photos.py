"""Measures the things in photos."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Unpack

from penstock.api.inputs import Inputs, names_of
from penstock.converted.python_terms import in_python_terms, items_in_python_terms
from penstock.passes.photos import PhotoOptions, photos_stream, photos_work
from penstock.passes.settings import PhotoSettings
from penstock.photo import Photo


@in_python_terms()
def volumes(
    photos: Inputs,
    *,
    out: str | Path | None = None,
    boxes: Sequence[str] = (),
    depths: Sequence[str] = (),
    known: Sequence[str] = (),
    same_room: bool = False,
    executor: str = "local",
    retry_failed: bool = False,
    fresh: bool = False,
    **options: Unpack[PhotoSettings],
) -> Iterator[Photo]:
    """Yields each photo as its things are measured. `options` are those of the photos recipe.

    With `out`, photos are kept there, and those it already holds are not measured again.

    for photo in penstock.volumes("room.jpg", out="out", boxes=["420,610,380,700:chair"]):
        print([(thing.label, thing.size, thing.bbox_cbm) for thing in photo.objects])
    """
    chosen = PhotoOptions(
        photos=names_of(photos),
        boxes=tuple(boxes),
        depths=tuple(depths),
        known=tuple(known),
        settings=dict(options),
        same_room=same_room,
        executor=executor,
        retry_failed=retry_failed,
        fresh=fresh,
    )
    stream = photos_stream(chosen) if out is None else iter(photos_work(chosen, Path(out)))
    return items_in_python_terms(stream)

"""Measures the things in photos."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from penstock.api.inputs import Inputs, names_of
from penstock.converted.python_terms import in_python_terms, items_in_python_terms
from penstock.options.typed import VolumesSettings
from penstock.passes.photos import photos_stream, photos_work, typed_options
from penstock.photo import Photo


@in_python_terms()
def volumes(
    photos: Inputs,
    *,
    out: str | Path | None = None,
    **options: Unpack[VolumesSettings],
) -> Iterator[Photo]:
    """Yields each photo as its things are measured. `options` are those of `penstock volumes`.

    With `out`, photos are kept there, and those it already holds are not measured again. A `GivenBox` names
    its photo ("" for every one), its corners in pixels and its label; a `KnownSize` a length in metres.

    chair = penstock.GivenBox("", (420, 610, 800, 1310), "chair")
    for photo in penstock.volumes("room.jpg", out="out", boxes=[chair]):
        print([(thing.label, thing.size, thing.bbox_cbm) for thing in photo.objects])
    """
    chosen = typed_options(names_of(photos), options)
    stream = photos_stream(chosen) if out is None else iter(photos_work(chosen, Path(out)))
    return items_in_python_terms(stream)

"""How a job's photos are measured: as the operator began, and as the client wishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.errors import UsageError
from penstock.options.option import values_of
from penstock.options.photos import PHOTO_READING
from penstock.passes.photo_words import parse_box, parse_known, sam3d_options
from penstock.passes.photos import PhotoOptions
from penstock.serve.jobs.photo_attachments import depths_of, furniture_of

OF_MOGE = ("moge", "python")  # depth for either engine


def photo_options(
    base: PhotoOptions, options: Mapping[str, Any], files: tuple[str, ...] = (), folder: Path | None = None
) -> PhotoOptions:
    """Returns the options of one job. `folder` is the job's. Raises UsageError for what there is not."""
    own = values_of(PHOTO_READING, options)
    settings = {**base.settings, **own, **(furniture_of(folder) if folder is not None else {})}
    wished = sam3d_options(options)
    return replace(
        base,
        photos=files,
        boxes=tuple(map(parse_box, options.get("boxes", ()))),
        depths=depths_of(folder, files) if folder is not None else (),
        known=tuple(map(parse_known, options.get("known", ()))),
        same_room=bool(options.get("same_room", False)),
        settings=settings,
        sam3d=_sam3d(base, settings.get("engine"), wished),
    )


def _sam3d(base: PhotoOptions, engine: object, wished: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what SAM-3D is run with: paths are the operator's, the rest may be wished for."""
    if engine == "sam3d":
        if not base.uses_sam3d and "python" not in base.sam3d:
            raise UsageError("This service has no SAM-3D.", "Choose the engine silhouette.")
        return {**base.sam3d, **wished}
    if wished:
        raise UsageError(f"{next(iter(wished))} is an option of SAM-3D.", "Choose the engine sam3d, too.")
    return {name: base.sam3d[name] for name in OF_MOGE if name in base.sam3d and "moge" in base.sam3d}

"""One photo, measured in a folder that is gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.agents.files import AllowedFiles, GivenFile
from penstock.errors import UsageError
from penstock.exports.inventory import Inventory, read_inventory
from penstock.exports.overlays import draw
from penstock.exports.page_pictures import PageRenderer
from penstock.passes.photo_words import parse_box, parse_known
from penstock.passes.photos import PhotoOptions, photos_work
from penstock.photo import Photo
from penstock.region import Region
from penstock.sources.names.safe import safe_name
from penstock.store.out import Out


def measured(
    files: AllowedFiles,
    given: GivenFile,
    boxes: Sequence[str],
    known: Sequence[str],
    settings: Mapping[str, Any],
    picture: bool,
) -> tuple[Inventory, bytes | None]:
    """Returns the things of a photo, and the photo with their boxes where asked."""
    with tempfile.TemporaryDirectory(prefix="penstock-photo-") as folder:
        incoming = Path(folder) / "incoming"
        name, _ = files.copy(given, incoming)
        photo = incoming.rename(Path(folder) / safe_name(name))
        out = Path(folder) / ".out"
        options = PhotoOptions(
            photos=(str(photo),),
            boxes=tuple(map(parse_box, boxes)),
            known=tuple(map(parse_known, known)),
            settings=settings,
        )
        for _ in photos_work(options, out):
            pass
        found = list(Out(out).read_photos())
        return read_inventory(Out(out), found), _drawn(out, found) if picture else None


def _drawn(out: Path, found: Sequence[Photo]) -> bytes:
    [photo] = found
    with PageRenderer(Out(out)) as renderer:
        pixels = renderer.picture(photo)
    if isinstance(pixels, str):
        raise UsageError(pixels)
    return draw([Region(label=one.label, box=one.box, index=one.index) for one in photo.objects], pixels)

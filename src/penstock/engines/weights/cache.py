"""Where the built-in models are on this machine, and whether they are whole. Never uses the network.

Tesseract's data is also taken from the usual tessdata folders, if the file is one we know.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penstock.engines.weights.builtin import BuiltinModel, PublishedFile

State = Literal["ready", "missing", "damaged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A model's state on this machine. `origin` is the published file with the same size or hash."""

    model: BuiltinModel
    state: State
    path: Path | None = None
    origin: PublishedFile | None = None


def cache_folder() -> Path:
    """Where fetched weights are kept: $PENSTOCK_CACHE/models, or the platform's user cache."""
    if chosen := os.environ.get("PENSTOCK_CACHE"):
        return Path(chosen).expanduser() / "models"
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "penstock" / "models"


def look(model: BuiltinModel, hashed: bool = False) -> Check:
    """Looks for `model` on this machine and checks its size or, with `hashed`, its sha256."""
    damaged = None
    for place in _places(model):
        if not place.is_file():
            continue
        origin = _origin_of(place, model, hashed)
        if origin is not None:
            return Check(model=model, state="ready", path=place, origin=origin)
        # the system's tessdata may be of another release: not ours, so not damaged
        if damaged is None and place.is_relative_to(cache_folder()):
            damaged = Check(model=model, state="damaged", path=place)
    return damaged or Check(model=model, state="missing")


def _places(model: BuiltinModel) -> Iterator[Path]:
    yield cache_folder() / model.folder / model.file
    if not model.is_tesseract:
        return
    if prefix := os.environ.get("TESSDATA_PREFIX"):
        yield Path(prefix) / model.file
        yield Path(prefix) / "tessdata" / model.file
    for folder in sorted(Path("/usr/share/tesseract-ocr").glob("*/tessdata"), reverse=True):
        yield folder / model.file
    for common in ("/usr/share", "/usr/local/share", "/opt/homebrew/share", sys.prefix + "/share"):
        yield Path(common) / "tessdata" / model.file


def _origin_of(place: Path, model: BuiltinModel, hashed: bool) -> PublishedFile | None:
    size = place.stat().st_size
    sized = [origin for origin in model.origins if origin.size == size]
    if not sized or not hashed:
        return sized[0] if sized else None
    digest = sha256_of(place)
    return next((origin for origin in sized if origin.sha256 == digest), None)


def sha256_of(place: Path) -> str:
    with place.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()

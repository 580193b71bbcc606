"""Where the built-in models are on this machine, and whether they are whole. Never uses the network."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
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
    place = cache_folder() / model.folder / model.file
    if not place.is_file():
        return Check(model=model, state="missing")
    origin = _origin_of(place, model, hashed)
    return Check(model=model, state="ready" if origin else "damaged", path=place, origin=origin)


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

"""Where the built-in models are on this machine, and whether they are whole. Never uses the network."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from penstock.processes.user_cache import user_cache

if TYPE_CHECKING:
    from penstock.engines.weights.builtin import BuiltinModel, PublishedFile

PACKAGE = "penstock_models"  # a folder that several distributions share
State = Literal["ready", "missing", "damaged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A model's state on this machine. `origin` is the published file that it is a copy of."""

    model: BuiltinModel
    state: State
    path: Path | None = None
    origin: PublishedFile | None = None


@cache
def installed_folders() -> tuple[Path, ...]:
    """Returns the folders of installed packages of models (tools/models_package.py), in Python's order."""
    found = find_spec(PACKAGE)
    places = found.submodule_search_locations if found is not None else None
    return tuple(map(Path, places or ()))


def cache_folder() -> Path:
    """Returns where fetched weights are kept: $PENSTOCK_CACHE/models, or below the user's cache."""
    return user_cache() / "models"


def look(model: BuiltinModel, hashed: bool = False) -> Check:
    """Looks for `model` on this machine and checks its size or, with `hashed`, its sha256.

    Each origin has its folder, so that a file's place says where it came from; in the cache as in installed
    packages of models.
    """
    damaged: Path | None = None
    for folder, origin in product((cache_folder(), *installed_folders()), model.origins):
        place = folder / origin.folder / model.file
        if place.is_file():
            if _is_whole(place, model, hashed):
                return Check(model=model, state="ready", path=place, origin=origin)
            damaged = damaged or place
    return Check(model=model, state="damaged" if damaged else "missing", path=damaged)


def _is_whole(place: Path, model: BuiltinModel, hashed: bool) -> bool:
    return place.stat().st_size == model.size and not (hashed and sha256_of(place) != model.sha256)


def sha256_of(place: Path) -> str:
    with place.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()

"""Finds models that were installed as packages (tools/models_package.py); the cache holds the others."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "penstock_models"  # a folder that several distributions share


@cache
def installed_folders() -> tuple[Path, ...]:
    """Returns the folders of the installed packages of models, in the order of Python's path."""
    found = find_spec(PACKAGE)
    places = found.submodule_search_locations if found is not None else None
    return tuple(map(Path, places or ()))

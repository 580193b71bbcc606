"""A cache of models that holds some of those that are here."""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from penstock.engines.weights import registry as weights
from penstock.errors import MissingModel
from penstock.processes.user_cache import user_cache

LARGE = weights.MODELS["pp-doclayoutv3"]
FULL_CACHE = "PENSTOCK_TEST_FULL_CACHE"  # the variable that says where all fetched models are


def hold_only(names: Iterable[str], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `cache` the cache, with links to these models; skips the test where one is not here."""
    for name in names:
        try:
            found = weights.path(name)
        except MissingModel as exc:
            pytest.skip(str(exc))
        target = cache / "models" / found.parent.name / found.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(found)
    monkeypatch.setenv("PENSTOCK_CACHE", str(cache))


def without_large_layout() -> None:
    """Hides PP-DocLayoutV3, which else reads pictures, from this process and its children."""
    if weights.look(LARGE).state != "ready":
        return
    partial = tempfile.TemporaryDirectory(prefix="penstock-cache-")
    atexit.register(partial.cleanup)
    models = Path(partial.name) / "models"
    models.mkdir()
    for folder in (user_cache() / "models").iterdir():
        if folder.name not in {origin.folder for origin in LARGE.origins}:
            (models / folder.name).symlink_to(folder)
    os.environ[FULL_CACHE] = str(user_cache())
    os.environ["PENSTOCK_CACHE"] = partial.name

"""A cache of models that holds some of those that are here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from penstock.engines.weights import registry as weights
from penstock.errors import MissingModel


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

"""What other installed packages add, by entry points: engines, sources, exports and recipes.

A package names them in its own pyproject.toml, and docs/how-to/extend.md says what each is called with:

    [project.entry-points."penstock.exports"]
    lengths = "my_package:write_lengths"

A name that Penstock has itself stays its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Literal

from penstock.errors import UsageError

Group = Literal["embedders", "exports", "layouts", "recipes", "segmenters", "sources"]


def installed(group: Group) -> dict[str, str]:
    """Returns "module:object" by name. Imports none of them."""
    return {point.name: point.value for point in entry_points(group=f"penstock.{group}")}


def with_installed(group: Group, ours: Mapping[str, str]) -> dict[str, str]:
    """Returns our own table, and after it what other packages add."""
    return {**ours, **{name: home for name, home in installed(group).items() if name not in ours}}


def home_of(group: Group, ours: Mapping[str, str], name: str, what: str) -> str:
    """Returns where `name` is, as "module:object". Raises UsageError where nothing has it."""
    if name in ours:  # looking at every installed package takes some milliseconds
        return ours[name]
    known = with_installed(group, ours)
    if name not in known:
        raise UsageError(f"There is no {what} {name!r}.", f"Choose from: {', '.join(known)}.")
    return known[name]


def load(home: str) -> Any:
    """Imports "module:object". Raises UsageError where another package's cannot be imported."""
    module, _, name = home.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as exc:
        if module.partition(".")[0] == __package__:
            raise
        advice = "Install what it needs, or uninstall the package that names it."
        raise UsageError(f"{home!r} cannot be loaded: {exc}.", advice) from exc

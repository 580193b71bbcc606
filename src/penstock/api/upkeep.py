"""Looks after runs and weights: whether a run is whole, where its time went, which models are here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.converted.python_terms import in_python_terms
from penstock.engines.weights import registry
from penstock.engines.weights.cache import Check
from penstock.errors import UsageError
from penstock.store.check import Checkup, check_out, set_aside
from penstock.store.source_order import rank_folders
from penstock.trace.profile import Profile
from penstock.trace.ranks import read_run


@in_python_terms()
def check(out: str | Path, *, repair: bool = False) -> Checkup:
    """Returns what of a run is damaged or missing. Changes nothing without `repair`.

    `repair` sets damaged files aside; the next run reads their pages again.

    if penstock.check("out").damages:
        penstock.check("out", repair=True)
    """
    folder = Path(out)
    if not folder.is_dir():
        raise UsageError(f"{out} does not exist.", "Name the folder of a run.")
    found = check_out(folder)
    if repair and found.damages:
        set_aside(folder, found.damages)
    return found


@in_python_terms()
def profile(out: str | Path) -> Profile:
    """Returns where a run's time went, by stage. Ranks are added up, with a row for each in `ranks`."""
    return read_run(Path(out), rank_folders(Path(out)))


@in_python_terms()
def models(names: Sequence[str] | None = None, *, fetch: bool = False, verify: bool = False) -> list[Check]:
    """Returns which built-in models are on this machine: all, or those of these names.

    `fetch` brings missing ones; large ones come only by name. `verify` compares hashes, not only sizes.

    for one in penstock.models():
        print(one.model.name, one.state)
    """
    if fetch:
        registry.fetch(names)
    if verify:
        return registry.verify(names)
    unknown = set(names or ()) - set(registry.MODELS)
    if unknown:
        raise UsageError(f"There is no model {min(unknown)!r}.", f"Known: {', '.join(registry.MODELS)}.")
    return [registry.look(model) for name, model in registry.MODELS.items() if not names or name in names]

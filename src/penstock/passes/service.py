"""The run behind a service: its listing never ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.driver import Run
from penstock.errors import UsageError
from penstock.executors.local import CANCELLED, Local
from penstock.item import Item
from penstock.options.photos import SAM3D
from penstock.options.running import RECIPE
from penstock.page import Page
from penstock.passes.parse import ParseOptions, with_saved_effort
from penstock.passes.photos import PhotoOptions
from penstock.photo import Photo
from penstock.plan import Plan
from penstock.store.out import Out
from penstock.store.schema import PAGES_OR_PHOTOS
from penstock.trace.profile import Profile
from penstock.trace.spans import Trace


def service_run(
    plan: Plan,
    out: Path,
    inputs: str,
    aside: Callable[[Page | Photo], bool],
    is_cancelled: Callable[[Item], bool],
) -> Run[Page | Photo]:
    """Returns a run over what will be sent. It never counts as stalled: there may be nothing to do.

    Pages that were cancelled before they were read leave the run and are not kept.
    """

    def passes(item: Page | Photo) -> bool:
        return item.failure == CANCELLED or aside(item)

    executor, facts = Local(Trace(), math.inf, is_cancelled), {"inputs": [inputs]}
    return Run(plan, executor, out, PAGES_OR_PHOTOS, facts=facts, aside=passes)


def served_options(
    out: Path | None, recipe: str | None, settings: Mapping[str, Any], sam3d: Mapping[str, Any]
) -> ParseOptions | PhotoOptions | None:
    """Returns how a service reads what it gets; None where OUT has a run and no recipe was named.

    Raises UsageError for options of a recipe where none is named.
    """
    if recipe is None and out is not None and Out(out).run():
        for name in (*settings, *sam3d):
            word = SAM3D[name].flag if name in sam3d else f"--{name.replace('_', '-')}"
            raise UsageError(f"{word} is for reading documents.", "Name the run's recipe too: --recipe.")
        return None
    if recipe == "photos":
        return PhotoOptions(photos=(), settings=settings, sam3d=sam3d)
    options = ParseOptions(inputs=(), recipe=recipe or RECIPE.default, settings=settings)
    return options if out is None else with_saved_effort(options, out)


def profile_now(run: Run[Page | Photo]) -> Profile:
    """Returns how busy the stages of a run at work have been."""
    executor, tally = run.executor, run.tally
    found = executor.trace.profile(executor.infos(run.plan))
    return replace(found, items=tally.done, failed=tally.failed, unit=run.plan.item.unit)


def item_class(plan: Plan) -> type[Page] | type[Photo]:
    """Returns what the plan reads documents as."""
    return Photo if issubclass(plan.item, Photo) else Page

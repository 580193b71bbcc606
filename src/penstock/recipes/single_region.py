"""From a recipe that reads pages, the plan that shows whole pictures to the same recogniser."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from penstock.plan import Plan
from penstock.recipes.regions import FEEDING
from penstock.region import AskedTask
from penstock.stage import Batch, Stage
from penstock.stages.load import Load
from penstock.stages.recognise import Recognise
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.stages.whole_picture import WholePicture

BUILT_IN_TASKS: frozenset[AskedTask] = frozenset({"text", "table"})  # what there is a built-in engine for

TOGETHER = Batch(max_items=8, linger_ms=20.0)  # pictures a thread waits for: as many as a page has regions

Found = TypeVar("Found", bound=Stage)


def single_region_plan(plan: Plan, task: AskedTask) -> Plan | None:
    """Returns the plan that asks the recogniser of `plan` about whole pictures.

    None where it has no way to ask: a reader of whole pages, or built-in engines without one for the task.
    """
    load, ask, recognise = _stage(plan, Load), _stage(plan, RecogniseRemote), _stage(plan, Recognise)
    if load is not None and ask is not None:
        seen = replace(load, give="encoded", render="always", text_layer=False)
        cut = WholePicture(needs=FEEDING, workers=load.workers)
        return Plan(seen, cut, replace(ask, batch=TOGETHER), name=plan.name)
    if load is not None and recognise is not None and task in BUILT_IN_TASKS:
        seen = replace(load, give="pixels", render="always", text_layer=False)
        return Plan(seen, WholePicture(send=False), recognise, name=plan.name)
    return None


def _stage(plan: Plan, kind: type[Found]) -> Found | None:
    return next((stage for stage in plan if isinstance(stage, kind)), None)

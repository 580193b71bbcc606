"""What `penstock run kopub` reads and embeds with, by recipe name.

`embedded` is all of it on a CPU. Every other name is a recipe of `penstock parse` that reads through a model
server, embedded with Qwen3-VL-Embedding on the same card once the first server is gone.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.errors import UsageError
from penstock.plan import Plan
from penstock.recipes import RECIPES, build
from penstock.stage import Stage
from penstock.stages.doclayout import DocLayout

DATASET = "SamsungSDS-Research/SDS-KoPub-VDR-Benchmark"
EMBEDDING_MODEL = "Qwen/Qwen3-VL-Embedding-2B"
STEPS = ("check", "download", "serve", "parse", "stop", "embed", "index", "evaluate", "upload")
GROUPS = {
    "ocr": ("check", "download", "serve", "parse", "stop"),
    "embed": ("embed", "index", "evaluate"),
    "upload": ("upload",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A recipe's name, its parse recipe, and whether models are served."""

    name: str
    parse_recipe: str
    served: bool
    engine: str  # that embeds
    options: Mapping[str, Any] = field(default_factory=dict)


def choice(name: str, layout: str | None = None) -> Choice:
    options = {"layout": layout} if layout else {}
    if name == "embedded":
        return Choice(name=name, parse_recipe="documents", served=False, engine="use", options=options)
    served = [recipe for recipe in RECIPES if "server" in _takes(recipe)]
    if name not in served:
        raise UsageError(f"There is no recipe {name!r} here.", f"Choose from: embedded, {', '.join(served)}.")
    return Choice(name=name, parse_recipe=name, served=True, engine="openai", options=options)


def parse_plan(chosen: Choice, crops: bool, batch_size: int, **served: Any) -> Plan:
    """The plan that reads pages; of `served` it gets what it takes: servers, requests under way."""
    takes = _takes(chosen.parse_recipe)
    options = {key: value for key, value in served.items() if key in takes}
    if "crops" in takes:
        options["crops"] = crops
    elif not crops:
        raise UsageError(f"Recipe {chosen.name!r} always keeps its crops.", "Leave --no-crops out.")
    plan = build(chosen.parse_recipe, {**chosen.options, **options})
    return Plan(*(_batched(stage, batch_size) for stage in plan), name=plan.name)


def _batched(stage: Stage, size: int) -> Stage:
    """A layout network on a card with batches of `size`; other stages know their own best."""
    return (
        replace(stage, batch=replace(stage.batch, max_items=size)) if isinstance(stage, DocLayout) else stage
    )


def _takes(recipe: str) -> set[str]:
    module, function = RECIPES[recipe].split(":")
    return set(inspect.signature(getattr(importlib.import_module(module), function)).parameters)

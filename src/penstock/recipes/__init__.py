"""Functions that return a Plan: the table of contents of the system."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from penstock.errors import UsageError
from penstock.plan import Plan
from penstock.plugins import home_of, load

RECIPES = {
    "documents": "penstock.recipes.documents:documents",
    "auto": "penstock.recipes.auto:auto",
    "glm-ocr": "penstock.recipes.regions:glm_ocr",
    "paddleocr-vl": "penstock.recipes.regions:paddleocr_vl",
    "openai": "penstock.recipes.regions:openai",
    "grounded": "penstock.recipes.grounded:grounded",
    "grounded-2": "penstock.recipes.grounded:grounded_2",
    "photos": "penstock.recipes.photos:photos",
}


def build(name: str, options: Mapping[str, Any]) -> Plan:
    """The recipe's plan. Raises UsageError for an unknown recipe or an option it does not take.

    A recipe of one's own is named "module:function".
    """
    takes = takes_of(name)
    for option in options:
        if option not in takes:
            raise UsageError(f"Recipe {name!r} does not take --{option.replace('_', '-')}.")
    plan: Plan = _function(name)(**options)
    return plan


def takes_of(name: str) -> frozenset[str]:
    """The options that a recipe takes. Raises UsageError for an unknown recipe."""
    return frozenset(inspect.signature(_function(name)).parameters)


def _function(name: str) -> Callable[..., Plan]:
    if ":" not in name:
        ours: Callable[..., Plan] = load(home_of("recipes", RECIPES, name, "recipe"))
        return ours
    module, _, function = name.partition(":")
    try:
        found: Callable[..., Plan] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as exc:
        raise UsageError(f"There is no recipe {name!r}: {exc}.", "Write module:function.") from exc
    return found

"""Functions that return a Plan: the table of contents of the system."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from penstock.errors import UsageError
from penstock.plan import Plan

RECIPES = {
    "documents": "penstock.recipes.documents:documents",
    "glm-ocr": "penstock.recipes.regions:glm_ocr",
    "paddleocr-vl": "penstock.recipes.regions:paddleocr_vl",
    "openai": "penstock.recipes.regions:openai",
    "fake": "penstock.testing.fake_recipe:fake",
    "grounded": "penstock.recipes.grounded:grounded",
    "grounded-2": "penstock.recipes.grounded:grounded_2",
    "photos": "penstock.recipes.photos:photos",
}


def build(name: str, options: Mapping[str, Any]) -> Plan:
    """The recipe's plan. Raises UsageError for an unknown recipe or an option it does not take."""
    if name not in RECIPES:
        raise UsageError(f"There is no recipe {name!r}.", f"Choose from: {', '.join(RECIPES)}.")
    module, function = RECIPES[name].split(":")
    recipe = getattr(importlib.import_module(module), function)
    takes = inspect.signature(recipe).parameters
    for option in options:
        if option not in takes:
            raise UsageError(f"Recipe {name!r} does not take --{option.replace('_', '-')}.")
    plan: Plan = recipe(**options)
    return plan

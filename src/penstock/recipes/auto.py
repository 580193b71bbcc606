"""The recipe that chooses: each page goes to the cheapest reader that reads it well."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args

from penstock.choices import Prompts, check_choice
from penstock.errors import UsageError
from penstock.plan import Plan
from penstock.recipes.documents import documents
from penstock.recipes.regions import PAGES_IN_FLIGHT
from penstock.stages.choose import Choose
from penstock.stages.reread import Reread

ACCEPTED = 0.05  # chosen on tune pages by benchmarks/quality/router.py


def _takes_also(others: Callable[..., Plan]) -> Callable[[Callable[..., Plan]], Callable[..., Plan]]:
    """Shows the parameters of `others` as those of a recipe that hands them on."""

    def shown(recipe: Callable[..., Plan]) -> Callable[..., Plan]:
        own = inspect.signature(recipe).parameters.values()
        named = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        theirs = inspect.signature(others).parameters.values()
        recipe.__signature__ = inspect.Signature([*named, *theirs])  # type: ignore[attr-defined]
        return recipe

    return shown


@_takes_also(documents)
def auto(
    accept_errors: float = ACCEPTED,
    server: tuple[str, ...] = (),
    prompts: Prompts = "glm-ocr",
    model: str = "",
    max_tokens: int = 0,
    in_flight: int = 0,
    api_key: str | None = None,
    text_height: float = 0.0,
    **reading: Any,
) -> Plan:
    """Reads pages as `documents` does; the server reads those again of which too much is likely wrong."""
    if not 0.0 <= accept_errors <= 1.0:
        raise UsageError(f"--accept-errors {accept_errors:g} is no part of a page.", "Choose from 0 to 1.")
    check_choice("--prompts", prompts, get_args(Prompts))
    cheap = documents(**reading)
    *read, compose = cheap.stages
    reread = Reread(
        recogniser=prompts, model=model, max_tokens=max_tokens, servers=server, in_flight=in_flight,
        api_key=api_key, page_s=reading.get("page_timeout"), text_height=text_height, overlap=PAGES_IN_FLIGHT,
    ) if server else None  # fmt: skip
    choose = Choose(accept_errors=accept_errors, has_server=bool(server))
    return Plan(*read, choose, *([reread] if reread else []), compose, name="auto", notes=cheap.notes)

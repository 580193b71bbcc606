"""Looks at this machine for `penstock doctor`: what it has, what each recipe would use, what is missing."""

from __future__ import annotations

import importlib.metadata
import json
import re
from typing import Any

import typer

from penstock.engines.chat.deepseek.pages import MODELS as PAGE_MODELS
from penstock.engines.vllm.memory_budget import memory_budget
from penstock.engines.vllm.presets import cards, preset
from penstock.engines.vllm.server import find_vllm
from penstock.engines.vllm.server_plan import reading_servers
from penstock.engines.weights import registry as weights
from penstock.errors import DISTRIBUTION, MissingModel, UsageError, install_advice
from penstock.processes.confinement import landlock_version, reader_memory_mb
from penstock.processes.hardware import hardware
from penstock.sizes import GIB, MIB, memory_size
from penstock.store import manifest

RECIPE_MODELS = {
    "documents": (
        "layout-cdla", "ppocrv6-det-small", "ppocrv6-rec-small", "ppocrv6-det-tiny", "ppocrv6-rec-tiny",
        "ppocrv6-tiny-characters", "slanet-plus",
    ),
}  # fmt: skip
# recipes that ask a model server, and the extra that finds regions for them on a GPU
SERVER_RECIPES = {"glm-ocr": "gpu", "paddleocr-vl": "gpu", "grounded": ""}
SERVED = ("glm-ocr", "paddleocr-vl", "deepseek-ocr", "deepseek-ocr-2")  # what their servers read with
_EXTRA = re.compile(r"^([A-Za-z0-9._-]+).*extra == ['\"]([a-z]+)['\"]")
NOT_LISTED = frozenset({"all", "dev", "docs"})  # made of the others, or for those who work on Penstock


def show_machine(as_json: bool) -> None:
    """Shows what works here, and exits with 1 if a recipe lacks something."""
    report = examine()
    print(json.dumps(report, ensure_ascii=False, indent=2) if as_json else words(report))
    exit_if_lacking(report)


def exit_if_lacking(report: dict[str, Any]) -> None:
    """Exits with 1 if a recipe lacks something."""
    if any(recipe["missing"] for recipe in report["recipes"].values()):
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    models = {name: weights.look(model).state for name, model in weights.MODELS.items()}
    recipes = {
        recipe: {"models": list(names), "missing": [name for name in names if models.get(name) != "ready"]}
        for recipe, names in RECIPE_MODELS.items()
    }
    extras = _extras()
    return {
        "hardware": hardware(),
        "readers": {"memory_mb": reader_memory_mb(), "landlock": landlock_version()},
        "versions": manifest.versions(),
        "models": models,
        "models_folder": str(weights.cache_folder()),
        "recipes": recipes,
        "servers": _servers(extras),
        "extras": extras,
    }


def _extras() -> dict[str, list[str]]:
    """Of each extra the packages that are not installed here."""
    absent: dict[str, list[str]] = {}
    for line in _requirements():
        found = _EXTRA.match(line)
        if found and found[2] not in NOT_LISTED:
            absent.setdefault(found[2], [])
            if not _is_installed(found[1]):
                absent[found[2]].append(found[1])
    return absent


def _requirements() -> list[str]:
    """Returns what the distribution requires; nothing where only its source is on PYTHONPATH."""
    try:
        return importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return []


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _servers(extras: dict[str, list[str]]) -> dict[str, Any]:
    """What the recipes that read with a model server would start here, and what they lack for it."""
    lacks = []
    try:
        find_vllm()
    except MissingModel:
        lacks.append(f"vLLM (pip install '{DISTRIBUTION}[vllm]')")
    card = next(iter(cards()), None)
    if card is None:
        lacks.append("a GPU")
    try:
        chosen = preset("auto", card).name if card else ""
    except UsageError as exc:  # the card is too small for any preset
        chosen = ""
        lacks.append(exc.message)
    own = {
        name: lacks + ([f"{DISTRIBUTION}[{extra}]"] if extra and extras.get(extra) else [])
        for name, extra in SERVER_RECIPES.items()
    }
    return {"preset": chosen, "lacks": own, "memory": _budgets(card) if chosen else {}}


def _budgets(card: Any) -> dict[str, str]:
    """What each served model would take of the card, computed from its shape and the preset's flags."""
    told = {}
    for name in SERVED:
        servers = reading_servers(name, [card])
        command = servers[0].managed().command(["vllm"])
        budget = memory_budget(
            servers[0].model, command, round(card.memory_gb * 1e9), len(servers), name not in PAGE_MODELS
        )
        if budget is not None:
            told[name] = budget.sentence()
    return told


def words(report: dict[str, Any]) -> str:
    hardware = report["hardware"]
    gpus = ", ".join(hardware["gpus"]) or "none (the built-in models need none)"
    memory = memory_size(hardware["memory_gib"] * GIB)
    lines = [
        f"Machine   {hardware['cpu']}, {hardware['cores']} cores, {memory}",
        f"GPUs      {gpus}",
        f"System    {hardware['system']}",
        f"Readers   {_confined(report['readers'])}",
        "Packages  " + ", ".join(f"{name} {version}" for name, version in report["versions"].items()),
        f"Models    {report['models_folder']}",
        *(_row(name, state) for name, state in report["models"].items()),
        "Recipes",
        *(_row(name, _built_in(recipe["missing"])) for name, recipe in report["recipes"].items()),
        *(_row(name, _served(lacks, report)) for name, lacks in report["servers"]["lacks"].items()),
        *(["GPU memory"] if report["servers"]["memory"] else []),
        *(_row(name, words) for name, words in report["servers"]["memory"].items()),
        "Extras"
        if report["extras"]
        else f"Extras    unknown: {DISTRIBUTION} is not installed, only imported",
        *(_row(name, _extra(name, absent)) for name, absent in report["extras"].items()),
    ]
    return "\n".join(lines)


def _confined(readers: dict[str, int]) -> str:
    """What the processes that read files may do here."""
    bound = f"processes that read files have {memory_size(readers['memory_mb'] * MIB)} each and no keys"
    if readers["landlock"] < 1:
        return f"{bound}; this system cannot keep them from writing files and from the network"
    network = "" if readers["landlock"] < 4 else ", use TCP"
    return f"{bound}; they cannot write files, run programs{network}"


def _row(name: str, words: str) -> str:
    return f"            {name:<18} {words}"


def _built_in(missing: list[str]) -> str:
    if not missing:
        return "ready"
    return f"lacks {', '.join(missing)}: fetched at their first use, or now by: penstock models fetch"


def _served(lacks: list[str], report: dict[str, Any]) -> str:
    if lacks:
        without = " --layout cdla" if any(word.startswith(f"{DISTRIBUTION}[") for word in lacks) else ""
        return f"with --server URL{without}; to do all of it here it lacks {', '.join(lacks)}"
    return f"ready, preset {report['servers']['preset']}"


def _extra(name: str, absent: list[str]) -> str:
    return f"not installed. {install_advice(name)}" if absent else "ready"

"""`penstock doctor`: what this machine has, what each recipe would use, what is missing."""

from __future__ import annotations

import json
from typing import Any

import typer

from penstock.cli.options import AsJson, Config, Log

RECIPE_MODELS = {
    "documents": ("layout-cdla", "ppocrv6-det-small", "ppocrv6-rec-small", "slanet-plus", "tesseract-kor"),
}


def doctor(config: Config = None, log: Log = None, as_json: AsJson = False) -> None:
    """Look at this machine: what works here, and how to get the rest. Exits with 1 if a recipe lacks one."""
    report = examine()
    print(json.dumps(report, ensure_ascii=False, indent=2) if as_json else _words(report))
    if any(recipe["missing"] for recipe in report["recipes"].values()):
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    from penstock.engines import weights
    from penstock.store import manifest

    models = {name: weights.look(model).state for name, model in weights.MODELS.items()}
    recipes = {
        recipe: {"models": list(names), "missing": [name for name in names if models.get(name) != "ready"]}
        for recipe, names in RECIPE_MODELS.items()
    }
    return {
        "hardware": manifest.hardware(),
        "versions": manifest.versions(),
        "models": models,
        "models_folder": str(weights.cache_folder()),
        "recipes": recipes,
    }


def _words(report: dict[str, Any]) -> str:
    hardware = report["hardware"]
    gpus = ", ".join(hardware["gpus"]) or "none (the embedded models need none)"
    lines = [
        f"Machine   {hardware['cpu']}, {hardware['cores']} cores, {hardware['memory_gb']} GB",
        f"GPUs      {gpus}",
        f"System    {hardware['system']}",
        "Packages  " + ", ".join(f"{name} {version}" for name, version in report["versions"].items()),
        f"Models    {report['models_folder']}",
        *(f"            {name:<18} {state}" for name, state in report["models"].items()),
        "Recipes",
    ]
    for name, recipe in report["recipes"].items():
        if recipe["missing"]:
            lines.append(
                f"            {name:<18} lacks {', '.join(recipe['missing'])}. Run: penstock models fetch"
            )
        else:
            lines.append(f"            {name:<18} ready")
    return "\n".join(lines)

"""Reads what version 0.1.0 wrote before items had types of their own.

Four things were different: a page's attempts travelled as a made-up last region, stages went into run.json
under the names of their classes, some of today's settings could not be chosen, and sizes in photos were
found in another way.
"""

from __future__ import annotations

import json
from typing import Any

_RECORD = "record"  # the `reader` of the made-up region
# (stage, class) of then -> the stage's name of today
_STAGES = {
    ("layout", "RulesLayout"): "rules",
    ("layout", "DocLayout"): "doclayout",
    ("crop", "Cut"): "crop_regions",
    ("recognise", "Ask"): "ask",
}
_SETTINGS = {"ask": {"furniture": "margins"}, "crop_regions": {"furniture": "margins"}}


def upgrade_page(row: dict[str, Any]) -> None:
    """Turns the made-up region of a page's row into the columns that hold it today."""
    if row.get("attempts") is not None or not row["regions"]:
        return
    last = row["regions"][-1]
    if last["reader"] != _RECORD:
        return
    row["regions"] = row["regions"][:-1]
    row["attempts"] = json.loads(last["note"] or "[]")
    row["raw_answer_path"] = last["crop_path"]
    row["shortfall"] = last["failure"]


def upgrade_block(row: dict[str, Any]) -> None:
    """Turns a block of pass 2, which was a page whose Markdown was JSON, into today's columns."""
    if "enrichment" not in row:
        row["enrichment"] = row["markdown"]
        row["shortfalls"] = [region["failure"] for region in row["regions"] if region["failure"] is not None]


def upgrade_settings(settings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns a plan's settings by the names that stages and their options have today."""
    return [_renamed(dict(row)) for row in settings]


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    if row["stage"] == "reconstruct" and row.get("engine") == "silhouette":
        row.setdefault("sizing", 1)  # another way to find sizes: its rows and today's must not be mixed
    old_class = row.pop("class", None)
    if old_class is None:
        return row
    row["stage"] = _STAGES.get((row["stage"], old_class), row["stage"])
    renamed = _SETTINGS.get(row["stage"], {})
    return {renamed.get(key, key): value for key, value in row.items()}

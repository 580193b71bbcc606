"""What embedded a run, as OUT/embeddings/embeddings.json says. Light: a short command imports it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.errors import StoreError
from penstock.retrieval.hits import PARAGRAPH_WEIGHTS, WEIGHTS

FOLDER, ABOUT = "embeddings", "embeddings.json"


def embedded_by(out: Path) -> dict[str, Any]:
    """Returns engine, model, dimensions and the like. Empty when nothing embedded OUT."""
    path = out / FOLDER / ABOUT
    try:
        found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise StoreError(f"{path} is damaged.", "Run: penstock embed OUT")
    return found


def source_weights(about: Mapping[str, Any]) -> dict[str, float]:
    """Returns the weights of sources that a run has of itself."""
    return {**WEIGHTS, **(PARAGRAPH_WEIGHTS if about.get("regions") == "all" else {})}

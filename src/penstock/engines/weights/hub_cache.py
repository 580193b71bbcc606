"""Where the Hub's own clients keep a model on this machine. Never uses the network."""

from __future__ import annotations

import os
from pathlib import Path


def snapshot_of(model: str) -> Path | None:
    """Returns the folder of a model's newest version; None if not even its description is here."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    described = (cache / f"models--{model.replace('/', '--')}" / "snapshots").glob("*/config.json")
    newest = max(described, key=lambda path: path.lstat().st_mtime, default=None)
    return newest.parent if newest is not None else None

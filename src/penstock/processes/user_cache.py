"""Where this user's programs keep what they can make again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """Returns $PENSTOCK_CACHE, or a folder of ours in the platform's user cache."""
    if chosen := os.environ.get("PENSTOCK_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "penstock"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock"

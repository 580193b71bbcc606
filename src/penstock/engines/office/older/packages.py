"""Packages of the extra `office`, imported with the first file that needs one."""

from __future__ import annotations

import importlib
from typing import Any

from penstock.errors import BadInput, install_advice


def needed(name: str, kind: str) -> Any:
    """Returns a package of the extra. Raises BadInput where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as exc:
        raise BadInput(f"reading {kind.upper()} needs {name}.", install_advice("office")) from exc

"""Imports the tools that make the models' files; they are scripts, so their folder is on no path."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from tests.conftest import REPO

TOOLS = str(REPO / "tools" / "models")


def tool(name: str) -> ModuleType:
    sys.path.insert(0, TOOLS)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(TOOLS)

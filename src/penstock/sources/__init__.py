"""Lists what users name (files, folders, lists, standard input, datasets, the Hub) as items without pixels.

Reading the pixels of a page belongs to `workers.load`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.sources.inputs import refuse_inside
    from penstock.sources.listing import list_items
    from penstock.sources.page_range import PageRange

__all__ = ["PageRange", "list_items", "refuse_inside"]

_HOMES = {"PageRange": "page_range", "list_items": "listing", "refuse_inside": "inputs"}


def __getattr__(name: str) -> Any:
    """Loads a module when its name is asked for: processes that read files use a few of this room only."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)

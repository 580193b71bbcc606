"""Pages and photos in, structured, searchable, measured data out.

    import penstock

    for page in penstock.parse("report.pdf"):
        print(page.markdown)

With `out="folder"` a run is kept, resumed when it is called again, and read back by `penstock.read`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from penstock.api import parse, read
    from penstock.errors import PenstockError
    from penstock.item import Failure, Item, Line, Region
    from penstock.plan import Plan
    from penstock.stage import Batch, Needs, Stage, Worker

__all__ = [
    "Batch",
    "Failure",
    "Item",
    "Line",
    "Needs",
    "PenstockError",
    "Plan",
    "Region",
    "Stage",
    "Worker",
    "__version__",
    "parse",
    "read",
]

_HOMES = {
    "parse": "api", "read": "api", "PenstockError": "errors", "Failure": "item", "Item": "item",
    "Line": "item", "Region": "item", "Plan": "plan", "Batch": "stage", "Needs": "stage", "Stage": "stage",
    "Worker": "stage",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    # names load when they are used: the command line must answer before numpy is there
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"penstock.{_HOMES[name]}"), name)

"""Pages and photos in, structured, searchable, measured data out.

    import penstock

    doc = penstock.convert("report.pdf")
    print(doc.markdown)

    for page in penstock.parse("scans/", out="folder"):
        print(page.document, page.number, page.markdown)

With `out="folder"` a run is kept, resumed when it is called again, and read back by `penstock.read`.
"""

from __future__ import annotations

import importlib
import logging
import sys
from typing import TYPE_CHECKING, Any

from penstock.telemetry import switch_off

__version__ = "0.1.0"

if sys.platform == "win32":  # locks, limits and inherited file descriptors are POSIX throughout
    raise ImportError("Penstock runs on Linux and macOS; on Windows install it inside WSL (wsl --install).")

switch_off()  # before anything imports a package that reports
logging.getLogger(__name__).addHandler(logging.NullHandler())  # who imports us decides what is shown

if TYPE_CHECKING:
    from penstock.aio import aconvert, aparse
    from penstock.api.documents import export, parse, read
    from penstock.api.enriching import enrich
    from penstock.api.evaluation import evaluate
    from penstock.api.photos import volumes
    from penstock.api.searching import embed, index, search
    from penstock.client.async_client import AsyncClient
    from penstock.client.client import Client
    from penstock.converted.collection import Documents
    from penstock.converted.document import Document
    from penstock.converted.figures import Figure
    from penstock.converted.outline import DocumentSection
    from penstock.converted.tables import DocumentTable
    from penstock.errors import Failure, PenstockError
    from penstock.item import Item
    from penstock.page import Page
    from penstock.passes.in_order import ParseProgress
    from penstock.photo import Photo, PhotoObject
    from penstock.plan import Plan
    from penstock.region import Line, Region
    from penstock.stage import Batch, Needs, Stage, Worker

__all__ = [
    "AsyncClient",
    "Batch",
    "Client",
    "Document",
    "DocumentSection",
    "DocumentTable",
    "Documents",
    "Failure",
    "Figure",
    "Item",
    "Line",
    "Needs",
    "Page",
    "ParseProgress",
    "PenstockError",
    "Photo",
    "PhotoObject",
    "Plan",
    "Region",
    "Stage",
    "Worker",
    "__version__",
    "aconvert",
    "aparse",
    "convert",
    "embed",
    "enrich",
    "evaluate",
    "export",
    "index",
    "parse",
    "read",
    "search",
    "volumes",
]

_HOMES = {
    **dict.fromkeys(("export", "parse", "read"), "api.documents"),
    **dict.fromkeys(("embed", "index", "search"), "api.searching"),
    **dict.fromkeys(("aconvert", "aparse"), "aio"),
    **dict.fromkeys(("Failure", "PenstockError"), "errors"),
    **dict.fromkeys(("Photo", "PhotoObject"), "photo"),
    **dict.fromkeys(("Line", "Region"), "region"),
    **dict.fromkeys(("Batch", "Needs", "Stage", "Worker"), "stage"),
    "AsyncClient": "client.async_client",
    "Reader": "api.reader",
    "convert": "api.reader",
    "Client": "client.client",
    "Document": "converted.document",
    "DocumentSection": "converted.outline",
    "DocumentTable": "converted.tables",
    "Documents": "converted.collection",
    "Figure": "converted.figures",
    "Item": "item",
    "Page": "page",
    "ParseProgress": "passes.in_order",
    "Plan": "plan",
    "enrich": "api.enriching",
    "evaluate": "api.evaluation",
    "volumes": "api.photos",
}


def __getattr__(name: str) -> Any:
    # names load when they are used: the command line must answer before numpy is there
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(importlib.import_module(f"penstock.{_HOMES[name]}"), name)

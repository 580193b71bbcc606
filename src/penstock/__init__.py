"""Pages and photos in, structured, searchable, measured data out.

    import penstock

    doc = penstock.convert("report.pdf")
    print(doc.markdown)

    for page in penstock.parse("scans/", out="folder"):
        print(page.document, page.number, page.markdown)

With `out="folder"` a run is kept, resumed when it is called again, and read back by `penstock.open`. A
`penstock.Reader` keeps models loaded between documents.
"""

from __future__ import annotations

import importlib
import logging
import sys
from typing import Any

from penstock.telemetry import switch_off

__version__ = "0.1.0"

if sys.platform == "win32":  # locks, limits and inherited file descriptors are POSIX throughout
    raise ImportError("Penstock runs on Linux and macOS; on Windows install it inside WSL (wsl --install).")

switch_off()  # before anything imports a package that reports
logging.getLogger(__name__).addHandler(logging.NullHandler())  # who imports us decides what is shown

# every public name by its module; __init__.pyi says the same to editors, and a test compares them
_NAMES = {
    "addresses.locator": "Locator",
    "aio": "aconvert aparse",
    "api.documents": "export parse read",
    "api.enriching": "enrich",
    "api.evaluation": "evaluate",
    "api.extracting": "extract",
    "api.photos": "volumes",
    "api.pipeline": "run upload",
    "api.planning": "plan_run",
    "api.reader": "Reader convert",
    "api.reviewing": "correct review",
    "api.searching": "embed index search",
    "api.upkeep": "check models profile",
    "client.async_client": "AsyncClient",
    "client.client": "Client ServiceJob",
    "client.connection": "ServiceError",
    "client.results": "PhotoResults ServiceDocument",
    "converted.collection": "Documents",
    "converted.document": "Document",
    "converted.figures": "Figure",
    "converted.opened": "OpenedRun open",
    "converted.outline": "DocumentSection",
    "converted.passages": "Passage",
    "converted.tables": "DocumentTable",
    "documents.docjson.enriched_block": "EnrichedBlock",
    "documents.fields.extraction": "ExtractedDocument Extraction FoundField RefusedValue",
    "errors": "BadInput DeadlinePassed EngineError Failure ItemError MissingModel NoProgress OpenError"
    " OutLocked PenstockError PlanError PlanMismatch StoreError UsageError WorkerDied",
    "exports.located": "Located",
    "exports.review": "ReviewPlace",
    "item": "Item",
    "page": "Page",
    "passes.embed": "EmbedSummary",
    "passes.in_order": "ParseProgress",
    "passes.pipeline_options": "PipelineOptions PipelineState",
    "passes.scores": "Summary",
    "photo": "Photo PhotoObject",
    "photos.user_boxes": "GivenBox GivenDepth KnownSize",
    "plan": "Plan",
    "region": "Line Region",
    "retrieval.hits": "Filters Hit",
    "retrieval.index": "IndexSummary",
    "stage": "Batch Needs Stage Worker",
    "store.check": "Checkup Damage",
    "store.corrections": "Correction",
    "store.remote": "mirrored",
    "trace.fleet": "FleetEstimate",
    "trace.profile": "Profile",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    # names load when they are used: the command line must answer before numpy is there
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(importlib.import_module(f"penstock.{_HOMES[name]}"), name)

"""Puts a conversion together: inputs become files, files become a run, the run becomes documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from penstock import __version__
from penstock.converted.collection import Documents
from penstock.converted.conversion import Conversion
from penstock.converted.document import Document
from penstock.converted.inputs import as_file, one_file
from penstock.converted.python_terms import items_in_python_terms
from penstock.converted.workspace import Workspace
from penstock.documents.docjson.model import Producer
from penstock.errors import BadInput, UsageError
from penstock.page import Page
from penstock.passes.in_order import PageStream
from penstock.passes.parse import ParseOptions, list_pages
from penstock.plan import Plan
from penstock.sources.probe import PageCounter

INPUTS = "inputs"
ReadPages = Callable[[Plan, Iterator[Page]], PageStream]
Counter = PageCounter | None  # the caller's own, for many small conversions


def convert_one(source: Any, options: ParseOptions, read: ReadPages, counter: Counter = None) -> Document:
    """Returns the document of a source. Raises BadInput where its file cannot be opened at all."""
    workspace = Workspace()
    try:
        chosen = replace(options, inputs=(one_file(source, workspace.path / INPUTS),))
        plan, listing = chosen.plan(), list_pages(chosen, counter=counter)
        first = next(listing)
        if first.failure is not None and first.failure.stage == "list":
            raise BadInput(first.failure.message, first.failure.advice)
        conversion = Conversion(
            items_in_python_terms(read(plan, chain([first], listing))), workspace, _producer(plan)
        )
        conversion.begin(first.document)
    except BaseException:
        workspace.close()
        raise
    return Document(conversion, first.document, is_alone=True)


def convert_many(
    sources: Iterable[Any], options: ParseOptions, read: ReadPages, counter: Counter = None
) -> Documents:
    """Returns the documents of all sources, which one run reads."""
    workspace = Workspace()
    try:
        folder = workspace.path / INPUTS
        paths = tuple(as_file(source, folder / str(number)) for number, source in enumerate(sources, 1))
        if not paths:
            raise UsageError("The list is empty.", "Give at least one document.")
        chosen = replace(options, inputs=paths)
        plan, listing = chosen.plan(), list_pages(chosen, counter=counter)
        conversion = Conversion(items_in_python_terms(read(plan, listing)), workspace, _producer(plan))
    except BaseException:
        workspace.close()
        raise
    return Documents(conversion)


def _producer(plan: Plan) -> Producer:
    settings = plan.settings()
    reading: dict[str, object] = next((row for row in settings if "recogniser" in row), {})
    return Producer(
        version=__version__,
        recipe=plan.name,
        fingerprint=plan.fingerprint(),
        model=str(reading.get("model") or reading.get("recogniser", "")),
    )

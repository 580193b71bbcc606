"""Puts a conversion together: inputs become files, files become a run, the run becomes documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
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
from penstock.sources import formats
from penstock.sources.files import kind_of
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
        pages = _of_one_document(chosen.inputs[0], first, listing)
        conversion = Conversion(items_in_python_terms(read(plan, pages)), workspace, _producer(plan))
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


def _of_one_document(path: str, first: Page, listing: Iterator[Page]) -> Iterator[Page]:
    """Returns the pages of the first document. Raises UsageError where an archive holds another one.

    A mail is a document without its attachments, which a list of one mail gives, too.
    """
    kind = _kind(Path(path)) if Path(path).is_file() else None
    if kind not in formats.ARCHIVES | formats.MAILS:
        return chain([first], listing)
    pages = [first]
    for page in listing:
        if page.document != first.document and kind in formats.ARCHIVES:
            advice = f"For all of them: convert([{path!r}]). For one page after the other: parse({path!r})."
            raise UsageError(f"{path} is an archive of several documents.", advice)
        if page.document != first.document:
            break
        pages.append(page)
    return iter(pages)


def _kind(path: Path) -> str | None:
    with path.open("rb") as file:
        return kind_of(file.read(formats.HEAD_BYTES), path.suffix.lower())[0]


def _producer(plan: Plan) -> Producer:
    settings = plan.settings()
    reading: dict[str, object] = next((row for row in settings if "recogniser" in row), {})
    return Producer(
        version=__version__,
        recipe=plan.name,
        fingerprint=plan.fingerprint(),
        model=str(reading.get("model") or reading.get("recogniser", "")),
    )

"""Extraction over an OUT: lists its documents, runs the extract plan, keeps a ledger of its own a schema.

A document's row is named by its pages' rows: one that was read again is extracted again, and nothing stale is
shown. Stop it anywhere and run it again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from penstock.documents.fields.extraction import ExtractedDocument
from penstock.documents.fields.schema import FieldSchema
from penstock.driver import Run
from penstock.errors import UsageError
from penstock.executors import make_executor
from penstock.exports.extracted import EXTRACTED, home_of, read_extracted, write_extracted
from penstock.options.option import defaults, values_of
from penstock.options.passes import EXTRACT
from penstock.passes.prepared_run import PreparedRun
from penstock.recipes.extract import extract as extract_plan
from penstock.redaction import SafeRepr
from penstock.stage import secret
from penstock.store.ledger import Entry
from penstock.store.out import Out
from penstock.trace.spans import Trace

DEFAULTS = defaults(EXTRACT)
GivenSchema = str | Path | Mapping[str, Any] | type[BaseModel]
_NAME = re.compile(r"[^\w-]+")
MAX_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions(SafeRepr):
    """Who is asked besides the rules; see the extract recipe."""

    server: tuple[str, ...] = DEFAULTS["server"]
    model: str = DEFAULTS["model"]
    max_tokens: int = DEFAULTS["max_tokens"]
    api_key: str | None = secret()
    in_flight: int = DEFAULTS["in_flight"]
    executor: str = DEFAULTS["executor"]
    retry_failed: bool = DEFAULTS["retry_failed"]
    fresh: bool = DEFAULTS["fresh"]

    def settings(self) -> dict[str, Any]:
        names = ("server", "model", "max_tokens", "api_key", "in_flight")
        return {name: getattr(self, name) for name in names}


def extract_options(given: Mapping[str, Any]) -> ExtractOptions:
    """Returns the options from those that were given, by their names in the table."""
    return ExtractOptions(**{**given, **values_of(EXTRACT, given)})


def schema_from(given: GivenSchema) -> FieldSchema:
    """Returns the fields of a file, of a JSON Schema as a dictionary, or of a pydantic model."""
    if isinstance(given, type):
        return FieldSchema.parse(_name(given.__name__), json.dumps(given.model_json_schema()))
    if isinstance(given, Mapping):
        return FieldSchema.parse(_name(str(given.get("title") or "fields")), _json_text(given))
    path = Path(given)
    try:
        text = path.read_text("utf-8-sig")
    except OSError as exc:
        raise UsageError(f"Cannot read the schema {path}: {exc.strerror}.") from exc
    except UnicodeDecodeError as exc:
        raise UsageError(f"The schema {path} is not UTF-8 text.") from exc
    return FieldSchema.parse(_name(path.name.removesuffix(".json").removesuffix(".schema")), text)


def _json_text(given: Mapping[str, Any]) -> str:
    try:
        return json.dumps(given)
    except (TypeError, ValueError, RecursionError) as exc:
        raise UsageError(f"The schema cannot be written as JSON: {exc}.") from exc


def _name(words: str) -> str:
    return _NAME.sub("-", words).strip("-")[:MAX_NAME] or "fields"


@dataclass
class Extracting:
    """One extraction: its run, and what was found of every document once it is through."""

    work: PreparedRun[ExtractedDocument]
    schema: FieldSchema
    out: Out

    def results(self) -> Iterator[ExtractedDocument]:
        """Yields what is known of each document of OUT, in source order."""
        ids = [document_id(list(group)) for _, group in _documents(self.out)]
        return read_extracted(self.out, self.schema.name, ids)

    def write(self) -> Path:
        """Writes the results of all documents as JSON lines, and returns the file."""
        return write_extracted(self.out, self.schema.name, self.results())


def extract_work(given: GivenSchema, options: ExtractOptions, out: Path) -> Extracting:
    """Returns the run over OUT's documents. Raises UsageError where OUT holds no pages."""
    folder, schema = Out(out), schema_from(given)
    plan = extract_plan(schema, **options.settings())
    folder.need_rows()
    run = Run(
        plan,
        make_executor(options.executor, Trace()),
        out,
        EXTRACTED,
        retry_failed=options.retry_failed,
        fresh=options.fresh,
        home=home_of(schema.name),
    )
    return Extracting(PreparedRun(run, _list_documents(folder)), schema, folder)


def _documents(out: Out) -> Iterator[tuple[str, Iterator[Entry]]]:
    return groupby(out.entries(), key=lambda entry: entry.document)


def _list_documents(out: Out) -> Iterator[ExtractedDocument]:
    """Yields one item a document with its pages, in source order."""
    for document, group in _documents(out):
        entries = list(group)
        pages = tuple(out.pages.item(entry) for entry in entries)
        yield ExtractedDocument(id=document_id(entries), uri=pages[0].uri, document=document, pages=pages)


def document_id(entries: list[Entry]) -> str:
    """Returns a name made of the rows of a document's pages: another attempt of a page gives another."""
    rows = [[entry.id, entry.attempt] for entry in entries]
    return hashlib.sha256(json.dumps([entries[0].document, rows]).encode("utf-8", "replace")).hexdigest()[:24]

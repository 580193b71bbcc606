"""Finds the fields of a schema in a run's documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from penstock.converted.python_terms import in_python_terms
from penstock.documents.fields.extraction import ExtractedDocument
from penstock.options.typed import ExtractSettings
from penstock.passes.extract import GivenSchema, extract_options, extract_work


@in_python_terms()
def extract(
    out: str | Path, schema: GivenSchema, **options: Unpack[ExtractSettings]
) -> Iterator[ExtractedDocument]:
    """Returns each document of a run with the values of a schema's fields, in source order.

    `schema` is a file, a JSON Schema as a dictionary, or a pydantic model. `options` are the fields of
    `ExtractOptions`.

        for found in penstock.extract("out", Invoice):
            print(found.document, found.extraction.values)
            for field in found.extraction.fields:
                print(field.path, field.value, field.locators)
    """
    extracting = extract_work(schema, extract_options(options), Path(out))
    for _ in extracting.work:
        pass
    extracting.write()
    return extracting.results()

"""A document loader: chunks, pages or regions with their places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

import penstock


class PenstockLoader(BaseLoader):
    """Loads what Penstock reads: PDFs, scans, pictures, Office files, HWP, HTML.

        for document in PenstockLoader("report.pdf", lang="ko").lazy_load():
            print(document.page_content, document.metadata["locator"])

    `source` is a path, an address, or a list of them; with `out` it is what `penstock parse -o OUT` kept, and
    nothing is read again. A `Document` holds one `unit` and its metadata: `source`, `locator`, `kind`,
    `page`, `last_page`, `boxes` (JSON: [page, left, top, right, bottom], from 0 to 1000), `section` and,
    where something was recognised, `confidence`. Options are those of `penstock.convert`.
    """

    def __init__(
        self,
        source: str | Path | list[str] | list[Path] | None = None,
        *,
        out: str | Path | None = None,
        unit: Literal["chunk", "page", "region"] = "chunk",
        **options: Any,
    ) -> None:
        if (source is None) == (out is None):
            raise ValueError("Give either `source`, what to read, or `out`, a run that was kept.")
        self._source, self._out, self._unit, self._options = source, out, unit, options

    def lazy_load(self) -> Iterator[Document]:
        """Yields a Document for each passage, page after page as they are read."""
        for passage in self._passages():
            yield Document(id=passage.locator, page_content=passage.text, metadata=passage.metadata)

    def _passages(self) -> Iterator[penstock.Passage]:
        if self._out is not None:
            for document in penstock.open(self._out):
                yield from document.passages(self._unit)
            return
        sources = self._source if isinstance(self._source, list) else [self._source]
        with penstock.convert(sources, **self._options) as documents:
            for document in documents:
                yield from document.passages(self._unit)

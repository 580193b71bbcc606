"""A reader: whole documents as DocJSON, or their chunks, pages or regions with their places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from llama_index.core.readers.base import BasePydanticReader
from llama_index.core.schema import Document
from pydantic import Field

import penstock

UNSEEN = ["locator", "boxes", "confidence"]  # by an embedder or a model: they say nothing of the content


class PenstockReader(BasePydanticReader):
    """Reads what Penstock reads: PDFs, scans, pictures, Office files, HWP, HTML.

        for document in PenstockReader(options={"lang": "ko"}).lazy_load_data("report.pdf"):
            print(document.text, document.metadata["locator"])

    The metadata of a chunk, a page or a region: `source`, `locator`, `kind`, `page`, `last_page`, `boxes`
    (JSON: [page, left, top, right, bottom], from 0 to 1000), `section` and, where something was recognised,
    `confidence`. A whole document is DocJSON, for `PenstockNodeParser`.
    """

    is_remote: bool = False
    unit: Literal["document", "chunk", "page", "region"] = "chunk"
    options: dict[str, Any] = Field(default_factory=dict, description="Options of penstock.convert")

    @classmethod
    def class_name(cls) -> str:
        return "PenstockReader"

    def lazy_load_data(
        self,
        source: str | Path | list[str] | list[Path] | None = None,
        *,
        out: str | Path | None = None,
        extra_info: dict[str, Any] | None = None,
    ) -> Iterator[Document]:
        """Yields documents of `source`, or of `out`, a run that `penstock parse -o OUT` kept."""
        if (source is None) == (out is None):
            raise ValueError("Give either `source`, what to read, or `out`, a run that was kept.")
        if out is not None:
            for document in penstock.open(out):
                yield from self._of(document, extra_info or {})
            return
        sources = source if isinstance(source, list) else [source]
        with penstock.convert(sources, **self.options) as documents:
            for document in documents:
                yield from self._of(document, extra_info or {})

    def _of(self, document: penstock.Document, extra: dict[str, Any]) -> Iterator[Document]:
        if self.unit == "document":
            text = json.dumps(document.to_dict(), ensure_ascii=False)
            yield Document(text=text, metadata={"source": document.name, **extra})
            return
        for passage in document.passages(self.unit):
            yield Document(
                id_=passage.locator,
                text=passage.text,
                metadata={**passage.metadata, **extra},
                excluded_embed_metadata_keys=UNSEEN,
                excluded_llm_metadata_keys=UNSEEN,
            )

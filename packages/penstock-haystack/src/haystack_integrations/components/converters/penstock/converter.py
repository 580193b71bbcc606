"""A converter: files to chunks, pages or regions with their places."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.components.converters.utils import normalize_metadata
from haystack.dataclasses import ByteStream

import penstock


@component
class PenstockConverter:
    """Converts what Penstock reads: PDFs, scans, pictures, Office files, HWP, HTML.

        converter = PenstockConverter(options={"lang": "ko"})
        for document in converter.run(sources=["report.pdf"])["documents"]:
            print(document.content, document.meta["locator"])

    Models stay loaded between calls. A Document holds one `unit`; its meta has `source`, `locator`, `kind`,
    `page`, `page_number`, `last_page`, `boxes` (JSON: [page, left, top, right, bottom], from 0 to 1000),
    `section` and, where something was recognised, `confidence`. Options are those of `penstock.Reader`.
    """

    def __init__(
        self, unit: Literal["chunk", "page", "region"] = "chunk", options: dict[str, Any] | None = None
    ) -> None:
        self.unit = unit
        self.options = options or {}
        self._reader: penstock.Reader | None = None

    def warm_up(self) -> None:
        """Makes the reader. Its models load with the first page."""
        if self._reader is None:
            self._reader = penstock.Reader(**self.options)

    def close(self) -> None:
        """Ends the reader's threads and processes."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = default_to_dict(self, unit=self.unit, options=self.options)
        return told

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PenstockConverter:
        made: PenstockConverter = default_from_dict(cls, data)
        return made

    @component.output_types(documents=list[Document])
    def run(
        self,
        sources: list[str | Path | ByteStream],
        meta: dict[str, Any] | list[dict[str, Any]] | None = None,
    ) -> dict[str, list[Document]]:
        """Returns the documents of all sources, in their order."""
        self.warm_up()
        metas = normalize_metadata(meta, sources_count=len(sources))
        pairs = zip(sources, metas, strict=True)
        return {"documents": [made for source, more in pairs for made in self._documents(source, more)]}

    def _documents(self, source: str | Path | ByteStream, more: dict[str, Any]) -> Iterator[Document]:
        assert self._reader is not None
        given: str | Path | BytesIO = _named(source) if isinstance(source, ByteStream) else source
        more = {**source.meta, **more} if isinstance(source, ByteStream) else more
        with self._reader.convert(given) as document:
            for passage in document.passages(self.unit):
                facts = {**passage.metadata, "page_number": passage.pages[0], **more}
                yield Document(content=passage.text, meta=facts)


def _named(stream: ByteStream) -> BytesIO:
    """Returns its bytes as a stream with a file's name, which becomes the document's."""
    named = BytesIO(stream.data)
    named.name = str(stream.meta.get("file_path") or stream.meta.get("file_name") or "document")
    return named

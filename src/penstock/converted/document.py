"""One document as a Python object."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Self

from penstock.choices import PassageUnit
from penstock.converted.figures import Figure, figures_of
from penstock.converted.notebook import document_html
from penstock.converted.outline import DocumentSection, page_text, sections_of
from penstock.converted.pages import DocumentPages, KeptPages
from penstock.converted.passages import Passage, passages
from penstock.converted.saving import page_piece, save_pages
from penstock.converted.tables import DocumentTable, tables_of
from penstock.documents.docjson.assemble import Assembler, assemble
from penstock.documents.docjson.model import Chunk
from penstock.documents.pages.joined_pages import joined_markdown
from penstock.documents.pages.whole_document import WholeDocument, corrected_pages
from penstock.errors import Failure
from penstock.exports.pages import output_names

PREVIEW = 2  # pages a notebook shows


class Document:
    """What `penstock.convert` gives back. A page is read when something uses it, and kept on disk.

        with penstock.convert("report.pdf") as doc:
            print(doc.markdown)
            doc.tables[0].to_pandas()

    What it keeps is removed when it is closed, or when nothing refers to it any more.
    """

    def __init__(self, kept: KeptPages, name: str, *, is_alone: bool) -> None:
        self.name = name
        self._kept = kept
        self._is_alone = is_alone

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the reading and removes what was kept. One of several documents goes with the others."""
        if self._is_alone:
            self._kept.close()

    @property
    def pages(self) -> DocumentPages:
        """The pages in order. A failed one has `failure` set."""
        return DocumentPages(self._kept, self.name)

    @property
    def markdown(self) -> str:
        """The whole document. Pictures stand as words in brackets; `save` writes links to their files."""
        whole = WholeDocument.of(self.pages)
        return "".join(page_piece(page, None, whole) for page in self.pages.linked())

    @property
    def joined_markdown(self) -> str:
        """The whole document without page marks; paragraphs and tables that go on over pages are whole."""
        return "".join(joined_markdown(self.pages, WholeDocument.of(self.pages), None))

    @property
    def text(self) -> str:
        """The words in reading order, without headers, footers and markup."""
        return "\n\n".join(filter(None, map(page_text, corrected_pages(self.pages))))

    @cached_property
    def tables(self) -> list[DocumentTable]:
        """The tables in order. One that goes on over pages is one table."""
        return tables_of(self._assembler(), corrected_pages(self.pages))

    @cached_property
    def figures(self) -> list[Figure]:
        """The pictures that were cut out, in order; none with `crops=False`."""
        return figures_of(self._assembler(), self.pages, self._kept.workspace)

    @cached_property
    def sections(self) -> list[DocumentSection]:
        """The headings with the text under each."""
        return sections_of(self._assembler(), corrected_pages(self.pages))

    @property
    def failures(self) -> list[tuple[int, Failure]]:
        """The pages that could not be read: their numbers, and why."""
        return [(page.number, page.failure) for page in self.pages if page.failure is not None]

    def chunks(self) -> Iterator[Chunk]:
        """Yields pieces for retrieval, by section, of at most some 350 tokens."""
        return self._assembler().chunks(corrected_pages(self.pages))

    def passages(self, unit: PassageUnit = "chunk") -> Iterator[Passage]:
        """Yields chunks, pages or regions with flat metadata: page, boxes, confidence, locator, section."""
        return passages(self.name, corrected_pages(self.pages), unit)

    def to_dict(self) -> dict[str, Any]:
        """Returns the document as DocJSON."""
        doc = assemble(self.name, corrected_pages(self.pages), producer=self._kept.producer)
        return doc.model_dump(mode="json")

    def save(self, folder: str | Path) -> Path:
        """Writes `folder/NAME.md` and the crops it links to. Returns the path of the Markdown."""
        [name] = output_names([PurePosixPath(self.name).name], ".md").values()
        return self.save_as(Path(folder), name)

    def save_as(self, folder: Path, name: PurePosixPath) -> Path:
        """Writes `folder/name` and, below `folder`, the crops it links to."""
        return save_pages(self.pages, self._kept.workspace.path, folder, name)

    def __repr__(self) -> str:
        return f"Document({self.name!r}, {self.pages.count_text()})"

    def _repr_html_(self) -> str:
        """Shows the first pages; reads them if none was read. A closed document is its name."""
        if self._kept.is_closed:
            return document_html(self.name, (), "closed")
        shown = list(islice(self.pages, max(1, min(PREVIEW, self.pages.num_read))))
        return document_html(self.name, shown, self.pages.count_text())

    def _assembler(self) -> Assembler:
        return Assembler(self.name, producer=self._kept.producer)

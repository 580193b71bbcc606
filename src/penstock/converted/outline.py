"""The sections of a converted document, and its plain text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.model import Block
from penstock.documents.docjson.page_blocks import page_blocks
from penstock.documents.docjson.table import rows_of
from penstock.page import Page

HEADINGS = frozenset({"text_header", "text_section"})


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A heading and the text under it, up to the next heading of any level.

    Level 0 is the document's title and what precedes the first heading; chapters are level 1.
    """

    heading: str
    level: int
    content: str = field(repr=False)
    path: tuple[str, ...] = ()  # the headings above it, itself last
    first_page: int = 1
    last_page: int = 1


def sections_of(assembler: Assembler, pages: Iterable[Page]) -> list[DocumentSection]:
    """Returns the sections in reading order; each word of the body is in one of them."""
    contents: dict[str, list[str]] = {"": []}  # by the section's id; "" is before the first
    opening_ends = 1
    for page in pages:
        for block in assembler.page(page).blocks:
            if block.layer == "furniture" or block.category in HEADINGS:
                continue
            if text := block_text(block):
                contents.setdefault(block.section_id, []).append(text)
                opening_ends = opening_ends if block.section_id else block.page_no
    found = [
        DocumentSection(
            section.title,
            section.level,
            "\n\n".join(contents.get(section.id, ())),
            tuple(section.path),
            *section.page_span,
        )
        for section in assembler.finish().sections
    ]
    opening = DocumentSection(assembler.title, 0, "\n\n".join(contents[""]), last_page=opening_ends)
    return [opening, *found] if opening.heading or opening.content else found


def page_text(page: Page) -> str:
    """Returns the words of a page in reading order, without margins and markup."""
    blocks = page_blocks(page, 0, has_title=False).blocks
    return "\n\n".join(text for block in blocks if block.layer == "body" and (text := block_text(block)))


def block_text(block: Block) -> str:
    """Returns a block's words; rows of a table are lines, with tabs between cells."""
    if block.table is None or not block.table.cells:
        return block.text
    return "\n".join("\t".join(" ".join(cell.split()) for cell in row) for row in rows_of(block.table))

"""Markdown, by way of the HTML that it stands for."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from penstock.engines.office.blocks import BlockFile, StructureBlock, in_units
from penstock.engines.office.html_blocks import html_blocks
from penstock.engines.office.text import decoded

_FRONT_MATTER = re.compile(r"\A---\n(.{0,20000}?)\n---\n", re.DOTALL)
_PAGE = re.compile(r"^<!-- page \d{1,6} -->$", re.MULTILINE)  # as our own exports part pages


def read_markdown(data: bytes) -> BlockFile:
    text = decoded(data).replace("\r\n", "\n")
    pages = _PAGE.split(_FRONT_MATTER.sub("", text))
    if len(pages) > 1 and not pages[0].strip():
        pages = pages[1:]
    return BlockFile([unit for page in pages for unit in in_units(markdown_blocks(page))])


def markdown_blocks(text: str) -> list[StructureBlock]:
    """Returns the blocks of Markdown with GitHub's tables."""
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 40}).enable(["table", "strikethrough"])
    return html_blocks(parser.render(text))

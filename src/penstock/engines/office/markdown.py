"""Markdown, by way of the HTML that it stands for."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from penstock.engines.office.blocks import BlockFile, StructureBlock, in_units
from penstock.engines.office.html_blocks import PictureOf, html_blocks, no_picture
from penstock.engines.office.text import decoded

_FRONT_MATTER = re.compile(r"\A---\n(.{0,20000}?)\n---\n", re.DOTALL)
_NOTE = re.compile(r" {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_PAGE = re.compile(r"^<!-- page \d{1,6} -->$", re.MULTILINE)  # as our own exports part pages


def read_markdown(data: bytes) -> BlockFile:
    text = decoded(data).replace("\r\n", "\n")
    pages = _PAGE.split(_FRONT_MATTER.sub("", text))
    if len(pages) > 1 and not pages[0].strip():
        pages = pages[1:]
    return BlockFile([unit for page in pages for unit in in_units(markdown_blocks(page))])


def markdown_blocks(text: str, picture_of: PictureOf = no_picture) -> list[StructureBlock]:
    """Returns the blocks of Markdown with GitHub's tables and notes. The notes come last."""
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 40}).enable(["table", "strikethrough"])
    text, notes = _notes_apart(text)
    blocks = html_blocks(parser.render(text), picture_of)
    for name, words in notes:
        said = " ".join(block.text for block in html_blocks(parser.render(words)))
        blocks.append(StructureBlock(label="footnote", text=f"[^{name}]: {said}", mark="footnote"))
    return blocks


def _notes_apart(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Returns the text without its notes, and the notes: CommonMark takes them for addresses."""
    if "[^" not in text:
        return text, []
    kept: list[str] = []
    notes: list[tuple[str, list[str]]] = []
    fence, is_open = "", False  # is_open: the line before was a note
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
        found = None if fence else _NOTE.match(line)
        if found:
            notes.append((found[1], [found[2]]))
        elif is_open and line.startswith(("    ", "\t")) and line.strip():
            notes[-1][1].append(line.strip())
        else:
            kept.append(line)
        is_open = len(kept) == 0 or kept[-1] is not line
    return "\n".join(kept), [(name, "\n".join(lines)) for name, lines in notes]


def _fence_after(line: str, fence: str) -> str:
    """Returns the signs that open the code in which a line stands; "" outside of code."""
    found = _FENCE.match(line)
    if not found:
        return fence
    if not fence:
        return found[1]
    return "" if found[1].startswith(fence) and not found[2].strip() else fence

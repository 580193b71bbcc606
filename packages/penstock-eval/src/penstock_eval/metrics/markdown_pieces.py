"""Cuts any tool's Markdown into what is scored: headings, lists, tables, formulas, pictures, words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from html import unescape

from bs4 import Tag

from penstock_eval.html_tree import parse_html
from penstock_eval.metrics.markdown_tables import with_tables_as_html
from penstock_eval.metrics.text import collapse_spaces

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TABLE = re.compile(r"<table\b.*?</table\s*>", re.IGNORECASE | re.DOTALL)
_PICTURE = re.compile(
    r"!\[((?:\\.|[^\]\\])*)\]\((?:<[^>]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)[^)]*\)|<img\b[^>]*>", re.IGNORECASE
)
_PLACE = re.compile(r"<!--\s*image\s*-->")  # docling's word for a picture that it does not keep
_LINK = re.compile(r"(?<!!)\[((?:\\.|[^\]\\])*)\]\((?:<[^>]*>|[^()\s]*)[^)]*\)")
_AUTO_LINK = re.compile(r"<(?:https?|mailto):[^>\s]*>")
_FORMULA = re.compile(
    r"\$\$(.+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|```\s*math\n(.+?)```|\$`(.+?)`\$|(?<![\\$])\$([^$\n]+?)(?<!\\)\$(?!\$)",
    re.DOTALL,
)
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$", re.MULTILINE)
_UNDERLINED = re.compile(r"^(?!\s*(?:[-*+#>|]|\d+\.))(\S.*)\n(=+|-+)[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"^(\s*)([-*+•◦▪‣·]|\d{1,3}(?:\.\d{1,3})*[.)]|\d{1,3}(?:\.\d{1,3})+)\s+(.*)$")
_NOTE_MARK = re.compile(r"\[\^[^\]\s]{1,40}\]:?")
_TAG = re.compile(r"</?[a-zA-Z][^>]{0,400}>")
_RULE = re.compile(r"^[\s|:*_-]*[-*_]{3,}[\s|:*_-]*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~$<>&'\":])")
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|__|\*)(?=\S)(.+?)(?<=\S)\1")
_INLINE = (
    "b",
    "strong",
    "i",
    "em",
    "u",
    "span",
    "code",
    "a",
    "sup",
    "sub",
    "font",
    "bdi",
    "bdo",
    "s",
    "small",
)
_BLOCKS = ("p", "div", "li", "ul", "ol", "dd", "dt", "dl", "blockquote", "pre", "caption")
_FENCE = re.compile(r"^\s*(?:```|~~~)[^\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MarkdownPieces:
    headings: tuple[tuple[int, str], ...]
    items: tuple[tuple[int, str], ...]  # of lists: depth, and mark and text
    tables: tuple[str, ...]  # HTML, one form for all ways to write a cell
    formulas: tuple[str, ...]
    num_pictures: int
    text: str  # everything in order
    text_outside: str  # without tables


def pieces_of(markdown: str) -> MarkdownPieces:
    plain = in_one_form(markdown)
    num_pictures = len(_PICTURE.findall(plain))
    plain = _PICTURE.sub(" ", plain)
    tables = tuple(_one_form(table) for table in top_tables(plain))
    outside = _without_tables(plain)
    formulas = tuple("".join(found).strip() for found in _FORMULA.findall(_in_cells_too(plain)))
    bare = _FORMULA.sub(" ", outside)
    headings = tuple((len(found[1]), words_of(found[2])) for found in _HEADING.finditer(bare))
    return MarkdownPieces(
        headings=tuple((level, text) for level, text in headings if text),
        items=tuple(_items(bare)),
        tables=tables,
        formulas=formulas,
        num_pictures=num_pictures,
        text=words_of(_FORMULA.sub(" ", plain)),
        text_outside=words_of(bare),
    )


def in_one_form(markdown: str) -> str:
    """Returns Markdown with tables as HTML, underlined headings as `#`, without comments and fences."""
    text = _PLACE.sub("![](image)", unicodedata.normalize("NFC", markdown).replace("\r\n", "\n"))
    text = _FENCE.sub("", _COMMENT.sub(" ", text)) if "```math" not in text.replace(" ", "") else text
    text = _AUTO_LINK.sub(" ", _LINK.sub(r"\1", text))
    text = _UNDERLINED.sub(lambda found: ("# " if found[2][0] == "=" else "## ") + found[1], text)
    return with_tables_as_html(text)


def top_tables(markdown: str) -> list[Tag]:
    """Returns the tables that stand in no other table."""
    if "<table" not in markdown.lower():
        return []
    return [table for table in parse_html(markdown).find_all("table") if table.find_parent("table") is None]


def words_of(text: str) -> str:
    """Returns words without marks, tags and escapes, apart by one space."""
    text = _RULE.sub(" ", _TAG.sub(" ", _NOTE_MARK.sub("", text)))
    text = re.sub(r"^\s*(?:#{1,6}|>+|[-*+•◦▪‣·]|\d{1,3}[.)])\s+", "", text, flags=re.MULTILINE)
    text = _EMPHASIS.sub(r"\2", text.replace("|", " "))
    return collapse_spaces(unescape(_ESCAPE.sub(r"\1", text)))


def _in_cells_too(markdown: str) -> str:
    return unescape(markdown) if "<td" in markdown else markdown


def _without_tables(markdown: str) -> str:
    """Returns the Markdown without tables, also where a table stands in another."""
    kept, depth, at = [], 0, 0
    for tag in re.finditer(r"<(/?)table\b[^>]*>", markdown, re.IGNORECASE):
        if depth == 0:
            kept.append(markdown[at : tag.start()])
        depth = max(0, depth - 1) if tag[1] else depth + 1
        at = tag.end()
    kept.append(markdown[at:] if depth == 0 else "")
    return "\n".join(kept)


def _items(markdown: str) -> list[tuple[int, str]]:
    """Returns items by how far they are set in: deeper than the one before is a level below it."""
    found: list[tuple[int, str]] = []
    open_at: list[int] = []
    for line in markdown.splitlines():
        item = _ITEM.match(line)
        if item is None:
            if line.strip() and not line.startswith(" "):
                open_at = []
            continue
        indent = len(item[1].expandtabs(4))
        while open_at and open_at[-1] >= indent:
            open_at.pop()
        open_at.append(indent)
        mark = "1." if item[2][0].isdigit() else "-"
        found.append((len(open_at), f"{mark} {words_of(item[3])}"))
    return found


def _one_form(table: Tag) -> str:
    """Returns a table of bare rows and cells: a line of a cell is a line however it was written."""
    for tag in table.find_all(_INLINE):
        tag.unwrap()
    for tag in table.find_all(("thead", "tbody", "tfoot", "colgroup", "col")):
        tag.unwrap()
    for tag in table.find_all(_BLOCKS):
        tag.insert_before("\n")
        tag.append("\n")
        tag.unwrap()
    for tag in table.find_all(True):
        tag.attrs = {
            name: value
            for name, value in tag.attrs.items()
            if name in ("rowspan", "colspan") and value != "1"
        }
    return _EMPHASIS.sub(r"\2", _ESCAPE.sub(r"\1", str(table)))

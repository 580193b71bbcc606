"""Cuts a predicted page into the pieces v1.6 matches: text, formulas, tables, and formula look-alikes.

As v1.5 does, takes out and blanks tables, display formulas, pipe tables and code; the rest is text. New are
pieces of text, cells and picture captions that may stand for a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from penstock_eval.html_tree import parse_html, texts
from penstock_eval.omnidocbench import pipe_rows
from penstock_eval.omnidocbench.elements import (
    CODE,
    DOLLARS,
    HTML_TABLE,
    INLINE,
    LATEX_WRAPPERS,
    MATH,
    blanked,
    html_tables,
    latex_tables,
    pictures,
    without_fences,
)
from penstock_eval.omnidocbench.v1_6.formula_lines import formula_lines
from penstock_eval.omnidocbench.v1_6.formula_lookalikes import (
    as_formula,
    is_arithmetic,
    is_caption,
    is_formula_cell,
    is_label,
    looks_like_formula,
    one_line,
    text_line,
)
from penstock_eval.omnidocbench.v1_6.latex import MAX_FORMULA

TEXT, FORMULA, TABLE, RESCUE = "text_all", "equation_isolated", "html_table", "formula_rescue"
STAND_INS = ("text_formula", "image_formula", "formula_rescue", "table_formula_rescue")
_SPACE = r"(?:(?:\\qquad|\\quad|\\enspace|\\,|\\;|\\:)\s*)"
_LEADING_NUMBER = re.compile(
    rf"\s*(?P<number>\\left\(\s*[0-9IVXivx]+\s*\\right\)|\(\s*[0-9IVXivx]+\s*\))\s*{_SPACE}*"
)
_TRAILING_WORDS = tuple(
    re.compile(rf"(?P<space>{_SPACE})(?P<words>{words}\.?)\s*$")
    for words in (r"\\text\s*\{[^{}]*\}", r"\([^)]*[A-Za-z][^)]*\)")
)
_TRAILING_SPACE = re.compile(rf"{_SPACE}+$")
_ENVELOPES = (("\\[", "\\]"), ("\\(", "\\)"), ("$$", "$$"), ("$", "$"))
_DESCRIBES = (
    "the image ", "the figure ", "the diagram ", "diagram:", "[diagram:", "[image:", "qr code ",
)  # fmt: skip
_UNREAD_TAGS = frozenset(["style", "script"])
_BLOCK_TAGS = frozenset(["div", "dir", "p", "li"])


@dataclass(frozen=True, slots=True)
class PredictedPiece:
    """One predicted piece and where it stands. Lines of one formula have the same `source`."""

    kind: str
    start: float
    end: float
    content: str
    fine: str = ""
    source: tuple[object, ...] = ()

    @property
    def category(self) -> str:
        return self.fine or self.kind

    @property
    def formula_category(self) -> str:
        return FORMULA if self.category in STAND_INS else self.category


def predicted_pieces(markdown: str) -> list[PredictedPiece]:
    """Returns all pieces of a page, in the order of their starts."""
    pieces, content = _prepared(markdown)
    for start, end in latex_tables(content):  # without LaTeXML they are read as no table at all
        content = blanked(content, start, end)
    for start, end in html_tables(content):
        pieces += _table(content[start:end], start, end, "")
        content = blanked(content, start, end)
    content = _take_formulas(content, pieces)
    if pipe_rows.has_rows(content):
        content = pipe_rows.as_html(content)
        for found in HTML_TABLE.finditer(content):
            pieces += _table(found[0].strip(), *found.span(), "md2html_table")
            content = blanked(content, *found.span())
    for found in CODE.finditer(content):
        pieces.append(PredictedPiece(TEXT, *found.span(), found[2].strip(), "code"))
        content = blanked(content, *found.span())
    for wrapper, inside in LATEX_WRAPPERS:
        content = wrapper.sub(inside, content)
    pieces += _paragraphs(content)
    kept = [p for p in pieces if not (p.kind == FORMULA and p.fine == INLINE and is_label(p.content))]
    return sorted(kept, key=lambda piece: piece.start)


def in_lines(piece: PredictedPiece) -> list[PredictedPiece]:
    """Returns a formula as its lines; other pieces, and formulas that stay whole, as they are."""
    lines = formula_lines(piece.content) if piece.kind == FORMULA else []
    if not lines:
        return [piece]
    return [
        replace(
            piece,
            start=piece.start + line.start,
            end=piece.start + line.start + line.length - 1,
            content=f"\\[{line.latex}\\]",
        )
        for line in lines
    ]


def _prepared(markdown: str) -> tuple[list[PredictedPiece], str]:
    """Returns captions that look like formulas, and the cleaned page with its pictures blanked."""
    found: list[PredictedPiece] = []
    content = markdown
    for start, end, words in pictures(markdown):
        found += _stand_in(words.strip(), start, end, "image_formula")
        content = blanked(content, start, end)
    content = without_fences(content, ("markdown", "html", "latex"))
    for tag in ("<html>", "</html>", "<body>", "</body>"):
        content = content.replace(tag, "")
    return found, _without_formulas_in_descriptions(content)


def _without_formulas_in_descriptions(content: str) -> str:
    """Makes inline formulas text in paragraphs that describe a picture."""
    blocks = re.split(r"(\n\s*\n)", content)
    for number in range(0, len(blocks), 2):
        words = one_line(blocks[number]).lower()
        if len(words) >= 24 and words.startswith(_DESCRIBES):
            block = re.sub(r"\\\((.*?)\\\)", r"\1", blocks[number], flags=re.DOTALL)
            blocks[number] = re.sub(r"\$(.*?)\$", r"\1", block, flags=re.DOTALL)
    return "".join(blocks)


def _table(html: str, start: int, end: int, fine: str) -> Iterator[PredictedPiece]:
    """Yields a table, then those of its cells that may be formulas, one after the other."""
    yield PredictedPiece(TABLE, start, end, html, fine)
    at = max(start, 0)
    for cell in parse_html(html).find_all(["td", "th"]):
        words = one_line(" ".join(texts(cell)))
        if words and is_formula_cell(words) and (formula := as_formula(words)):
            yield PredictedPiece(FORMULA, at, at + len(words), formula, "table_formula_rescue")
            at += len(words) + 1


def _stand_in(text: str, start: int, end: int, fine: str) -> list[PredictedPiece]:
    formula = as_formula(text) if looks_like_formula(text) else ""
    if not formula:
        return []
    is_reaction = "\\xrightarrow" in formula or "\\longrightarrow" in formula
    return [PredictedPiece(FORMULA if is_reaction else RESCUE, start, end, formula, fine)]


def _take_formulas(content: str, pieces: list[PredictedPiece]) -> str:
    """Adds the page's formulas to `pieces`; returns the page with the display ones blanked."""
    for found in MATH.finditer(content):
        line = " ".join(found[0].strip().split("\n"))
        dollars = DOLLARS.search(line)
        inline = dollars is not None and not dollars[1]
        if dollars is not None:
            line = DOLLARS.sub(r"\\[\2\3\\]" if inline else r"\\[\1\\]", line)
        pieces += _formula(line, *found.span(), INLINE if inline else "")
        if not inline:
            content = blanked(content, *found.span())
    return content


def _formula(line: str, start: int, end: int, fine: str) -> list[PredictedPiece]:
    """Returns a formula without its number and words, or its small equations; then the number and words."""
    line, beside = _without_margins(line, start, end)
    left, right, inside = _envelope(one_line(line))
    parts = [part for part in re.split(r"\s*(?:\\qquad|\\quad)\s*", inside) if part]
    if len(parts) <= 1 or not all(is_arithmetic(part) for part in parts):
        return [PredictedPiece(FORMULA, start, end, line, fine), *beside]
    width = max(max(end - start, len(parts)) // len(parts), 1)
    several = [
        PredictedPiece(
            FORMULA,
            start + number * width,
            end if number == len(parts) - 1 else min(end, start + (number + 1) * width),
            _enveloped(part.strip(), left, right),
            fine,
        )
        for number, part in enumerate(parts)
    ]
    return [*several, *beside]


def _without_margins(line: str, start: int, end: int) -> tuple[str, list[PredictedPiece]]:
    """Returns a formula without a number in front and words behind, and these as text."""
    left, right, inside = _envelope(one_line(line))
    number = _LEADING_NUMBER.match(inside)
    if not inside or (number is None and _words_behind(inside) is None):
        return line, []
    beside: list[PredictedPiece] = []
    if number is not None:
        words = number["number"].strip()
        beside += _margin(words, start, min(end, start + max(len(words), 1)))
        inside = inside[number.end() :].strip()
    while (found := _words_behind(inside)) is not None:
        words = found["words"].strip()
        beside += _margin(words, max(start, end - max(len(words), 1)), end)
        inside = inside[: found.start("space")].rstrip()
    inside = _TRAILING_SPACE.sub("", inside).strip()
    return (_enveloped(inside, left, right), beside) if inside else (one_line(line), [])


def _words_behind(inside: str) -> re.Match[str] | None:
    """Finds words in a group or in parentheses at a formula's end. Starts after the last closed parenthesis,
    which the words cannot span: from further back it would be slow on many open ones."""
    end = inside.rstrip().removesuffix(".")
    if len(inside) > MAX_FORMULA or not end.endswith((")", "}")):
        return None
    start = inside.rfind(")", 0, len(end) - 1) + 1 if end.endswith(")") else 0
    found = (pattern.search(inside, start) for pattern in _TRAILING_WORDS)
    return next((match for match in found if match and is_caption(match["words"].strip())), None)


def _margin(latex: str, start: int, end: int) -> list[PredictedPiece]:
    words = text_line(latex)
    return [PredictedPiece(TEXT, start, end, words, "equation_caption")] if words else []


def _envelope(text: str) -> tuple[str, str, str]:
    for left, right in _ENVELOPES:
        if text.startswith(left) and text.endswith(right) and len(text) >= len(left) + len(right):
            return left, right, text[len(left) : len(text) - len(right)].strip()
    return "", "", text


def _enveloped(inside: str, left: str, right: str) -> str:
    return f"{left} {inside} {right}" if left else inside


def _paragraphs(content: str) -> Iterator[PredictedPiece]:
    """Yields text between empty lines, or single lines without any; positions do not count separators."""
    parts = content.split("\n\n")
    if len(parts) == 1:
        parts = content.split("\n")
    at = 0
    for part in parts:
        start, end = at, at + len(part)
        at = end
        text = _without_tags("\n".join(line.strip() for line in part.strip().split("\n") if line.strip()))
        if text:
            yield PredictedPiece(TEXT, start, end, text, "text_block")
            yield from _stand_in(text, start, end, "text_formula")


def _without_tags(text: str) -> str:
    """Returns a paragraph written as `<div>` or `<dir>` as its lines; other text as it is."""
    if "<table" in text.lower() or not re.match(r"<(div|dir)\b", text, re.IGNORECASE):
        return text
    lines = [
        line.strip()
        for line in "".join(texts(parse_html(text), _UNREAD_TAGS, _BLOCK_TAGS))
        .replace("\xa0", " ")
        .split("\n")
    ]
    return "\n".join(line for line in lines if line) or text

"""Brings text, formulas and tables to the form in which the benchmark compares them.

Text loses all spaces and punctuation (so Korean spacing errors are invisible: see
`metrics.text.korean_error_rates`), formulas lose fonts and spacing, tables lose everything but rows,
cells, spans and words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from html import unescape

from pylatexenc.latex2text import LatexNodes2Text  # type: ignore[import-untyped]
from pylatexenc.latexwalker import (  # type: ignore[import-untyped]
    LatexWalker,
    LatexWalkerError,
    get_default_latex_context_db,
)

from penstock_eval.html_tree import only_text, parse_html

_INLINE_MATH = re.compile(r"\$(.*?)\$|\\\((.*?)\\\)")
_ESCAPED = re.compile(r"\\([\\_&%^])")
_NOT_WORD = re.compile(r"[^\w\u4e00-\u9fff]")
_LITERAL_BREAKS = ("\\t", "\\n", "\t", "\n", "/t", "/n")

# What formulas lose, in the order in which it is taken out: "\\text" goes before "\\textbf" could be
# seen again, so the order is part of the rule.
FONTS = [
    "\\mathbf",
    "\\mathrm",
    "\\mathnormal",
    "\\mathit",
    "\\mathbb",
    "\\mathcal",
    "\\mathscr",
    "\\mathfrak",
    "\\mathsf",
    "\\mathtt",
    "\\textbf",
    "\\text",
    "\\boldmath",
    "\\boldsymbol",
    "\\operatorname",
    "\\bm",
    "\\symbfit",
    "\\mathbfcal",
    "\\symbf",
    "\\scriptscriptstyle",
    "\\notag",
    "\\setlength",
    "\\coloneqq",
    "\\space",
    "\\thickspace",
    "\\thinspace",
    "\\medspace",
    "\\nobreakspace",
    "\\negmedspace",
    "\\quad",
    "\\qquad",
    "\\enspace",
    "\\substackw",
]
JOINT_DROPS = ("$$", "\\left", "\\right", "\\displaystyle", "\\text")
_FORMULA_PARTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\\tag\{.*?\}",
        r"\\hspace\{.*?\}",
        r"\\begin\{.*?\}",
        r"\\end\{.*?\}",
        r"\\arraycolsep.*?\}",
    )
)
_BRACKETED = re.compile(r"\\\[(.+?)(?<!\\)\\\]")

_TABLE_BODY = re.compile(r"<table\b[^>]*>(.*)</table>", re.DOTALL | re.IGNORECASE)
_DROPPED_ATTRIBUTES = ("style", "height", "width", "align", "class")
_CELL_TAGS = re.compile(r"</?(?:sup|sub|span|div|p)>")
_COLUMN_GROUP = re.compile(r"<colgroup>.*?</colgroup>")


@lru_cache(maxsize=4096)
def text_form(text: str) -> str:
    """Returns only letters, digits and ideographs; writes inline formulas as Unicode."""
    return words_only(_math_as_unicode(text))


def words_only(text: str) -> str:
    for literal in _LITERAL_BREAKS:
        text = text.replace(literal, "")
    return _NOT_WORD.sub("", text)


def latex_as_text(latex: str) -> str:
    """Returns LaTeX as Unicode text; LaTeX that does not parse stays as it is."""
    try:
        return _unicode(latex)
    except (LatexWalkerError, ValueError, IndexError, RecursionError):
        return latex


@lru_cache(maxsize=4096)
def formula_form(latex: str, joint: bool) -> str:
    """Returns a formula without delimiters, fonts, spacing, environments and case."""
    if joint:
        latex = latex.strip().strip("$").strip("\n")
    bracketed = _BRACKETED.search(latex)
    if bracketed:
        latex = bracketed[1].strip()
    for part in _FORMULA_PARTS:
        latex = part.sub("", latex)
    latex = latex.strip(".")
    for drop in (*FONTS, " ", *(JOINT_DROPS if joint else ())):
        latex = latex.replace(drop, "")
    return latex.lower()


def table_form(html: str) -> str:
    """Returns a table as one document with bare rows and cells; "" if there is no table."""
    if "<table" not in html.replace(" ", "").replace("'", '"'):
        return ""
    return bare_rows(plain_tags(html))


def bare_rows(html: str) -> str:
    """Returns the rows of clean HTML as one document, without layout attributes and inline tags."""
    written = unescape(html).replace("\n", "")
    written = unicodedata.normalize("NFKC", written).strip()
    body = "".join(_TABLE_BODY.findall(written))
    for attribute in _DROPPED_ATTRIBUTES:
        body = re.sub(f'( {attribute}=".*?")', "", body)
    body = re.sub(r"</?tbody>", "", body)
    body = re.sub(r"\s+", " ", body)
    body = body.replace('<spandata-span-identity="">', "")
    body = _COLUMN_GROUP.sub("", _CELL_TAGS.sub("", body))
    return f'<html><body><table border="1" >{body}</table></body></html>'


def cell_texts(html: str) -> list[str]:
    """Returns the text of every cell that holds exactly one text."""
    texts = (only_text(cell) for cell in parse_html(html).find_all("td"))
    return [re.sub(r"\$\\cdot\$", "", text).strip() for text in texts if text]


def plain_tags(html: str, *, sections: bool = False) -> str:
    """Writes th as td and MathML as LaTeX; unwraps thead and span, with `sections` also tbody."""
    unwrapped = ("thead", "span", "tbody") if sections else ("thead", "span")
    root = parse_html(html)
    for formula in root.find_all("math"):
        formula.string = f"${formula.get('alttext', '')}$"
    for heading in root.find_all("th"):
        heading.name = "td"
    for element in root.find_all(["math", *unwrapped]):
        element.hidden = True  # written without its own tags; to unwrap many would take quadratic time
    return str(root)


@cache
def _converter() -> tuple[LatexNodes2Text, object]:
    """Built once: the tables of known commands take longer to build than most formulas to read."""
    return LatexNodes2Text(), get_default_latex_context_db()


def _unicode(latex: str) -> str:
    converter, known = _converter()
    nodes, _, _ = LatexWalker(latex, latex_context=known).get_latex_nodes()
    return str(converter.nodelist_to_text(nodes))


def _math_as_unicode(text: str) -> str:
    """Writes inline formulas that hold LaTeX (a backslash, ^ or _) as Unicode; others keep their dollars."""
    parts: list[str] = []
    at = 0
    for found in _INLINE_MATH.finditer(text):
        inside = found[1] if found[1] is not None else found[2]
        readable = _ESCAPED.sub("", inside)
        if not any(sign in readable for sign in "\\^_"):
            continue
        if readable.endswith("\\"):
            readable += " "
        try:
            unicode_form = _unicode(readable).strip()
        except (LatexWalkerError, ValueError, IndexError, RecursionError):
            continue
        parts += [text[at : found.start()], unicode_form]
        at = found.end()
    return "".join([*parts, text[at:]])

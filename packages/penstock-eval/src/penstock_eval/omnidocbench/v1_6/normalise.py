"""Brings text, formulas and tables to the form in which v1.6 compares them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from bs4.dammit import EntitySubstitution
from bs4.formatter import HTMLFormatter

from penstock_eval.html_tree import parse_html
from penstock_eval.omnidocbench.normalise import FONTS, JOINT_DROPS, bare_rows, plain_tags, words_only
from penstock_eval.omnidocbench.v1_6.latex import (
    latex_to_text,
    without_circles,
    without_command,
    without_delimiters,
    without_numbers,
)

_INLINE = re.compile(r"\$(.*?)\$|\\\((.*?)\\\)")
_ESCAPED = re.compile(r"\\([\\_&%^])")
MAX_INLINE = 128  # longer inline formulas stay LaTeX
_TOO_COMPLEX = (
    "\\begin{", "\\end{", "\\array", "\\matrix", "\\tabular", "\\cases", "\\align", "\\\\", "&",
)  # fmt: skip

_BRACKETED = re.compile(r"\\\[(.+?)(?<!\\)\\\]|\\\((.+?)(?<!\\)\\\)")
# removed from formulas, in this order
_FORMULA_PARTS = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"\\[!,;:]", ""),
        (r"(?<!\\)&", ""),
        (r"\\mid", "|"),
        (r"\\vert", "|"),
        (r"\\\{", ""),
        (r"\\\}", ""),
        (r"~", ""),
        (r"\\hspace\{.*?\}", ""),
        (r"\\begin\{.*?\}", ""),
        (r"\\end\{.*?\}", ""),
        (r"\\arraycolsep.*?\}", ""),
        (r"\{[lcr| ]+\}", ""),
    )
)
_SIMPLE_GROUP = re.compile(r"\{([A-Za-z0-9.+\-]+)\}")
_FLAT_GROUP = re.compile(r"\{([^{}]{1,160})\}")
_OPENS, _CLOSES = re.compile(r"\{\{+"), re.compile(r"}}+")
_WORKING_SIGNS = ("=", "+", "-", "\\\\", "^", "_", "[", "]", "(", ")")

_SYMBOLS = (
    ("\\checkmark", "√"), ("\\checked", "√"), ("\\surd", "√"), ("\\times", "×"), ("\\xmark", "×"),
    ("\\crossmark", "×"), ("\\pm", "±"), ("\\mp", "∓"), ("\\alpha", "α"), ("\\beta", "β"),
    ("\\gamma", "γ"), ("\\gama", "γ"), ("\\mu", "μ"), ("\\lambda", "λ"), ("\\theta", "θ"),
    ("\\eta", "η"), ("\\pi", "π"), ("\\rho", "ρ"), ("\\sigma", "σ"), ("\\omega", "ω"),
    ("\\delta", "δ"), ("\\Delta", "Δ"), ("\\epsilon", "ε"), ("\\varepsilon", "ε"), ("\\phi", "φ"),
    ("\\varphi", "φ"), ("\\tau", "τ"), ("\\partial", "∂"), ("\\varnothing", "∅"), ("\\emptyset", "∅"),
    ("\\sim", "～"), *((tick, "√") for tick in "✓✔☑✅🗸"), *((cross, "×") for cross in "✗✘✕✖☒❌╳⨯"),
    ("Ø", "∅"), ("∼", "～"), ("〜", "～"), ("\\%", "%"), ("\\#", "#"), ("\\&", "&"), ("\\_", "_"),
)  # fmt: skip
_DASHES = frozenset("-–−－—")
_CELL_MATH = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))


@lru_cache(maxsize=8192)
def text_form(text: str) -> str:
    """Returns only letters, digits and ideographs; writes inline formulas as text."""
    return words_only(without_circles(readable(text)))


def readable(text: str) -> str:
    """Writes inline formulas as text if that is safe; removes circles around characters."""
    text = without_circles(text)
    parts: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        latex = _ESCAPED.sub("", found[1] if found[1] is not None else found[2])
        if not any(sign in latex for sign in "\\^_"):
            continue
        latex = latex + " " if latex.endswith("\\") else latex
        if _stays_latex(latex):
            continue
        parts += [text[at : found.start()], latex_to_text(latex).strip()]
        at = found.end()
    return "".join([*parts, text[at:]])


def _stays_latex(latex: str) -> bool:
    latex = latex.strip()
    too_complex = len(latex) > MAX_INLINE or any(token in latex for token in _TOO_COMPLEX)
    return bool(latex) and (too_complex or latex.count("{") != latex.count("}"))


def with_formula_forms(text: str) -> str:
    """Returns text with its inline formulas in their compared form."""
    return _INLINE.sub(lambda found: formula_form(found[1] if found[1] is not None else found[2]), text)


def as_text(category: str, text: str) -> str:
    """Returns either side of a pair of text and formula as text."""
    return readable(
        without_delimiters(text) if category in ("equation_isolated", "equation_inline") else text
    )


@lru_cache(maxsize=8192)
def formula_form(latex: str) -> str:
    """Removes delimiters, numbers, fonts, spacing, environments, needless groups and case from a formula."""
    latex = without_numbers(without_delimiters(without_circles(latex)))
    bracketed = _BRACKETED.search(latex)
    if bracketed:
        latex = (bracketed[1] or bracketed[2] or "").strip()
    latex = without_command(latex, "\\phantom")
    for part, by in _FORMULA_PARTS:
        latex = part.sub(by, latex)
    latex = latex.strip(".")
    for drop in (*FONTS, " ", *JOINT_DROPS):
        latex = latex.replace(drop, "")
    return re.sub(r"\s+", "", _without_groups(latex).lower())


def _without_groups(latex: str) -> str:
    before = ""
    while before != latex:
        before = latex
        latex = _SIMPLE_GROUP.sub(r"\1", latex).replace("{}", "")
        latex = _CLOSES.sub("}", _OPENS.sub("{", latex))
        latex = _FLAT_GROUP.sub(_opened, latex)
    return latex


def _opened(group: re.Match[str]) -> str:
    return group[1] if any(sign in group[1] for sign in _WORKING_SIGNS) else group[0]


@lru_cache(maxsize=1024)
def table_form(html: str) -> str:
    """Returns a table as one document with bare rows and normalised cell texts; "" if there is no table."""
    if "<table" not in html.replace(" ", "").replace("'", '"'):
        return ""
    root = parse_html(plain_tags(html, sections=True))
    cleaned: dict[int, str] = {}
    for cell in root.find_all("td"):
        for text in cell.find_all(string=True):
            cleaned[id(text)] = cell_text(cleaned.get(id(text), text))
    # texts change as they are written: to replace many in the tree takes quadratic time
    return bare_rows(root.decode(formatter=_writer(cleaned)))


def _writer(cleaned: Mapping[int, str]) -> HTMLFormatter:
    """Returns what writes the cleaned form in place of each text of the tree, by the text's id."""

    def written(text: str) -> str:
        return EntitySubstitution.substitute_xml(cleaned.get(id(text), text))

    return HTMLFormatter(entity_substitution=written, cdata_containing_tags=set())


def cell_text(text: str) -> str:
    """Returns text with one spelling for ticks, crosses, dashes, Greek letters and spaces."""
    text = unicodedata.normalize("NFKC", text).replace("\xa0", " ").replace("\u200b", "")
    text = _spelled(_without_cell_math(_spelled(text)))
    text = "—" if text.strip() in _DASHES else text
    return re.sub(r"\s+", " ", text).strip()


def _spelled(text: str) -> str:
    for written, spelled in _SYMBOLS:
        text = text.replace(written, spelled)
    return text


def _without_cell_math(text: str) -> str:
    text = text.strip()
    while True:
        inside = _cell_math(text)
        if inside is None:
            return text
        text = inside


def _cell_math(text: str) -> str | None:
    for left, right in _CELL_MATH:
        if text.startswith(left) and text.endswith(right) and len(text) >= len(left) + len(right):
            inside = text[len(left) : len(text) - len(right)].strip()
            if inside and len(inside) <= MAX_INLINE and not any(sign in inside for sign in "<>$"):
                return inside
    return None

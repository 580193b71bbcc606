r"""Compares LaTeX formulas by their tokens, with the ways to write one sign made the same. Needs no TeX."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein
from scipy.optimize import linear_sum_assignment

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[^\s]")
_SILENT = re.compile(
    r"\\(?:left|right|[Bb]igg?[lrm]?|displaystyle|textstyle|limits|nolimits|quad|qquad|[,;:! ])(?![a-zA-Z])"
)
_WRAPPED = re.compile(r"\\(?:mathrm|mathit|mathbf|mathsf|text|textrm|operatorname|mbox)\s*\{([^{}]*)\}")
_MATRIX = re.compile(
    r"\(\s*\\begin\{(?:matrix|array)\}(?:\{[lcr]+\})?(.*?)\\end\{(?:matrix|array)\}\s*\)", re.DOTALL
)
_BARE_ROOT = re.compile(r"\\sqrt\s*\[\s*(?:2|\{\s*\})?\s*\]")
_SAME = {
    "\\leq": "\\le", "\\geq": "\\ge", "\\neq": "\\ne", "\\rightarrow": "\\to", "\\dfrac": "\\frac",
    "\\tfrac": "\\frac", "\\lbrack": "[", "\\rbrack": "]", "\\ast": "*", "\\lparen": "(", "\\rparen": ")",
    "≤": "\\le", "≥": "\\ge", "≠": "\\ne", "×": "\\times", "±": "\\pm", "→": "\\to", "∞": "\\infty",
    "∑": "\\sum", "∏": "\\prod", "∫": "\\int", "−": "-", "α": "\\alpha", "β": "\\beta", "θ": "\\theta",
    "λ": "\\lambda", "π": "\\pi", "σ": "\\sigma", "ω": "\\omega",
}  # fmt: skip


def formulas_similarity(truth: Sequence[str], predicted: Sequence[str]) -> float | None:
    """Returns the similarity of the best pairs over the larger number of formulas; None without a truth."""
    if not truth:
        return None
    if not predicted:
        return 0.0
    wanted, given = [formula_tokens(each) for each in truth], [formula_tokens(each) for each in predicted]
    alike = np.array([[Levenshtein.normalized_similarity(left, right) for right in given] for left in wanted])
    rows, columns = linear_sum_assignment(-alike)
    return float(alike[rows, columns].sum()) / max(len(truth), len(predicted))


def formula_tokens(latex: str) -> list[str]:
    """Returns the tokens without braces and spaces: what is left is signs, in their order."""
    text = _MATRIX.sub(r"\\begin{pmatrix}\1\\end{pmatrix}", _SILENT.sub(" ", latex))
    text = _WRAPPED.sub(r"\1", _BARE_ROOT.sub(r"\\sqrt", text))
    found = [_SAME.get(token, token) for token in _TOKEN.findall(text)]
    return [token for token in _lower_first(found) if token not in ("{", "}", "&")]


def _lower_first(tokens: list[str]) -> list[str]:
    r"""Puts a lower limit before an upper one: `\sum^{n}_{i}` is `\sum_{i}^{n}`."""
    at = 0
    while at < len(tokens):
        if tokens[at] == "^":
            upper = _group_end(tokens, at + 1)
            if upper < len(tokens) and tokens[upper] == "_":
                lower = _group_end(tokens, upper + 1)
                tokens = tokens[:at] + tokens[upper:lower] + tokens[at:upper] + tokens[lower:]
                at = lower
                continue
        at += 1
    return tokens


def _group_end(tokens: list[str], start: int) -> int:
    """Returns where a group, or one token, ends."""
    depth = 0
    for at in range(start, len(tokens)):
        depth += (tokens[at] == "{") - (tokens[at] == "}")
        if depth <= 0:
            return at + 1
    return len(tokens)

"""What a page shows of a text that holds formulas: their letters and signs, and none of LaTeX's words."""

from __future__ import annotations

import re

from penstock.engines.office.latex_signs import FUNCTIONS, SIGNS

_INLINE = re.compile(r"\$[^$\n]+\$")
_BOUNDS = r"(?:_(?:\{[^{}]*\}|\w))?(?:\^(?:\{[^{}]*\}|\w))?"
# the bounds of a sum stand above and below its line, before or after it
_SHOWN_APART = re.compile(
    rf"(\\(?:sum|prod|coprod|o?i*int|big\w+|lim(?:sup|inf)?|max|min)(?![A-Za-z])){_BOUNDS}"
)
_COMMAND = re.compile(r"\\(?:(?:begin|end)\{\w+\*?\}|([A-Za-z]+)|(.))|[{}^_&$]")
_SIGNS = {name: sign for sign, name in SIGNS.items()}


def printed_words(text: str, is_formula: bool = False) -> str:
    """Returns a text with blanks for what is not printed. Each letter keeps its place."""
    if is_formula:
        return _printed(text)
    return _INLINE.sub(lambda found: _printed(found[0]), text) if "$" in text else text


def _printed(latex: str) -> str:
    latex = _SHOWN_APART.sub(lambda found: found[1].ljust(len(found[0])), latex)
    return _COMMAND.sub(lambda found: _sign(found).ljust(len(found[0])), latex)


def _sign(found: re.Match[str]) -> str:
    if found[1] in FUNCTIONS:
        return f" {found[1]}"
    return _SIGNS.get(found[1] or "", "") or ((found[2] or "") if (found[2] or "") in "{}%#&$_" else "")

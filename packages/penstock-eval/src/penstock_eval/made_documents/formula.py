r"""Formulas as trees, written as LaTeX, MathML, OMML and the equation script of HWP.

`Formula("frac", (a, b))`; a leaf's `sign` is a letter, a number, or a key of `SIGNS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

# name: LaTeX, the sign, the word of HWP's equation script
SIGNS = {
    "alpha": ("\\alpha", "α", "alpha"),
    "beta": ("\\beta", "β", "beta"),
    "theta": ("\\theta", "θ", "theta"),
    "lambda": ("\\lambda", "λ", "lambda"),
    "pi": ("\\pi", "π", "pi"),
    "sigma": ("\\sigma", "σ", "sigma"),
    "omega": ("\\omega", "ω", "omega"),
    "le": ("\\le", "≤", "leq"),
    "ge": ("\\ge", "≥", "geq"),
    "ne": ("\\ne", "≠", "neq"),
    "times": ("\\times", "×", "times"),
    "pm": ("\\pm", "±", "+-"),
    "infty": ("\\infty", "∞", "inf"),
    "to": ("\\to", "→", "rarrow"),
    "in": ("\\in", "∈", "in"),
}
BIG = {"sum": ("\\sum", "∑", "sum"), "prod": ("\\prod", "∏", "prod"), "int": ("\\int", "∫", "int")}
MATHML = "http://www.w3.org/1998/Math/MathML"
OMML = "http://schemas.openxmlformats.org/officeDocument/2006/math"


@dataclass(frozen=True, slots=True)
class Formula:
    """`kind` is sign, row, frac, sup, sub, sqrt, root, fence, matrix, or one of `BIG` with its limits."""

    kind: str
    parts: tuple[Formula, ...] = ()
    sign: str = ""


def latex(formula: Formula) -> str:
    parts = [latex(part) for part in formula.parts]
    if formula.kind == "sign":
        return SIGNS[formula.sign][0] if formula.sign in SIGNS else formula.sign
    if formula.kind == "row":
        return " ".join(parts)
    if formula.kind in BIG:
        return f"{BIG[formula.kind][0]}_{{{parts[0]}}}^{{{parts[1]}}} {parts[2]}"
    if formula.kind == "matrix":
        return rf"\begin{{pmatrix}} {parts[0]} & {parts[1]} \\ {parts[2]} & {parts[3]} \end{{pmatrix}}"
    forms = {
        "frac": r"\frac{%s}{%s}", "sup": "%s^{%s}", "sub": "%s_{%s}", "sqrt": r"\sqrt{%s}",
        "root": r"\sqrt[%s]{%s}", "fence": r"\left( %s \right)",
    }  # fmt: skip
    return forms[formula.kind] % tuple(parts)


def hwp_script(formula: Formula) -> str:
    parts = [hwp_script(part) for part in formula.parts]
    if formula.kind == "sign":
        return SIGNS[formula.sign][2] if formula.sign in SIGNS else formula.sign
    if formula.kind == "row":
        return " ".join(parts)
    if formula.kind in BIG:
        return f"{BIG[formula.kind][2]} _{{{parts[0]}}} ^{{{parts[1]}}} {parts[2]}"
    if formula.kind == "matrix":
        return f"{{pmatrix{{{parts[0]}&{parts[1]}#{parts[2]}&{parts[3]}}}}}"
    forms = {
        "frac": "{%s} over {%s}", "sup": "%s ^{%s}", "sub": "%s _{%s}", "sqrt": "sqrt {%s}",
        "root": "root {%s} of {%s}", "fence": "left ( %s right )",
    }  # fmt: skip
    return forms[formula.kind] % tuple(parts)


def mathml(formula: Formula, *, is_display: bool = False, prefix: str = "") -> str:
    """Returns a `math` element. A `prefix` such as "math:" stands before every name."""
    shown = ' display="block"' if is_display else ""
    space = f"xmlns:{prefix[:-1]}" if prefix else "xmlns"
    inner = re.sub("<(/?)", rf"<\1{prefix}", _mathml(formula))
    return f'<{prefix}math {space}="{MATHML}"{shown}><{prefix}mrow>{inner}</{prefix}mrow></{prefix}math>'


def _mathml(formula: Formula) -> str:
    parts = [f"<mrow>{_mathml(part)}</mrow>" for part in formula.parts]
    if formula.kind == "sign":
        return _mathml_sign(formula.sign)
    if formula.kind == "row":
        return "".join(_mathml(part) for part in formula.parts)
    if formula.kind in BIG:
        return f"<munderover><mo>{BIG[formula.kind][1]}</mo>{parts[0]}{parts[1]}</munderover>{parts[2]}"
    if formula.kind == "matrix":
        cells = [f"<mtd>{part}</mtd>" for part in parts]
        rows = f"<mtr>{cells[0]}{cells[1]}</mtr><mtr>{cells[2]}{cells[3]}</mtr>"
        return f"<mrow><mo>(</mo><mtable>{rows}</mtable><mo>)</mo></mrow>"
    if formula.kind == "fence":
        return f"<mrow><mo>(</mo>{parts[0]}<mo>)</mo></mrow>"
    names = {"frac": "mfrac", "sup": "msup", "sub": "msub", "sqrt": "msqrt", "root": "mroot"}
    ordered = reversed(parts) if formula.kind == "root" else parts  # MathML names the base first
    return f"<{names[formula.kind]}>{''.join(ordered)}</{names[formula.kind]}>"


def _mathml_sign(sign: str) -> str:
    shown = SIGNS[sign][1] if sign in SIGNS else sign
    tag = "mn" if sign.isdigit() else "mi" if shown.isalpha() else "mo"
    return f"<{tag}>{escape(shown)}</{tag}>"


def omml(formula: Formula) -> str:
    """Returns an `m:oMath` element as Word writes it."""
    return f'<m:oMath xmlns:m="{OMML}">{_omml(formula)}</m:oMath>'


def _omml(formula: Formula) -> str:
    if formula.kind == "sign":
        shown = SIGNS[formula.sign][1] if formula.sign in SIGNS else formula.sign
        return f"<m:r><m:t>{escape(shown)}</m:t></m:r>"
    if formula.kind in BIG:
        return _omml_big(formula)
    parts = [_omml(part) for part in formula.parts]
    return _OMML[formula.kind](parts)


def _omml_big(formula: Formula) -> str:
    low, high, body = (_omml(part) for part in formula.parts)
    sign = (
        "" if formula.kind == "int" else f'<m:chr m:val="{BIG[formula.kind][1]}"/>'
    )  # an integral is the default
    limits = '<m:limLoc m:val="subSup"/>' if formula.kind == "int" else '<m:limLoc m:val="undOvr"/>'
    return (
        f"<m:nary><m:naryPr>{sign}{limits}</m:naryPr>"
        f"<m:sub>{low}</m:sub><m:sup>{high}</m:sup><m:e>{body}</m:e></m:nary>"
    )


def _omml_matrix(parts: list[str]) -> str:
    rows = "".join(
        f"<m:mr><m:e>{left}</m:e><m:e>{right}</m:e></m:mr>" for left, right in (parts[:2], parts[2:])
    )
    return f"<m:d><m:dPr/><m:e><m:m>{rows}</m:m></m:e></m:d>"


_OMML: dict[str, Callable[[list[str]], str]] = {
    "row": "".join,
    "frac": lambda p: f"<m:f><m:num>{p[0]}</m:num><m:den>{p[1]}</m:den></m:f>",
    "sup": lambda p: f"<m:sSup><m:e>{p[0]}</m:e><m:sup>{p[1]}</m:sup></m:sSup>",
    "sub": lambda p: f"<m:sSub><m:e>{p[0]}</m:e><m:sub>{p[1]}</m:sub></m:sSub>",
    "sqrt": lambda p: f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>{p[0]}</m:e></m:rad>',
    "root": lambda p: f"<m:rad><m:deg>{p[0]}</m:deg><m:e>{p[1]}</m:e></m:rad>",
    "fence": lambda p: f"<m:d><m:dPr/><m:e>{p[0]}</m:e></m:d>",
    "matrix": _omml_matrix,
}

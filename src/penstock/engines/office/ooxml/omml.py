"""Office's formulas (OMML) as LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

from penstock.engines.office.latex_signs import as_base, glued, letters_of, named_function
from penstock.engines.office.ooxml.settings import setting
from penstock.engines.office.package import child, children, local, text_in

ACCENTS = {
    "\u0302": "hat", "^": "hat", "\u0303": "tilde", "~": "tilde", "\u0304": "bar", "\u0305": "overline",
    "\u00af": "bar", "\u20d7": "vec", "\u2192": "vec", "\u0307": "dot", "\u0308": "ddot", "\u030c": "check",
    "\u0306": "breve", "\u0301": "acute", "\u0300": "grave",
}  # fmt: skip
BIG = {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge", "⨁": r"\bigoplus", "⨂":
    r"\bigotimes",
}  # fmt: skip
FENCES = {"{": r"\{", "}": r"\}", "⟨": r"\langle", "⟩": r"\rangle", "⌊": r"\lfloor", "⌋": r"\rfloor",
          "⌈": r"\lceil", "⌉": r"\rceil", "‖": r"\|", "∥": r"\|", "|": "|", "": "."}  # fmt: skip
SETTINGS = frozenset({"rPr", "ctrlPr", "fPr", "sSupPr", "sSubPr", "sSubSupPr", "radPr", "naryPr", "dPr",
"mPr",
                      "funcPr", "accPr", "barPr", "limLowPr", "limUppPr", "groupChrPr", "eqArrPr", "sPrePr",
                      "boxPr", "borderBoxPr", "phantPr", "argPr", "oMathParaPr"})  # fmt: skip


def latex_of_omml(element: Element) -> str:
    """Returns the LaTeX of a formula, or of any part of one."""
    write = _WRITERS.get(local(element))
    return write(element) if write is not None else _inside(element)


def _inside(element: Element | None) -> str:
    if element is None:
        return ""
    parts = (latex_of_omml(inner) for inner in element if local(inner) not in SETTINGS)
    return glued(part for part in parts if part)


def _run(element: Element) -> str:
    text = text_in(element, "t")
    if child(element, "rPr", "nor") is not None or child(element, "rPr", "lit") is not None:
        return rf"\text{{{text}}}" if text.strip() else text
    script = setting(element, "rPr", "scr")
    command = {"double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak"}.get(script)
    letters = letters_of(text)
    return rf"\{command}{{{letters}}}" if command else letters


def _group(element: Element | None) -> str:
    return "{" + _inside(element).strip() + "}"


def _fraction(element: Element) -> str:
    how = setting(element, "fPr", "type")
    over, under = child(element, "num"), child(element, "den")
    if how == "lin":
        return f"{_inside(over)}/{_inside(under)}"
    if how == "noBar":
        return rf"\genfrac{{}}{{}}{{0pt}}{{}}{_group(over)}{_group(under)}"
    return rf"\frac{_group(over)}{_group(under)}"


def _scripted(element: Element) -> str:
    below, above = child(element, "sub"), child(element, "sup")
    return (
        as_base(_inside(child(element, "e")))
        + ("_" + _group(below) if below is not None else "")
        + ("^" + _group(above) if above is not None else "")
    )


def _before(element: Element) -> str:
    below, above = child(element, "sub"), child(element, "sup")
    return "{}_" + _group(below) + "^" + _group(above) + _inside(child(element, "e"))


def _root(element: Element) -> str:
    degree = _inside(child(element, "deg")).strip()
    return (rf"\sqrt[{degree}]" if degree else r"\sqrt") + _group(child(element, "e"))


def _big(element: Element) -> str:
    command = BIG.get(setting(element, "naryPr", "chr", default="∫"), r"\int")
    below, above = _inside(child(element, "sub")).strip(), _inside(child(element, "sup")).strip()
    bounds = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return f"{command}{bounds} {_inside(child(element, 'e'))}"


def _fenced(element: Element) -> str:
    start, end, between = (
        setting(element, "dPr", name, default=default)
        for name, default in (("begChr", "("), ("endChr", ")"), ("sepChr", "|"))
    )
    parts = [_inside(inner) for inner in children(element, "e")]
    left, right = FENCES.get(start, start), FENCES.get(end, end)
    return rf"\left{left} {f' {between} '.join(parts)} \right{right}"


def _matrix(element: Element) -> str:
    rows = (" & ".join(_inside(cell) for cell in children(row, "e")) for row in children(element, "mr"))
    return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"


def _lines(element: Element) -> str:
    rows = [_inside(row) for row in children(element, "e")]
    if len(rows) == 1:
        return rows[0]
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _function(element: Element) -> str:
    name = child(element, "fName")
    words = _inside(name).strip()
    return f"{named_function(words)} {_inside(child(element, 'e')).strip()}"


def _accent(element: Element) -> str:
    sign = setting(element, "accPr", "chr", default="\u0302")
    return rf"\{ACCENTS.get(sign, 'hat')}{_group(child(element, 'e'))}"


def _bar(element: Element) -> str:
    where = setting(element, "barPr", "pos", default="bot")
    return rf"\{'overline' if where == 'top' else 'underline'}{_group(child(element, 'e'))}"


def _limit(element: Element) -> str:
    base, limit = _inside(child(element, "e")).strip(), _group(child(element, "lim"))
    below = local(element) == "limLow"
    named = named_function(base)
    if named.startswith("\\"):
        return f"{named}{'_' if below else '^'}{limit}"
    return rf"\{'underset' if below else 'overset'}{limit}{{{base}}}"


def _braced(element: Element) -> str:
    sign = setting(element, "groupChrPr", "chr", default="⏟")
    where = setting(element, "groupChrPr", "pos", default="bot")
    word = {"⏟": "underbrace", "⏞": "overbrace", "→": "overrightarrow", "←": "overleftarrow"}.get(sign)
    return rf"\{word or ('overline' if where == 'top' else 'underline')}{_group(child(element, 'e'))}"


def _boxed(element: Element) -> str:
    return rf"\boxed{_group(child(element, 'e'))}"


def _paragraph(element: Element) -> str:
    formulas = [_inside(inner).strip() for inner in children(element, "oMath")]
    return r" \\ ".join(part for part in formulas if part)


_WRITERS: dict[str, Callable[[Element], str]] = {
    "r": _run, "f": _fraction, "sSup": _scripted, "sSub": _scripted, "sSubSup": _scripted, "sPre": _before,
    "rad": _root, "nary": _big, "d": _fenced, "m": _matrix, "eqArr": _lines, "func": _function, "acc":
    _accent,
    "bar": _bar, "limLow": _limit, "limUpp": _limit, "groupChr": _braced, "borderBox": _boxed,
    "oMathPara": _paragraph,
}  # fmt: skip

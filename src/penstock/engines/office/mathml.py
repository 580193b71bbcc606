"""MathML as LaTeX, as it stands in HTML, EPUB and OpenDocument."""

from __future__ import annotations

from collections.abc import Callable

from penstock.engines.office.html_tree import HtmlNode
from penstock.engines.office.latex_signs import as_base, glued, letters_of, named_function
from penstock.engines.office.ooxml.omml import ACCENTS, BIG

SKIPPED = frozenset({"annotation", "annotation-xml", "maligngroup", "malignmark"})


def latex_of_mathml(node: HtmlNode) -> str:
    """Returns the LaTeX that an author left with a formula, or what its elements say."""
    for note in node.find("annotation"):
        if "tex" in note.get("encoding").lower():
            return note.text().strip()
    return _inside(node).strip()


def _latex(node: HtmlNode) -> str:
    if node.tag in SKIPPED:
        return ""
    write = _WRITERS.get(node.tag)
    return write(node) if write is not None else _inside(node)


def _inside(node: HtmlNode) -> str:
    return glued(map(_latex, node.elements()))


def _letters(node: HtmlNode) -> str:
    words = node.text().strip()
    return (
        named_function(words)
        if node.tag == "mi" and len(words) > 1 and words.isascii()
        else letters_of(words)
    )


def _operator(node: HtmlNode) -> str:
    sign = node.text().strip()
    return BIG.get(sign, letters_of(sign))


def _part(node: HtmlNode, place: int) -> str:
    elements = list(node.elements())
    return _latex(elements[place]) if place < len(elements) else ""


def _fraction(node: HtmlNode) -> str:
    return rf"\frac{{{_part(node, 0)}}}{{{_part(node, 1)}}}"


def _root(node: HtmlNode) -> str:
    return rf"\sqrt[{_part(node, 1)}]{{{_part(node, 0)}}}"


def _square_root(node: HtmlNode) -> str:
    return rf"\sqrt{{{_inside(node)}}}"


def _scripts(node: HtmlNode) -> str:
    below = f"_{{{_part(node, 1)}}}" if node.tag in ("msub", "msubsup", "munder", "munderover") else ""
    above_at = 2 if node.tag in ("msubsup", "munderover") else 1
    above = f"^{{{_part(node, above_at)}}}" if node.tag not in ("msub", "munder") else ""
    return as_base(_part(node, 0)) + below + above


def _over(node: HtmlNode) -> str:
    elements = list(node.elements())
    sign = elements[1].text().strip() if len(elements) > 1 else ""
    if sign in ACCENTS:
        return rf"\{ACCENTS[sign]}{{{_part(node, 0)}}}"
    return _scripts(node)


def _fenced(node: HtmlNode) -> str:
    start, end = node.get("open", "("), node.get("close", ")")
    inner = ", ".join(_latex(each) for each in node.elements())
    return rf"\left{start or '.'} {inner} \right{end or '.'}"


def _table(node: HtmlNode) -> str:
    rows = (" & ".join(_latex(cell) for cell in row.elements()) for row in node.elements())
    return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"


def _words(node: HtmlNode) -> str:
    text = node.text()
    return rf"\text{{{text}}}" if text.strip() else " "


_WRITERS: dict[str, Callable[[HtmlNode], str]] = {
    "mi": _letters, "mn": _letters, "mo": _operator, "mtext": _words, "ms": _words, "mfrac": _fraction,
    "msqrt": _square_root, "mroot": _root, "msub": _scripts, "msup": _scripts, "msubsup": _scripts,
    "munder": _scripts, "munderover": _scripts, "mover": _over, "mfenced": _fenced, "mtable": _table,
}  # fmt: skip

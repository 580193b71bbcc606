"""One region's answer made presentable by the GLM-OCR SDK's rules: cleaned, then dressed by its label.

Every function is linear in its text. The rules are those of SDK 0.1.5; where they surprise (a section
number "7.4.1" becomes "7. 4.1") they are followed all the same, for this is its format.
"""

from __future__ import annotations

import re

from penstock.documents.formats.glm_repetition import cut_repeats

_TAB = "\\t"  # the two characters, which the model writes at the ends of some answers
_COMMAND = re.compile(r"\\[A-Za-z]{2}")  # \theta, \text: the SDK takes their beginnings for tabs
# All patterns to be searched for begin with a literal, which is what makes a search fast.
_LEADERS = tuple(
    (mark * 4, re.compile(re.escape(mark * 3) + f"(?:{re.escape(mark)})+"), mark.replace("\\", r"\\") * 3)
    for mark in (".", "·", "_", "\\_")  # in this order: a run of the third may end one of the last
)
_HASHES = re.compile(r"^#+\s*")
_PARENTHESISED = re.compile(r"[(（](\d+|[A-Za-z])[)）](.*)")
_NUMBERED = re.compile(r"(\d+|[A-Za-z])([.)）])(.*)")
_SINGLE_NEWLINE = re.compile(r"\n(?<!\n\n)(?!\n)")
_OPENINGS, _CLOSINGS = ("$$", "\\[", "\\("), ("$$", "\\]", "\\)")
# A dollar, what may stand between two, and the second where there is one. Whatever opens in between would
# end at the same place, so that an open formula is swallowed and nothing is read twice.
_FORMULA = re.compile(r"\$(?<!\$\$)((?:[^$\\]++|\\.)*+)(\$(?!\$))?")


def formatted(content: str, label: str, native_label: str) -> str:
    """Returns the content as the result shows it. `label` is its group: text, table, formula or another."""
    text = content.strip() if _is_finished(content, label) else clean(content, latex=label == "formula")
    if native_label == "doc_title":
        text = "# " + _HASHES.sub("", text)
    elif native_label == "paragraph_title":
        text = "## " + _without_marks(text)
    if label == "formula":
        return _display_formula(text)
    return _text_block(text) if label == "text" else text


def clean(text: str, *, latex: bool = False) -> str:
    """Without tabs spelled out at its ends, long leaders, and repetition; inline formulas set apart."""
    text = _without_tabs(text, latex)
    for four, leader, three in _LEADERS:
        if four in text:
            text = leader.sub(three, text)
    return spaced_formulas(cut_repeats(text)).strip()


def spaced_formulas(text: str) -> str:
    """`a$ x $b` becomes `a $x$ b`. A formula runs from a lone dollar to the next that is not escaped."""
    return _FORMULA.sub(_set_apart, text)


def formula_number(text: str) -> str:
    """`(1)` and `（1）` as `1`; anything else as it is."""
    text = text.strip()
    for opening, closing in ("()", "（）"):
        if text.startswith(opening) and text.endswith(closing):
            return text[1:-1]
    return text


def _is_finished(content: str, label: str) -> bool:
    if label == "table":
        return content.startswith("<table") and content.endswith("</table>")
    return label == "formula" and content.startswith("$$") and content.endswith("$$")


def _without_tabs(text: str, latex: bool) -> str:
    start = 0
    while text.startswith(_TAB, start) and not (latex and _COMMAND.match(text, start)):
        start += len(_TAB)
    text = text[start:].lstrip()
    end = len(text) - text.endswith("\n")  # tabs count as the end's before one newline, not before more
    while text.endswith(_TAB, 0, end):
        end -= len(_TAB)
    return text[:end].rstrip()


def _set_apart(formula: re.Match[str]) -> str:
    inside = formula[1].strip()
    if not formula[2] or not inside:
        return formula[0]
    start, end = formula.span()
    before, after = formula.string[max(0, start - 1) : start], formula.string[end : end + 1]
    return " " * before.isalnum() + f"${inside}$" + " " * after.isalnum()


def _without_marks(title: str) -> str:
    if title.startswith(("- ", "* ")):
        title = title[2:].lstrip()
    return _HASHES.sub("", title).lstrip()


def _display_formula(text: str) -> str:
    if text.startswith(_OPENINGS):
        text = text[2:].strip()
    if text.endswith(_CLOSINGS):
        text = text[:-2].strip()
    return f"$$\n{text}\n$$"


def _text_block(text: str) -> str:
    if text.startswith("```") and not text.endswith("```"):
        text += "\n```"
    if text.startswith(("·", "•", "* ")):
        text = "- " + text[1:].lstrip()
    return _SINGLE_NEWLINE.sub("\n\n", _spaced_number(text))


def _spaced_number(text: str) -> str:
    """`(1)x` becomes `(1) x` and `1.x` becomes `1. x`, in blocks of one line."""
    if match := _PARENTHESISED.fullmatch(text):
        text = f"({match[1]}) {match[2].lstrip()}"
    if match := _NUMBERED.fullmatch(text):
        mark = ")" if match[2] == "）" else match[2]
        text = f"{match[1]}{mark} {match[3].lstrip()}"
    return text

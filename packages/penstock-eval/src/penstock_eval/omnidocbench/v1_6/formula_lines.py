"""Cuts formulas of several lines into lines, if each line is a formula of its own.

A matrix, a system under one brace or a case distinction is one formula; a derivation over several
lines is several. The official program decides by the environment, its column spec, braces around it,
and words or arrows in its lines; so does this.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from penstock_eval.omnidocbench.v1_6.latex import MAX_FORMULA, without_delimiters, without_numbers

_ALIGNED = ("aligned", "align", "align*", "alignedat", "alignedat*")
_NAMES = (
    "array", *_ALIGNED, "split", "gather", "gather*", "gathered", "multline", "multline*", "flalign",
    "flalign*", "eqnarray", "eqnarray*", "cases",
)  # fmt: skip
_BEGIN = re.compile(
    r"\\begin\{(?P<name>" + "|".join(map(re.escape, _NAMES)) + r")\}\s*(?P<extra>(?:\{[^{}]*\}\s*)*)",
    re.DOTALL,
)
_NESTED = re.compile(
    r"\\begin\{(?:array|aligned|align\*?|alignedat\*?|split|gathered?|multline\*?|flalign\*?|eqnarray\*?|cases)\}"
)
_OPENING_BRACE = re.compile(r"(?:\\left\s*\\\{|\\left\.)\s*")
_CLOSING_BRACE = re.compile(r"\s*\\right(?:\.|\\\})\s*$")
_LOGIC = re.compile(
    r"\\(?:Rightarrow|Leftrightarrow|Longrightarrow|Longleftrightarrow|longrightarrow|longleftrightarrow|"
    r"implies|therefore|because|uparrow|downarrow|Updownarrow|forall|exists)\b|单调|否定"
)
_CASE_LEAD = re.compile(
    r"\(?\d+\)?|\\(?:Rightarrow|Leftrightarrow|Longrightarrow|Longleftrightarrow|implies|therefore|"
    r"uparrow|downarrow|Updownarrow|leftarrow|rightarrow)"
)
_WORDS = re.compile(r"\\(?:text|mathrm|operatorname)\s*\{")
_SPACING = re.compile(r"(?:\\qquad|\\quad|\\,|\\;|\\!|\\>|\\:|~)+")
_LAST_SPACING = re.compile(r"(?:(?:\\qquad|\\quad|\\,|\\;|\\!|\\>|\\:|~)\s*)+$")
_LABEL = re.compile(r"\\label\s*\{[^{}]*\}")
_TAG = re.compile(r"\\tag\*?\s*\{[^{}]*\}")
_NUMBER = re.compile(r"[A-Za-z0-9.\-#]+|(?:\\[A-Za-z#]+)+")
MAX_DEPTH = 20  # nested environments that are looked into
CONTEXT = 200  # characters after a block that may show it to be part of an argument


@dataclass(frozen=True, slots=True)
class FormulaLine:
    """One line of a formula: where it starts in the formula, and its LaTeX."""

    start: int
    length: int
    latex: str


@dataclass(frozen=True, slots=True)
class _Environment:
    name: str
    spec: str
    body: str
    braced: bool
    trailing: str

    @property
    def rows(self) -> list[str]:
        return split_rows(self.body)


def formula_lines(formula: str) -> list[FormulaLine]:
    """Returns the lines of a formula; none if it stays whole."""
    found = _cuttable(formula) if len(formula) <= MAX_FORMULA else None
    if found is None:
        return []
    body, trailing = found
    raw = [row for row in split_rows(body) if without_numbers(row).strip()]
    if len(raw) <= 1:
        return []
    starts = max(0, formula.find(body))
    lines: list[FormulaLine] = []
    at = 0
    for row in raw:
        latex = without_numbers(row).strip()
        place = body.find(latex, at)
        place = at if place < 0 else place
        at = place + len(latex)
        lines.append(FormulaLine(starts + place, len(latex), latex))
    last, suffix = lines[-1], without_numbers(trailing).strip()
    if suffix:
        lines[-1] = FormulaLine(last.start, last.length, f"{last.latex} {suffix}".strip())
    return lines


def split_rows(body: str) -> list[str]:
    """Splits at every `\\\\` outside groups and environments; strips rows and drops empty ones."""
    rows = [row.strip() for row in _split(body, _row_break)]
    return [row for row in rows if row]


def split_cells(row: str) -> list[str]:
    return [cell.strip() for cell in _split(row, _cell_break, groups=False)]


def cases_as_braces(formula: str, depth: int = 0) -> str:
    """Rewrites case distinctions inside an argument as a brace over an array, as many models write them."""
    if depth > MAX_DEPTH or len(formula) > MAX_FORMULA:
        return formula
    parts: list[str] = []
    at = 0
    while (start := formula.find("\\begin{", at)) >= 0:
        parts.append(formula[at:start])
        begin = _BEGIN.match(formula, start)
        if begin is None:
            at = start + len("\\begin{")
            parts.append(formula[start:at])
            continue
        close = f"\\end{{{begin['name']}}}"
        end = _end_of(formula, begin["name"], begin.end())
        if end < 0:
            return "".join([*parts, formula[start:]])
        body = cases_as_braces(formula[begin.end() : end], depth + 1)
        at = end + len(close)
        if begin["name"] == "cases" and _is_argument(body, formula[at : at + CONTEXT]):
            parts.append("\\left\\{ \\begin{array}{l} " + body.strip() + " \\end{array} \\right.")
        else:
            parts.append(formula[start : begin.end()] + body + close)
    return "".join([*parts, formula[at:]])


def _cuttable(formula: str) -> tuple[str, str] | None:
    """Returns the text of the lines and what follows them; None if the formula is one line."""
    inside = without_delimiters(formula)
    block = _block(inside)
    if block is not None and not _stays_whole(block) and len(split_rows(block.trailing)) <= 1:
        return block.body, block.trailing
    return (inside, "") if "\\\\" in inside and len(split_rows(inside)) > 1 else None


def _block(inside: str) -> _Environment | None:
    """Returns the environment that the formula consists of."""
    opening = _OPENING_BRACE.match(inside)
    core = inside[opening.end() :] if opening else inside
    closing = _CLOSING_BRACE.search(core)
    core = core[: closing.start()].rstrip() if closing else core
    begin = _BEGIN.match(core)
    if begin is None:
        return None
    end = _end_of(core, begin["name"], begin.end())
    if end < begin.end():
        return None
    groups = re.findall(r"\{([^{}]*)\}", begin["extra"]) if begin["name"] == "array" else []
    trailing = core[end + len(f"\\end{{{begin['name']}}}") :]
    return _Environment(
        name=begin["name"],
        spec=_columns(groups[0]) if groups else "",
        body=core[begin.end() : end],
        braced=bool(opening or closing),
        trailing=_without_number(trailing).strip(),
    )


def _stays_whole(block: _Environment) -> bool:
    if block.name == "cases":
        return not _is_derivation(block.body, block.rows)
    nested = _NESTED.search(block.body) is not None
    lists_cases = any(_leads_case(row) for row in block.rows[1:])
    if block.name in _ALIGNED:
        return (nested and lists_cases) or (block.braced and _is_system(block, nested, lists_cases))
    if block.name == "array":
        if not _is_aligning(block.spec) or (nested and lists_cases):
            return True
        return block.braced and set(block.spec) <= {"l"} and len(block.rows) > 1
    return False


def _is_system(block: _Environment, nested: bool, lists_cases: bool) -> bool:
    """Lines under one brace: equations side by side, or cases with words."""
    own_sides = sum(
        len(cells := split_cells(row)) > 1 and bool(without_numbers(cells[0]).strip()) for row in block.rows
    )
    return nested or own_sides >= 2 or any(_has_words(row) for row in block.rows[1:]) or lists_cases


def _is_derivation(body: str, rows: list[str]) -> bool:
    """Whether a `cases` block is several statements in a row rather than a case distinction."""
    if len(rows) <= 1 or any(len(split_cells(row)) > 1 for row in rows) or not _LOGIC.search(body):
        return False
    if _NESTED.search(body) or any(_has_words(row) for row in rows[1:]):
        return True
    return any(_LOGIC.search(row) for row in rows)


def _is_argument(body: str, following: str) -> bool:
    rows = split_rows(body)
    if len(rows) <= 1 or any(len(split_cells(row)) > 1 for row in rows):
        return False
    following = following.lstrip()
    return bool(_LOGIC.search(body) or _LOGIC.search(following) or _BEGIN.match(following))


def _columns(spec: str) -> str:
    spec = re.sub(r"\s+|\|", "", spec)
    return re.sub(r"[@!]{[^}]*}", "", spec)


def _is_aligning(spec: str) -> bool:
    """One column, or two of which one is set flush: alignment, not a matrix."""
    if not spec or set(spec) - set("lcr"):
        return False
    return len(spec) == 1 or (len(spec) == 2 and spec != "cc")


def _leads_case(row: str) -> bool:
    return _CASE_LEAD.match(without_numbers(row.lstrip("& \t\n\r")).strip()) is not None


def _has_words(row: str) -> bool:
    return _WORDS.search(row) is not None


def _without_number(trailing: str) -> str:
    """Returns the text after an environment, without labels and equation numbers at its end."""
    text = _LABEL.sub("", trailing).rstrip()
    while text:
        tag = _TAG.search(text)
        if tag is not None and tag.end() == len(text):
            text = _LAST_SPACING.sub("", text[: tag.start()].rstrip()).rstrip()
            continue
        start = text.rfind({")": "(", "]": "["}.get(text[-1], "\0"))
        if start < 0 or not _is_number(text[start + 1 : -1].strip(), text[:start]):
            return text
        text = _LAST_SPACING.sub("", text[:start].rstrip()).rstrip()
    return text


def _is_number(inside: str, before: str) -> bool:
    if before and not (before[-1].isspace() or _SPACING.search(before[-10:])):
        return False
    return bool(inside) and not re.fullmatch(r"[a-z]{1,3}", inside) and bool(_NUMBER.fullmatch(inside))


def _end_of(text: str, name: str, at: int) -> int:
    """Returns where the environment's own `\\end` is, past nested ones of its name; -1 without one."""
    depth = 1
    for tag in re.compile(r"\\(begin|end)\{" + re.escape(name) + r"\}").finditer(text, at):
        depth += 1 if tag[1] == "begin" else -1
        if depth == 0:
            return tag.start()
    return -1


_ENVIRONMENT_TAG = re.compile(r"\\(begin|end)\{[^}]*\}")


def _split(text: str, breaks: Callable[[str, int], int], *, groups: bool = True) -> list[str]:
    """Cuts text where `breaks` returns the length of a break, outside environments and, if asked, groups."""
    parts: list[str] = []
    at = start = environments = braces = 0
    while at < len(text):
        tag = _ENVIRONMENT_TAG.match(text, at) if text[at] == "\\" else None
        if tag is not None:
            environments = max(0, environments + (1 if tag[1] == "begin" else -1))
            at = tag.end()
            continue
        length = breaks(text, at) if environments == 0 and braces == 0 else 0
        if length:
            parts.append(text[start:at])
            at = start = at + length
            continue
        if groups and text[at] in "{}" and not _is_escaped(text, at):
            braces = max(0, braces + (1 if text[at] == "{" else -1))
        at += 1
    return [*parts, text[start:]]


_ROW_BREAK = re.compile(r"\\\\\s*\*?(?:\[[^\]]*\])?")


def _row_break(text: str, at: int) -> int:
    found = _ROW_BREAK.match(text, at)
    return found.end() - at if found else 0


def _cell_break(text: str, at: int) -> int:
    return 1 if text[at] == "&" and not _is_escaped(text, at) else 0


def _is_escaped(text: str, at: int) -> bool:
    count = 0
    while at - count > 0 and text[at - count - 1] == "\\":
        count += 1
    return count % 2 == 1

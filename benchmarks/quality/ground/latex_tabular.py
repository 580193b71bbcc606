"""Turns a LaTeX tabular into HTML with the text that its page shows.

Cells may hold tabulars and boxes of several lines, which are one text; formulas are written as Unicode, their
raised and lowered signs on the line, as a text layer has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from penstock_eval.omnidocbench.normalise import latex_as_text

_COMMENT = re.compile(r"(?<!\\)%[^\n]*\n?")
_TABULAR = re.compile(r"\\begin\{(tabular[x*]?|array)\}")
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule)(?![A-Za-z])(?:\[[^\]]*\])?"
    r"|\\(?:hhline|specialrule|addlinespace|cline|cmidrule|Xhline|noalign"
    r"|arrayrulecolor|rowcolor|cellcolor|columncolor|color)(?![A-Za-z])(?:\[[^\]]*\]|\([^)]*\)|\{[^{}]*\})*"
)
_TOKEN = re.compile(r"\\(?:begin|end)\{[^}]*\}|\\tabularnewline|\\\\|\\.|[{}&]", re.DOTALL)
_NEW_ROW = ("\\\\", "\\tabularnewline")
_WHITE = re.compile(r"\*?\[[^\]&]*\]")  # how much white follows a row
_SPAN = re.compile(r"(?:\{\s*)?\\(multicolumn|multirow)(?![A-Za-z])")
_OPTION = re.compile(r"\s*(?:\[[^\]]*\])?\s*")
_SILENT = re.compile(r"~?\\(?:cite[a-z]*|label|ref|vspace\*?|hspace\*?|phantom)(?:\[[^\]]*\])*\{[^{}]*\}")
_MATH = re.compile(r"(?<!\\)\$(.*?)(?<!\\)\$|\\\((.*?)\\\)", re.DOTALL)
_OPTIONS = r"(?:\s*\[[^\]]*\])*"
_BOX = re.compile(
    rf"\\(?:(?:makecell|shortstack|thead|makebox){_OPTIONS}|(?:raisebox|rotatebox|parbox){_OPTIONS}\{{[^{{}}]*\}}{_OPTIONS})"
)


def tabular_html(latex: str) -> str:
    """Returns the rows of a tabular as a table, spans included."""
    rows: list[str] = []
    covered: dict[int, int] = {}  # column: rows below that a cell above reaches into
    for line in _parts(_RULE.sub("", _body(_COMMENT.sub("", latex))), _NEW_ROW):
        if line.strip():
            rows.append(_row(list(_parts(line, ("&",))), covered))
    return f"<table>{''.join(rows)}</table>"


def _body(latex: str) -> str:
    """Returns what stands between the arguments of the first tabular and its end."""
    begin = _TABULAR.search(latex)
    if begin is None:
        return latex
    at = begin.end()
    for _ in range(2 if begin[1] in ("tabular*", "tabularx") else 1):
        _, at = _group(latex, at)
    end = latex.rfind("\\end{" + begin[1])
    return latex[at : end if end > at else len(latex)]


def _group(latex: str, at: int) -> tuple[str, int]:
    """Returns what the next braces hold, or the next letter, and its end; skips an option before it."""
    if option := _OPTION.match(latex, at):
        at = option.end()
    if latex[at : at + 1] != "{":
        return latex[at : at + 1], at + 1
    depth = 0
    for token in _TOKEN.finditer(latex, at):
        depth += (token[0] == "{") - (token[0] == "}")
        if depth == 0:
            return latex[at + 1 : token.start()], token.end()
    return latex[at + 1 :], len(latex)


def _parts(latex: str, marks: tuple[str, ...]) -> Iterator[str]:
    """Yields what stands between marks that are in no braces and no environment."""
    depth = start = 0
    for token in _TOKEN.finditer(latex):
        depth += (token[0] == "{") + token[0].startswith("\\begin")
        depth -= (token[0] == "}") + token[0].startswith("\\end")
        if depth == 0 and token[0] in marks:
            yield latex[start : token.start()]
            white = _WHITE.match(latex, token.end()) if token[0] in _NEW_ROW else None
            start = white.end() if white else token.end()
    yield latex[start:]


def _row(cells: list[str], covered: dict[int, int]) -> str:
    written: list[str] = []
    column = 0
    for cell in cells:
        text, across, down = _spans(cell.strip())
        if covered.get(column, 0) and not text:
            covered[column] -= 1
        else:
            marks = (f' colspan="{across}"' if across > 1 else "") + (
                f' rowspan="{down}"' if down > 1 else ""
            )
            written.append(f"<td{marks}>{escape(shown(text), quote=False)}</td>")
            covered.update({c: down - 1 for c in range(column, column + across) if down > 1})
        column += across
    return f"<tr>{''.join(written)}</tr>"


def _spans(cell: str) -> tuple[str, int, int]:
    across = down = 1
    while found := _SPAN.match(cell):
        count, at = _group(cell, found.end())
        _, at = _group(cell, at)  # the alignment or the width
        cell = _group(cell, at)[0].strip()
        number = max(1, int(float(re.sub(r"[^\d.]", "", count) or 1)))
        across, down = (number, down) if found[1] == "multicolumn" else (across, number)
    return cell, across, down


def shown(latex: str) -> str:
    """Returns the text of a cell as the page shows it."""
    text = _BOX.sub("", _SILENT.sub("", latex)).replace("\\checkmark", "\N{CHECK MARK}")
    text = re.sub(r"\\(?:begin|end)\{[^}]*\}(?:\[[^\]]*\])?(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})?", " ", text)
    text = re.sub(r"\\\\(?:\[[^\]]*\])?", " ", text)
    text = _MATH.sub(lambda found: _formula(found[1] or found[2] or ""), text)
    return re.sub(r"\s+", " ", latex_as_text(text)).strip()


def _formula(latex: str) -> str:
    text = re.sub(
        r"[\^_]", "", latex_as_text(re.sub(r"\\(?:left|right|boldsymbol|bm)(?![A-Za-z])", "", latex))
    )
    return text.replace("-", "\N{MINUS SIGN}")

"""Cuts a LaTeX formula into the tokens that leave ink, and gives each a colour of its own.

Adds braces that LaTeX lets writers leave out and spells \\sin as letters and \\ldots as dots, so that two
ways to write one formula make the same tokens. Keeps what leaves no ink (spacing, alignment, fonts) but
does not colour it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.errors import BadInput

COLOUR_STEP = 15  # 18 levels a channel make 5,831 colours besides black
LEVELS = 18
MAX_DEPTH = 60  # braces in braces; a formula with more was made to break parsers

# Function names that are compared letter by letter; \lim, \sup and their like stay one token each.
_WORDS = frozenset(
    [
        "arccos",
        "arcsin",
        "arctan",
        "arg",
        "cos",
        "cosh",
        "cot",
        "coth",
        "csc",
        "deg",
        "dim",
        "exp",
        "hom",
        "ker",
        "lg",
        "ln",
        "log",
        "max",
        "min",
        "mod",
        "bmod",
        "pmod",
        "sec",
        "sin",
        "sinh",
        "tan",
        "tanh",
    ]
)
_TOKEN = re.compile(
    r"\\begin\s*\{[^{}]*\}|\\end\s*\{[^{}]*\}|\\(?:left|right|[Bb]igg?[lrm]?)(?![a-zA-Z])\s*(?:\\[a-zA-Z]+|\\.|[^\s\\])"
    r"|\\[hv]space\*?\s*\{[^{}]*\}|\\[a-zA-Z]+\*?|\\.|[^\s]",
    re.DOTALL,
)
_ALIGNED = re.compile(r"\\(begin|end)\s*\{(?:split|align|alignedat|alignat|eqnarray|gather|multline)\*?\}")
_NUMBERED = re.compile(r"\\(?:tag|label)\s*\*?\s*\{[^{}]*\}|\\(?:nonumber|notag)\b")
_NAMED = re.compile(r"\\operatorname\s*\*?\s*\{\s*(" + "|".join(sorted(_WORDS)) + r")\s*\}")
_TEXT = re.compile(r"\\(?:text|textrm|textnormal|mbox|hbox)\s*\{([^{}$]*)\}")
_COLOURED = re.compile(r"\\(?:text|math)?color\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}")
_DELIMITED = re.compile(r"^\s*(?:\$\$|\\\[|\\\(|\$)(.*?)(?:\$\$|\\\]|\\\)|\$)\s*$", re.DOTALL)

_DOTS = frozenset(
    ["ldots", "cdots", "dots", "dotsb", "dotsc", "dotsi", "dotsm", "dotso", "hdots", "mathellipsis"]
)
_SILENT = frozenset(
    [
        r"\\",
        r"&",
        r"$",
        r"~",
        r"^",
        r"_",
        r"{",
        r"}",
        r"\,",
        r"\!",
        r"\;",
        r"\:",
        r"\>",
        r"\quad",
        r"\qquad",
        r"\left",
        r"\right",
        r"\displaystyle",
        r"\textstyle",
        r"\scriptstyle",
        r"\scriptscriptstyle",
        r"\boldmath",
        r"\limits",
        r"\nolimits",
        r"\hline",
        r"\cr",
        r"\index",
        r"\ensuremath",
        r"\raggedright",
        r"\hfill",
        r"\strut",
    ]
) | {"\\ ", "\\"}
_HIDDEN = frozenset([r"\phantom", r"\vphantom", r"\hphantom", r"\ref", r"\fontfamily", r"\rowcolor"])
_TWO_INKED = frozenset([r"\frac", r"\binom", r"\dfrac", r"\tfrac", r"\cfrac", r"\dbinom", r"\tbinom"])
_TWO_SILENT = frozenset([r"\overset", r"\underset", r"\stackrel"])
_OPTIONAL = frozenset([r"\sqrt", r"\xrightarrow", r"\xleftarrow"])
_ONE_INKED = frozenset(
    [
        r"\widetilde",
        r"\overline",
        r"\hat",
        r"\widehat",
        r"\tilde",
        r"\dot",
        r"\bar",
        r"\vec",
        r"\underline",
        r"\underbrace",
        r"\overbrace",
        r"\check",
        r"\breve",
        r"\mathring",
        r"\ddot",
        r"\dddot",
        r"\ddddot",
        r"\overrightarrow",
        r"\overleftarrow",
        r"\acute",
        r"\grave",
    ]
)
_ONE_SILENT = frozenset(
    [
        r"\boldsymbol",
        r"\pmb",
        r"\bm",
        r"\textbf",
        r"\mathrm",
        r"\mathbf",
        r"\mathbb",
        r"\mathcal",
        r"\mathscr",
        r"\mathsf",
        r"\mathtt",
        r"\mathit",
        r"\mathnormal",
        r"\textmd",
        r"\texttt",
        r"\textnormal",
        r"\text",
        r"\textit",
        r"\textup",
        r"\mathop",
        r"\mathbin",
        r"\mathrel",
        r"\mathord",
        r"\smash",
        r"\operatorname",
        r"\textrm",
        r"\mathfrak",
        r"\emph",
        r"\textsf",
        r"\textsc",
        r"\mbox",
        r"\hbox",
    ]
)
_PLAIN_NAMES = {"\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac", "\\bm": "\\boldsymbol"}
_ARGUMENTS = {
    **dict.fromkeys(_ONE_INKED | _ONE_SILENT | _HIDDEN | {"^", "_"}, 1),
    **dict.fromkeys(_TWO_INKED | _TWO_SILENT, 2),
}


@dataclass(frozen=True, slots=True)
class ColouredFormula:
    """A formula whose inked tokens each have a colour; token i has `colour(i)`."""

    latex: str
    tokens: tuple[str, ...]


def colour(index: int) -> tuple[int, int, int]:
    """The colour of the i-th token: steps of 15 in blue, then green, then red, from (0, 0, 15)."""
    number = index + 1
    red, rest = divmod(number, LEVELS * LEVELS)
    green, blue = divmod(rest, LEVELS)
    return red * COLOUR_STEP, green * COLOUR_STEP, blue * COLOUR_STEP


def coloured_formula(latex: str) -> ColouredFormula:
    """Returns the formula with its tokens coloured. Raises BadInput on unbalanced or too deep braces."""
    tokens: list[str] = []
    found = list(_spelled(_tokens(latex)))
    depth = deepest = 0
    for token in found:
        depth += (token == "{") - (token == "}")
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise BadInput(f"The formula nests braces {deepest} deep; {MAX_DEPTH} are allowed.")
    parts = _coloured(_braced(found), tokens)
    return ColouredFormula(" ".join(parts), tuple(tokens))


def _tokens(latex: str) -> list[str]:
    inside = _DELIMITED.match(latex)
    if inside:
        latex = inside[1]
    latex = _COLOURED.sub("", _NUMBERED.sub("", latex.replace("\n", " ")))
    latex = _ALIGNED.sub(r"\\\1{aligned}", latex)
    latex = _NAMED.sub(r"\\\1 ", latex)
    latex = _TEXT.sub(lambda found: "\\mathrm{" + re.sub(r"\s+", "~", found[1]) + "}", latex)
    found = [re.sub(r"\s+", "", token) if len(token) > 2 else token for token in _TOKEN.findall(latex)]
    return _with_columns(found)


def _with_columns(tokens: list[str]) -> list[str]:
    """`\\begin{array}` and its columns as one token."""
    joined: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token in ("\\begin{array}", "\\begin{tabular}") and at < len(tokens) and tokens[at] == "{":
            end = _close(tokens, at)
            token += "".join(tokens[at : end + 1])
            at = end + 1
        joined.append(token)
    return joined


def _spelled(tokens: list[str]) -> Iterator[str]:
    """Function names letter by letter, dots one by one, one name for each command."""
    for token in tokens:
        name = token[1:].rstrip("*") if token.startswith("\\") else ""
        if name in _DOTS or token == "…":
            yield from "..."
        elif name in _WORDS:
            yield from ("\\mathrm", "{", *name.removeprefix("b").removeprefix("p"), "}")
        else:
            yield _PLAIN_NAMES.get(token, token.rstrip("*") if name == "operatorname" else token)


def _braced(tokens: list[str]) -> list[str]:
    """Returns the same tokens with braces around every argument."""
    tokens = [token for token in tokens if token]
    done: list[str] = []
    at = 0
    while at < len(tokens):
        argument, at = _item(tokens, at)
        done += argument
    return done


def _item(tokens: list[str], at: int) -> tuple[list[str], int]:
    """Returns one token with its arguments in braces, and where the next one starts."""
    token = tokens[at]
    if token == "{":
        end = _close(tokens, at)
        return ["{", *_braced(tokens[at + 1 : end]), "}"], end + 1
    if token == "}":
        raise BadInput("The formula closes a brace it did not open.")
    done, at = [token], at + 1
    wanted = _ARGUMENTS.get(token, 0)
    if token in _OPTIONAL:
        wanted = 1
        if at < len(tokens) and tokens[at] == "[" and "]" in tokens[at:]:
            end = tokens.index("]", at)
            done += ["[", *_braced(tokens[at + 1 : end]), "]"]
            at = end + 1
    for _ in range(wanted):
        if at >= len(tokens):
            done += ["{", "}"]
            continue
        argument, at = _item(tokens, at)
        done += argument if argument[0] == "{" else ["{", *argument, "}"]
    return done, at


def _close(tokens: list[str], at: int) -> int:
    """Returns where the brace that opens at `at` closes."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] == "{") - (tokens[i] == "}")
        if depth == 0:
            return i
    raise BadInput("The formula opens a brace and never closes it.")


def _coloured(tokens: list[str], inked: list[str]) -> Iterator[str]:
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token in _HIDDEN:
            end = _close(tokens, at)
            yield from tokens[at - 1 : end + 1]
            at = end + 1
        elif token in _TWO_INKED or token in _ONE_INKED or token in _OPTIONAL:
            end = _arguments_end(tokens, at)
            yield _paint(inked, token) + token
            yield from _coloured(tokens[at : end + 1], inked)
            yield "}"
            at = end + 1
        elif _silent(token) or token in _ONE_SILENT or token in _TWO_SILENT:
            yield token
        else:
            yield _paint(inked, token) + token + "}"


def _arguments_end(tokens: list[str], at: int) -> int:
    """The last brace of a command's arguments, which all stand in braces or, optional, in brackets."""
    end = at - 1
    if at < len(tokens) and tokens[at] == "[":
        end = tokens.index("]", at)
    while end + 1 < len(tokens) and tokens[end + 1] == "{":
        end = _close(tokens, end + 1)
        if tokens[at - 1] not in _TWO_INKED or _groups(tokens, at, end) == 2:
            break
    return end


def _groups(tokens: list[str], at: int, end: int) -> int:
    count, depth = 0, 0
    for token in tokens[at : end + 1]:
        depth += (token == "{") - (token == "}")
        count += token == "}" and depth == 0
    return count


def _silent(token: str) -> bool:
    spacing = token.startswith(("\\begin{", "\\end{", "\\hspace", "\\vspace"))
    return token in _SILENT or spacing or "rule" in token or (token.startswith("\\") and "line" in token)


def _paint(inked: list[str], token: str) -> str:
    red, green, blue = colour(len(inked))
    inked.append(token)
    return f"\\mathcolor[RGB]{{{red},{green},{blue}}}{{"

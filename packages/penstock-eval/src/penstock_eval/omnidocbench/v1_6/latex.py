"""Removes delimiters, equation numbers and circles from LaTeX, and converts LaTeX to plain text.

Converts only sound LaTeX: what is not LaTeX, or would not parse, stays as it was written.
"""

from __future__ import annotations

import re
from functools import lru_cache

from penstock_eval.omnidocbench.normalise import latex_as_text

MAX_LATEX = 8000  # longer ones are not converted to text
MAX_FORMULA = 20_000  # no printed formula is longer; what a runaway model writes stays as it is
_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_CIRCLED_COMMAND = re.compile(r"\\textcircled\s*\{\s*([^{}]+?)\s*\}")
_CIRCLED = str.maketrans(
    {chr(0x2460 + i): str(i + 1) for i in range(20)}
    | {chr(0x24D0 + i): chr(ord("a") + i) for i in range(26)}
    | {chr(0x24B6 + i): chr(ord("A") + i) for i in range(26)}
)
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([^{}]+)\}")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_SIGNAL = re.compile(r"\\[A-Za-z]+|[_^{}$]|\\[\[\]()]]|&|%|#")
_ESCAPED_BRACE = re.compile(r"\\[{}\[\]()]")
_DOLLAR = re.compile(r"(?<!\\)\$")


def without_circles(text: str) -> str:
    """Replaces circled digits and letters by the character inside."""
    return _CIRCLED_COMMAND.sub(lambda found: found[1].strip(), text).translate(_CIRCLED)


def without_delimiters(latex: str) -> str:
    """Returns a formula without the delimiters around it, however many."""
    latex = latex.strip()
    while latex:
        inside = _unwrapped(latex)
        if inside is None:
            break
        latex = inside
    return latex


def _unwrapped(latex: str) -> str | None:
    for left, right in _DELIMITERS:
        if latex.startswith(left) and latex.endswith(right) and len(latex) >= len(left) + len(right):
            return latex[len(left) : len(latex) - len(right)].strip()
    return None


def without_numbers(latex: str) -> str:
    """Removes equation numbers: `\\tag{..}`, starred or not, `\\notag`, `\\nonumber`."""
    if len(latex) <= MAX_FORMULA:
        latex = without_command(latex, "\\tag", starred=True)
    return latex.replace("\\notag", "").replace("\\nonumber", "")


def without_command(latex: str, command: str, *, starred: bool = False) -> str:
    """Removes a command with its group; of one whose group never closes only the name.

    `starred` also allows a star and spaces before the group.
    """
    at = 0
    while (start := latex.find(command, at)) >= 0:
        opened = _group_start(latex, start + len(command), starred)
        if opened < 0:
            at = start + len(command)
            continue
        end = _group_end(latex, opened)
        latex = latex[:start] + latex[end if end > 0 else start + len(command) :]
        if end < 0 and not starred:
            break
        at = start
    return latex


def _group_start(latex: str, at: int, starred: bool) -> int:
    """Returns where a command's group opens, -1 if none follows."""
    if starred:
        if at < len(latex) and latex[at].isalpha():
            return -1
        rest = re.compile(r"\s*(?:\*\s*)?").match(latex, at)
        at = rest.end() if rest else at
    return at if at < len(latex) and latex[at] == "{" else -1


def _group_end(latex: str, opened: int) -> int:
    depth = 0
    for at in range(opened, len(latex)):
        depth += {"{": 1, "}": -1}.get(latex[at], 0)
        if depth == 0:
            return at + 1
    return -1


@lru_cache(maxsize=4096)
def latex_to_text(latex: str) -> str:
    """Returns LaTeX as plain text; returns what does not look like sound LaTeX as it is."""
    stripped = latex.strip()
    if not stripped:
        return latex
    if not any(sign in stripped for sign in "\\{}$"):
        return stripped
    if _is_prose(stripped) or _is_hardly_latex(stripped) or _is_broken(stripped):
        return latex
    return latex_as_text(stripped)


def _is_prose(text: str) -> bool:
    """Whether this is a sentence and not a formula: many words, next to no commands."""
    if len(text) < 32 or len(_SIGNAL.findall(text)) > 2 or any(sign in text for sign in "{}$^_"):
        return False
    commands = ("frac", "sqrt", "left", "right", "begin", "end", "sum", "int", "alpha", "beta")
    if any(f"\\{name}" in text for name in commands):
        return False
    return len(_WORD.findall(text)) >= 6 and text.count(" ") >= 5


def _is_hardly_latex(text: str) -> bool:
    if text in ("\\", "\\\\"):
        return True
    commands, words = len(_COMMAND.findall(text)), len(_WORD.findall(text))
    signs = sum(character in "{}$^_=&%#" for character in text)
    if commands == 0:
        ends_open = text.endswith("\\") and not text.endswith("\\\\")
        if ends_open or ("\\" in text and signs == 0) or (words >= 2 and signs <= 1):
            return True
    return words >= 4 and commands <= 1 and signs <= 2


def _is_broken(text: str) -> bool:
    if len(text) > MAX_LATEX or not _closes_braces(text) or not _closes_environments(text):
        return True
    if len(re.findall(r"\\left\b", text)) != len(re.findall(r"\\right\b", text)):
        return True
    if text.count("\\(") != text.count("\\)") or text.count("\\[") != text.count("\\]"):
        return True
    return len(_DOLLAR.findall(text)) % 2 == 1


def _closes_braces(text: str) -> bool:
    depth = 0
    for character in _ESCAPED_BRACE.sub("", text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def _closes_environments(text: str) -> bool:
    opened: list[str] = []
    for found in _ENVIRONMENT.finditer(text):
        if found[1] == "begin":
            opened.append(found[2])
        elif not opened or opened.pop() != found[2]:
            return False
    return not opened

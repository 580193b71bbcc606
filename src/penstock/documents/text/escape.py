"""Keeps content content: what a page says must not become Markdown or HTML structure.

Only what would change meaning is escaped, so that plain prose stays plain: `a < b`, `snake_case`
and `[1]` are left alone. So is LaTeX between single `$`, which is how readers write inline formulas.
"""

from __future__ import annotations

import re

_INLINE = re.compile(
    r"""
      \$(?P<latex>(?=[^$\n]*[\\^_])[^$\s](?:[^$\n]{0,998}[^$\s])?)\$(?!\d)   # an inline formula
    | (?P<mark>\\(?=[!-/:-@\[-`{-~]) | [`*] | ~(?=~) | (?<!\w)_ | _(?!\w) )  # emphasis, code, escapes
    | (?P<link>\](?=\s?[(\[:]))                                              # what makes [a] a link
    | (?P<tag><(?=[a-zA-Z/!?]))                                              # what opens a tag
    | (?P<entity>&(?=\#?\w{1,31};))
    """,
    re.VERBOSE,
)
_LINE_START = re.compile(
    r"(?P<head>\#{1,6}(?=\s|$)) | (?P<quote>>) | (?P<rule>(?:-[ \t]*){2,}$|(?:=[ \t]*)+$)"
    r"| (?P<bullet>[-+](?=\s|$)) | (?P<fence>~{3,}) | (?P<pipe>\|) | (?P<number>\d{1,9})(?=[.)](?:\s|$))",
    re.VERBOSE,
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff]")


def inline(text: str) -> str:
    """Text that stays text wherever it stands in a line."""
    return _INLINE.sub(_inline_escape, _CONTROL.sub("", text))


def _inline_escape(match: re.Match[str]) -> str:
    if match["latex"]:
        return f"${formula(match['latex'])}$"
    if match["tag"]:
        return "&lt;"
    return "&amp;" if match["entity"] else "\\" + match[0]


def line(text: str) -> str:
    """Returns one line that stays a line of a paragraph: no heading, list, quote, rule or table."""
    escaped = inline(text.strip())
    found = _LINE_START.match(escaped)
    if not found:
        return escaped
    if found["number"]:
        return f"{found['number']}\\{escaped[found.end() :]}"
    return "\\" + escaped


def comment(text: str) -> str:
    """Returns an HTML comment that ends where it should."""
    inner = re.sub(r"-{2,}|[<>]", " ", _CONTROL.sub("", text))
    return f"<!-- {' '.join(inner.split())} -->"


def formula(latex: str) -> str:
    """LaTeX that cannot leave its `$$` nor open a tag."""
    lines = (part.strip() for part in _CONTROL.sub("", latex).split("\n"))
    kept = "\n".join(part for part in lines if part).replace("$$", "")
    return re.sub(r"<(?=[a-zA-Z/!?])", r"\\lt ", kept)


def fenced(code: str) -> str:
    """Code between fences longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{_CONTROL.sub('', code)}\n{fence}"

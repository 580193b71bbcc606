"""Cuts a predicted page of Markdown into the elements the benchmark matches.

Takes out and blanks, in this order: pictures, LaTeX tables, HTML tables, display formulas, pipe tables,
code. The rest is text, split at empty lines. Inline formulas are elements too but stay in their text, so
that a display formula that the model wrote inline can still match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock_eval.omnidocbench import pipe_rows
from penstock_eval.omnidocbench.protocols import ProtocolVersion

INLINE = "equation_inline"
MAX_UNCLOSED = 64  # a page of nothing but opening tags must end; real pages have none or one

MATH = re.compile(r"\$\$(.*?)\$\$|\\\[(.*?)\\\]|\$(.*?)\$|\\\((.*?)\\\)", re.DOTALL)
DOLLARS = re.compile(r"\$\$(.*?)\$\$|\$(.*?)\$|\\\((.*?)\\\)", re.DOTALL)
HTML_TABLE = re.compile(r"(<table.*?</table>)", re.DOTALL)
CODE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_TABLE_ENVIRONMENT = re.compile(r"\\begin{table}(.*?)\\end{table}", re.DOTALL)
LATEX_WRAPPERS = (
    (re.compile(r"\\title\{(.*?)\}"), r"\1"),
    (re.compile(r"\\title\s*\{\s*(.*?)\s*\}", re.DOTALL), r"\1"),
    (re.compile(r"\\text\s*\{\s*(.*?)\s*\}", re.DOTALL), r"\1"),
    (re.compile(r"\\section\*?\{(.*?)\}"), r"\1"),
    (re.compile(r"\\section\*?\{\s*(.*?)\s*\}", re.DOTALL), r"\1"),
)


@dataclass(frozen=True, slots=True)
class PredictedElement:
    """One predicted element. `kind` is text_all, equation_isolated, html_table or latex_table."""

    kind: str
    position: int
    content: str
    fine: str = ""

    @property
    def category(self) -> str:
        return self.fine or self.kind


def predicted_elements(markdown: str, protocol: ProtocolVersion) -> list[PredictedElement]:
    """Returns all elements of a page, in the order of their starts."""
    content = _prepared(markdown, protocol)
    blocks: list[PredictedElement] = []
    for kind, spans in (("latex_table", latex_tables), ("html_table", html_tables)):
        for start, end in spans(content):
            blocks.append(PredictedElement(kind, start, content[start:end]))
            content = blanked(content, start, end)
    content = _take_formulas(content, blocks, protocol)
    if pipe_rows.has_rows(content):
        content = pipe_rows.as_html(content)
        for found in HTML_TABLE.finditer(content):
            blocks.append(PredictedElement("html_table", found.start(), found[0].strip(), "md2html_table"))
            content = blanked(content, *found.span())
    for found in CODE.finditer(content):
        blocks.append(PredictedElement("text_all", found.start(), found[2].strip(), "code"))
        content = blanked(content, *found.span())
    for wrapper, inside in LATEX_WRAPPERS:
        content = wrapper.sub(inside, content)
    blocks.extend(_paragraphs(content))
    return sorted(blocks, key=lambda block: block.position)


def html_tables(text: str) -> list[tuple[int, int]]:
    """Returns the spans of outermost tables; searches the inside of an unclosed table on its own."""
    return _balanced(text, re.compile(r"<table(?:[^>]*)>"), re.compile(r"</table>"), step=8, reopen=17)


def latex_tables(text: str) -> list[tuple[int, int]]:
    """Returns the spans of `table` environments, and of `tabular` ones outside them.

    Quirk: a tabular takes the next character too, which is then blanked.
    """
    spans = [found.span() for found in _TABLE_ENVIRONMENT.finditer(text)]
    for start, end in spans:
        text = blanked(text, start, end)
    begin, close = re.compile(r"\\begin{tabular}"), re.compile(r"\\end{tabular}")
    spans += [
        (start, min(end, len(text))) for start, end in _balanced(text, begin, close, step=14, reopen=16)
    ]
    return sorted(spans)


def _balanced(
    text: str, begin: re.Pattern[str], close: re.Pattern[str], *, step: int, reopen: int
) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for _ in range(MAX_UNCLOSED):
        opened: list[int] = []
        for is_begin, at in _tags(text, begin, close, start, step):
            if is_begin:
                opened.append(at)
            elif opened:
                top = opened.pop()
                if not opened:
                    spans.append((top, at + step))
        if not opened:
            break
        start = opened[0] + reopen
    return spans


def _tags(
    text: str, begin: re.Pattern[str], close: re.Pattern[str], at: int, step: int
) -> Iterator[tuple[bool, int]]:
    """Yields opening (True) and closing tags in order; continues `step` characters after each start."""
    first, last = begin.search(text, at), close.search(text, at)
    while first or last:
        is_begin = first is not None and (last is None or first.start() < last.start())
        tag = first if is_begin else last
        assert tag is not None
        yield is_begin, tag.start()
        at = tag.start() + step
        if first and first.start() < at:
            first = begin.search(text, at)
        if last and last.start() < at:
            last = close.search(text, at)


def pictures(markdown: str) -> list[tuple[int, int, str]]:
    """Returns start, end and words of each `![words](address)` on one line. Linear, also on open brackets."""
    found: list[tuple[int, int, str]] = []
    offset = 0
    for line in markdown.split("\n"):
        at = 0
        while (start := line.find("![", at)) >= 0:
            middle = line.find("](", start + 2)
            end = line.find(")", middle + 2) if middle >= 0 else -1
            if end < 0:
                break
            found.append((offset + start, offset + end + 1, line[start + 2 : middle]))
            at = end + 1
        offset += len(line) + 1
    return found


def without_pictures(markdown: str) -> str:
    kept: list[str] = []
    at = 0
    for start, end, _ in pictures(markdown):
        kept.append(markdown[at:start])
        at = end
    return "".join([*kept, markdown[at:]])


def without_fences(content: str, languages: tuple[str, ...]) -> str:
    """Removes the fences around a whole page; shortens long runs of underscores and spaces to four."""
    for language in languages:
        content = re.sub(rf"^```{language}\n?", "", content, flags=re.MULTILINE)
    content = re.sub(r"```\n?$", "", content, flags=re.MULTILINE)
    return re.sub(r" {4,}", "    ", re.sub(r"_{4,}", "____", content))


def _prepared(markdown: str, protocol: ProtocolVersion) -> str:
    fences = ("markdown", "html", "latex") if protocol.joint else ("markdown",)
    content = without_fences(without_pictures(markdown), fences)
    if not protocol.joint:
        return re.sub(r"([^a-zA-Z0-9])\1{10,}", r"\1\1\1\1", content)
    for tag in ("<html>", "</html>", "<body>", "</body>"):
        content = content.replace(tag, "")
    return content


def _take_formulas(content: str, blocks: list[PredictedElement], protocol: ProtocolVersion) -> str:
    """Adds the page's formulas to `blocks`; returns the page with the display ones blanked."""
    for found in MATH.finditer(content):
        line = " ".join(found[0].strip().split("\n")) if protocol.joint else "".join(found[0].split())
        dollars = DOLLARS.search(line)
        if dollars is not None and not dollars[1]:
            blocks.append(
                PredictedElement("equation_isolated", found.start(), DOLLARS.sub(r"\\[\2\3\\]", line), INLINE)
            )
            continue
        if dollars is not None:
            line = DOLLARS.sub(r"\\[\1\\]", line)
        blocks.append(PredictedElement("equation_isolated", found.start(), line))
        content = blanked(content, *found.span())
    return content


def _paragraphs(content: str) -> Iterator[PredictedElement]:
    """Yields text between empty lines; single lines if there is no empty one.

    Positions do not count the separators, as in the benchmark.
    """
    parts = content.split("\n\n")
    if len(parts) == 1:
        parts = content.split("\n")
    position = 0
    for part in parts:
        text = "\n".join(line.strip() for line in part.strip().split("\n") if line.strip())
        if text.startswith("<table") and text.endswith("</table>"):
            yield PredictedElement("html_table", position, text)
        elif text.startswith("$") and text.endswith("$"):
            if text.replace("$", "").strip():
                yield PredictedElement("equation_isolated", position, text)
        elif text:
            yield PredictedElement("text_all", position, text, "text_block")
        position += len(part)


def blanked(content: str, start: int, end: int) -> str:
    return content[:start] + " " * (end - start) + content[end:]

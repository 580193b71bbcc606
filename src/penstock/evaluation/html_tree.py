"""Reads predicted HTML, however broken, as a tree: tables, their cells, and the text in them.

Tags nest as they are written; a closing tag closes up to its opening one and is ignored without one.
Never recurses, so deep nesting made to break parsers costs time in proportion to its size and no stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

COMMENT = "#comment"
VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)


@dataclass(slots=True)
class HtmlElement:
    """A tag and what it holds. The root has no name. Mutable: clean-up edits it in place."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[HtmlElement | str] = field(default_factory=list)
    unwrapped: bool = False  # written without its own tags

    def walk(self) -> Iterator[HtmlElement]:
        """All elements below, in document order."""
        stack = [child for child in reversed(self.children) if isinstance(child, HtmlElement)]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(child for child in reversed(element.children) if isinstance(child, HtmlElement))

    def named(self, *names: str) -> Iterator[HtmlElement]:
        """All elements below with one of these names, in document order."""
        return (element for element in self.walk() if element.name in names)

    def texts(
        self, skip: frozenset[str] = frozenset([COMMENT]), blocks: frozenset[str] = frozenset()
    ) -> Iterator[str]:
        """The texts inside, in order; a newline for `<br>` and after each of `blocks`; nothing of `skip`."""
        stack: list[HtmlElement | str] = [self]
        while stack:
            part = stack.pop()
            if isinstance(part, str):
                yield part
            elif part.name == "br":
                yield "\n"
            elif part.name not in skip:
                if part.name in blocks:
                    stack.append("\n")
                stack.extend(reversed(part.children))

    @property
    def only_text(self) -> str | None:
        """The one text inside, through tags that hold nothing else; None if there is not exactly one."""
        element = self
        while len(element.children) == 1:
            child = element.children[0]
            if isinstance(child, str):
                return child
            element = child
        return None

    def __str__(self) -> str:
        return "".join(_written(self))


class _TreeBuilder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = HtmlElement("")
        self._open = [self.root]
        self._open_names: dict[str, int] = {}
        self._joins = False  # whether the next text continues the last one: any tag ends it

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = HtmlElement(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        self._joins = False
        if tag not in VOID:
            self._open.append(element)
            self._open_names[tag] = self._open_names.get(tag, 0) + 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_comment(self, data: str) -> None:
        self._open[-1].children.append(HtmlElement(COMMENT, {}, [data]))
        self._joins = False

    def handle_endtag(self, tag: str) -> None:
        self._joins = False
        if not self._open_names.get(tag):
            return
        while True:
            element = self._open.pop()
            self._open_names[element.name] -= 1
            if element.name == tag:
                return

    def handle_data(self, data: str) -> None:
        inside = self._open[-1].children
        if self._joins and isinstance(inside[-1], str):
            inside[-1] += data
        else:
            inside.append(data)
        self._joins = True


def parse_html(source: str) -> HtmlElement:
    """Returns the tree of a piece of HTML. Drops declarations, keeps comments."""
    builder = _TreeBuilder()
    builder.feed(source)
    builder.close()
    return builder.root


def _written(root: HtmlElement) -> Iterator[str]:
    stack: list[HtmlElement | str] = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            yield part
            continue
        if part.name == COMMENT:
            yield f"<!--{part.children[0]}-->"
            continue
        shown = bool(part.name) and not part.unwrapped
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in part.attributes.items())
        if shown and part.name in VOID:
            yield f"<{part.name}{attributes}/>"
            continue
        if shown:
            yield f"<{part.name}{attributes}>"
            stack.append(f"</{part.name}>")
        stack.extend(_text(child) if isinstance(child, str) else child for child in reversed(part.children))


def _text(text: str) -> str:
    """Escaped; white space alone is one newline if it has any, else one space."""
    if not text.strip(" \t\n\r\f\v"):
        return "\n" if "\n" in text else " "
    return escape(text, quote=False)

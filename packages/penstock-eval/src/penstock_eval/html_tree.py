"""Reads predicted HTML, however broken, with BeautifulSoup, as the official programs do.

Nothing here recurses: a page may nest its tags thousands deep.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, NavigableString

_XML = re.compile(r"<\?xml(?=\s)", re.IGNORECASE)


def parse_html(source: str) -> BeautifulSoup:
    """Returns the tree of a piece of HTML. Tags nest as they are written."""
    # BeautifulSoup warns of an XML declaration, and of a string that could be the name of a file
    return BeautifulSoup(io.StringIO(_XML.sub("<?", source)), "html.parser", multi_valued_attributes=None)


def texts(
    element: Tag, skip: frozenset[str] = frozenset(), blocks: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yields the texts inside, in order; newlines for `<br>` and after `blocks`; nothing of `skip`."""
    stack: list[object] = [element]
    while stack:
        part = stack.pop()
        if not isinstance(part, Tag):
            yield from () if isinstance(part, Comment) else (str(part),)
        elif part.name == "br":
            yield "\n"
        elif part.name not in skip:
            if part.name in blocks:
                stack.append("\n")
            stack.extend(reversed(part.contents))


def only_text(element: Tag) -> str | None:
    """Returns the one text inside, through tags that hold nothing else; None if there is not exactly one."""
    while len(element.contents) == 1:
        child = element.contents[0]
        if isinstance(child, NavigableString):
            return str(child)
        assert isinstance(child, Tag)
        element = child
    return None

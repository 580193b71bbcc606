"""A tree of HTML that is as forgiving as browsers are, and bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

MAX_DEPTH = 200  # of elements: what is deeper is flattened
VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
HIDDEN = frozenset(
    {"script", "style", "template", "noscript", "head", "iframe", "object", "svg", "canvas", "select"}
)
# an element that begins ends these, where they are open
ENDS: dict[str, frozenset[str]] = {
    "li": frozenset({"li"}), "dt": frozenset({"dt", "dd"}), "dd": frozenset({"dt", "dd"}),
    "tr": frozenset({"tr", "td", "th"}), "td": frozenset({"td", "th"}), "th": frozenset({"td", "th"}),
    "thead": frozenset({"thead", "tbody", "tfoot", "tr", "td", "th"}),
    "tbody": frozenset({"thead", "tbody", "tfoot", "tr", "td", "th"}),
    "tfoot": frozenset({"thead", "tbody", "tfoot", "tr", "td", "th"}), "option": frozenset({"option"}),
}  # fmt: skip
# where looking for an open element ends: a list in an item has items of its own
SCOPES: dict[str, frozenset[str]] = {
    "li": frozenset({"ul", "ol"}), "dt": frozenset({"dl"}), "dd": frozenset({"dl"}),
    **dict.fromkeys(("tr", "td", "th", "thead", "tbody", "tfoot"), frozenset({"table"})),
}  # fmt: skip
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "section",
    "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "caption", "math",
})  # fmt: skip


@dataclass(slots=True, eq=False)
class HtmlNode:
    """An element; its children are elements and texts, in order."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[HtmlNode | str] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        return self.attributes.get(name, default)

    def elements(self) -> Iterator[HtmlNode]:
        return (each for each in self.children if isinstance(each, HtmlNode))

    def find(self, tag: str) -> Iterator[HtmlNode]:
        """Yields descendants of a tag, in order."""
        for each in self.elements():
            if each.tag == tag:
                yield each
            yield from each.find(tag)

    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text() for each in self.children)


class _TreeParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = HtmlNode("root")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tag = tag.rpartition(":")[2]
        self._end_implied(tag)
        node = HtmlNode(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(node)
        if tag not in VOID and len(self._open) < MAX_DEPTH:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        # XHTML closes what HTML leaves open, such as <a id="x"/>
        if tag.rpartition(":")[2] not in VOID and self._open[-1].tag == tag.rpartition(":")[2]:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place].tag == tag:
                del self._open[place:]
                return
            if self._open[place].tag == "table" and tag in SCOPES:
                return

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    # What has no end hides all that follows, as in browsers. HTMLParser would take its first letters for
    # text and look through all of the rest again, for each of a million that have none.

    def parse_comment(self, i: int, report: bool = True) -> int:
        return self._or_end(super().parse_comment(i, report))

    def parse_pi(self, i: int) -> int:
        return self._or_end(super().parse_pi(i))

    def parse_html_declaration(self, i: int) -> int:
        try:
            return self._or_end(super().parse_html_declaration(i))
        except AssertionError:  # of a marked section that SGML does not have
            return self._or_end(self.parse_bogus_comment(i))

    def parse_starttag(self, i: int) -> int:
        return self._or_text(i, super().parse_starttag(i))

    def parse_endtag(self, i: int) -> int:
        return self._or_text(i, super().parse_endtag(i))

    def _or_end(self, end: int) -> int:
        return end if end >= 0 else len(self.rawdata)

    def _or_text(self, start: int, end: int) -> int:
        """Returns the end of a tag. One that has none, as where a file was cut, is text with all after it."""
        if end >= 0 or self.rawdata.find(">", start) >= 0:
            return end
        self.handle_data(self.rawdata[start:])
        return len(self.rawdata)

    def _end_implied(self, tag: str) -> None:
        if tag in BLOCKS and self._open[-1].tag == "p":
            self._open.pop()
        ends, scope = ENDS.get(tag, frozenset()), SCOPES.get(tag, frozenset())
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place].tag in scope:
                return
            if self._open[place].tag in ends:
                del self._open[place:]
                self._end_implied(tag)
                return


def tree_of(text: str) -> HtmlNode:
    """Returns the tree of HTML. Raises nothing: what is no markup is text."""
    parser = _TreeParser()
    parser.feed(text)
    parser.close()
    return parser.root

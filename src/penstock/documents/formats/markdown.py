"""Writes the regions of a page as Markdown, in time linear in their text.

Titles by label and numbering, formulas in `$$`, tables as pipes (HTML where cells span), pictures as
links to their crops, everything else as paragraphs and lists. Headers, footers and page numbers
are left out unless asked for; a reviewer's comment is a quotation. Content is escaped (escape.py); a
failed region is a comment that says why, so that nothing disappears in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from unicodedata import east_asian_width
from urllib.parse import quote

from penstock.addresses.locator import Locator
from penstock.documents.tables.html import from_html, to_html
from penstock.documents.tables.pipes import to_pipes
from penstock.documents.text import escape
from penstock.documents.text.paragraphs import join_lines, joined_word
from penstock.region import FORMULA_LABELS, HEADING_LABELS, MARGIN_LABELS, PICTURE_LABELS, Link, Region

MAX_HEADING_LEVEL = 6  # heading levels of Markdown
SHORT_LINE = 60  # letters; a longer line is a paragraph
HARD_BREAK = "  \n"
COMMENT = "comment"  # the native label of what a reviewer wrote into a file
MIN_WORD = 2  # letters

_LEADERS = re.compile(r"(?:(?:\.\s?){3,}|(?:·\s?){3,}|(?:…\s?){2,}|_{3,})")
_BULLET = re.compile(r"^[•‣◦▪●∙·]\s*(?=\S)|^[-*]\s+(?=\S)")
_ITEM = re.compile(r"^(\d{1,3}|[a-zA-Z])([.)])\s*(?=[^\s\d.)])")
_MARK = re.compile(r"\s*(?:-|\d{1,3}[.)]) ")
_NUMBER = re.compile(r"^(\d{1,3}(?:\.\d{1,3})*)\.?(?=\s)")
_SECTION = re.compile(r"^제\s?\d+\s?([장절조])")
_ENDED = re.compile(r"[.!?:;。！？：]['\"”’)\]]*$")
_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_HASHES = re.compile(r"\s(#{1,6})$")  # behind a native label: the level that its author gave a heading
_NOTE = re.compile(r"\[\^\w{1,12}\]: ")
_LINKED = re.compile(r"(?:https?|ftps?|mailto|tel):", re.IGNORECASE)  # what a click on does not run
_WRAPS = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))


def page_markdown(
    regions: Sequence[Region],
    *,
    margins: bool = False,
    root: str = "",
    levels: Mapping[int, int] | None = None,
    anchors: Locator | None = None,
) -> str:
    """Returns the page's Markdown. `root` leads from the Markdown file to the folder crops are named from.

    `levels` are those of headings, by their regions' index, where the whole document tells them. With
    `anchors`, the page's locator, an empty element before each region bears its locator.

    page_markdown(item.regions, root="../")
    """
    kept = [r for r in sorted(regions, key=lambda r: r.index) if margins or _is_read(r)]
    return _stacked(
        block
        for region in _joined(_tagged(kept))
        for block in _anchored(_blocks(region, root, levels or {}), region, anchors)
    )


def _is_read(region: Region) -> bool:
    """Whether a region stands in a text without margins: a comment is what somebody says about the text."""
    return region.label not in MARGIN_LABELS or region.native_label == COMMENT


def _anchored(blocks: Iterable[str], region: Region, page: Locator | None) -> Iterator[str]:
    if page is not None:
        yield f'<a id="{page.at_region(region.index)}"></a>'
    yield from blocks


def document_markdown(pages: Iterable[tuple[int, str]]) -> str:
    """Returns pages, numbered from 1, as one text with an anchor before each."""
    return "".join(
        f"<!-- page {number} -->\n\n{text}\n\n" if text else f"<!-- page {number} -->\n\n"
        for number, text in pages
    )


def relink(markdown: str, crops: Iterable[str], root: str | None) -> str:
    """Returns a page's Markdown with its links to `crops` led through `root`.

    With None there is nothing to link to: a picture becomes its words in brackets.
    """
    for crop in dict.fromkeys(crops):
        *links, rest = markdown.split(f"]({_address(crop)})")
        markdown = "".join(_relinked(link, crop, root) for link in links) + rest
    return markdown


def _relinked(before: str, crop: str, root: str | None) -> str:
    """Returns a piece of Markdown up to the words of a link, with the link's end."""
    start = before.rfind("![")  # brackets in the words are escaped
    if root is None and start >= 0:
        return f"{before[:start]}\\[{before[start + 2 :]}\\]"
    return f"{before}]({_address((root or '') + crop)})"


def _address(path: str) -> str:
    return quote(path, safe="/.-_~")


def _stacked(blocks: Iterable[str]) -> str:
    """Returns blocks with a blank line between them; items of one list stay together."""
    parts: list[str] = []
    last = ""
    for block in blocks:
        if parts:
            parts.append("\n" if _is_item(last) and _is_item(block) else "\n\n")
        parts.append(block)
        last = block
    return "".join(parts)


def _is_item(block: str) -> bool:
    return _MARK.match(block) is not None


def _tagged(regions: Sequence[Region]) -> list[Region]:
    """Formula numbers put into the formula next to them; a number without one stays text."""
    kept: list[Region] = []
    waiting: Region | None = None  # a number that came before its formula
    for region in regions:
        if region.label == "formula_number" and region.content:
            if kept and _takes_tag(kept[-1]):
                kept[-1] = _with_tag(kept[-1], region.content)
                continue
            if waiting is not None:
                kept.append(waiting)
            waiting = region
            continue
        if waiting is not None:
            if _takes_tag(region):
                region = _with_tag(region, waiting.content or "")
            else:
                kept.append(waiting)
            waiting = None
        kept.append(region)
    return kept if waiting is None else [*kept, waiting]


def _takes_tag(region: Region) -> bool:
    return (
        region.label == "display_formula" and bool(region.content) and r"\tag{" not in (region.content or "")
    )


def _with_tag(region: Region, number: str) -> Region:
    tag = re.sub(r"[^\w.\-']", "", number)
    return replace(region, content=rf"{_unwrapped(region.content or '')} \tag{{{tag}}}")


def _joined(regions: Sequence[Region]) -> list[Region]:
    """Paragraphs whose last word is cut at a hyphen put together with their other half."""
    kept: list[Region] = []
    for region in regions:
        if kept and region.label == kept[-1].label == "text":
            whole = joined_word(_text(kept[-1]), _text(region)) or _joined_column(kept[-1], region)
            if whole is not None:
                kept[-1] = replace(kept[-1], content=whole, box=region.box)
                continue
        kept.append(region)
    return kept


def _joined_column(above: Region, below: Region) -> str | None:
    """Two paragraphs as one where a column ended in the middle of a sentence, or None."""
    if below.box[3] > above.box[1] or below.box[0] < above.box[2]:  # not the top of the next column
        return None
    first, last = _text(above).rstrip(), _text(below).lstrip()
    if not first or not last or _ENDED.search(first) or not last[0].islower():
        return None
    return f"{first} {last}"


def _text(region: Region) -> str:
    if region.content is not None or region.label in FORMULA_LABELS:
        return region.content or ""  # a formula's lines are not its LaTeX
    return join_lines(region.lines)


def _blocks(region: Region, root: str, levels: Mapping[int, int]) -> Iterator[str]:
    text = _text(region).strip("\n" if region.label == "algorithm" else None)
    if region.crop_link and (region.label in PICTURE_LABELS or not text):
        # what a picture says is its alternative text: found by a search, out of the way of a reader
        says = _bracketed(escape.inline(_alternative(region, text)))
        yield f"![{says or region.label}]({_address(root + region.crop_link)})"
    elif not text and region.label in FORMULA_LABELS and region.lines:
        yield from _content("text", join_lines(region.lines))  # its letters, where nobody read its LaTeX
    elif text and region.label in HEADING_LABELS:
        level = levels.get(region.index, 0) or _own_level(region.native_label)
        yield _linked(_heading(region.label, text, level), region.links)
    elif text and region.native_label == COMMENT and region.label in MARGIN_LABELS:
        yield "> " + escape.inline(" ".join(text.split()))
    elif text:
        yield from _with_links(_content(region.label, text), region.links)
    if region.failure is not None:
        reason = f"{region.failure.kind}: {region.failure.message}"
        yield escape.comment(
            f"region {region.index} ({region.label}) failed in {region.failure.stage}: {reason}"
        )


def _own_level(native_label: str) -> int:
    found = _HASHES.search(native_label)
    return len(found[1]) if found else 0


def _with_links(blocks: Iterable[str], links: Sequence[Link]) -> Iterator[str]:
    if not links:
        yield from blocks
        return
    yield _linked(_stacked(blocks), links)


def _linked(markdown: str, links: Sequence[Link]) -> str:
    """Returns the Markdown with its links, each where its words stand first after the link before."""
    parts, rest = [], markdown
    for link in links:
        words = escape.inline(link.text)
        before, found, after = rest.partition(words)
        if found and words and _LINKED.match(link.address):
            parts += [before, f"[{_bracketed(words)}]({_web_address(link.address)})"]
            rest = after
    return "".join([*parts, rest])


def _bracketed(words: str) -> str:
    return _BRACKET.sub(r"\\\g<0>", words)


def _web_address(address: str) -> str:
    return quote(address, safe="%:/?#@!$&'*+,;=~-._[]")


def _alternative(region: Region, text: str) -> str:
    """What a picture says, if it is words: the figures of a chart's axes help no reader."""
    if region.label in FORMULA_LABELS:
        return join_lines(region.lines)  # its letters, which a search finds
    parts = text.split()
    words = [part for part in parts if sum(char.isalpha() for char in part) >= MIN_WORD]
    return " ".join(parts) if 2 * len(words) >= len(parts) else ""


def _content(label: str, text: str) -> Iterator[str]:
    if label == "display_formula":
        yield f"$$\n{escape.formula(_unwrapped(text))}\n$$"
    elif label in FORMULA_LABELS:
        yield f"${escape.formula(_unwrapped(text))}$"
    elif label == "table":
        yield _table(text)
    elif label == "algorithm":
        yield escape.fenced(text)
    elif label == "footnote" and (note := _NOTE.match(text)):
        yield note[0] + escape.inline(" ".join(text[note.end() :].split()))
    elif label == "content":
        yield HARD_BREAK.join(escape.line(_LEADERS.sub("... ", part).strip()) for part in text.split("\n"))
    else:
        yield from _paragraphs([part.rstrip() for part in text.split("\n") if part.strip()])


def _heading(label: str, text: str, told: int = 0) -> str:
    words = re.sub(r"^(?:#+\s*|[-*]\s+)", "", " ".join(text.split()))
    level = 1 if label == "doc_title" else told or 1 + _depth(words)
    return "#" * min(level, MAX_HEADING_LEVEL) + " " + re.sub(r"(?=#+$)", r"\\", escape.inline(words))


def _depth(title: str) -> int:
    """1 for a chapter, 2 for 1.1, 3 for 1.1.1, by the title's own number."""
    number = _NUMBER.match(title)
    if number:
        return number[1].count(".") + 1
    section = _SECTION.match(title)
    return 1 + "장절조".index(section[1]) if section else 1


def _unwrapped(text: str) -> str:
    body = text.strip()
    for start, end in _WRAPS:
        if body.startswith(start) and body.endswith(end) and len(body) >= len(start) + len(end):
            return body[len(start) : -len(end)].strip()
    return body


def _table(text: str) -> str:
    cells = from_html(text) if text.lstrip().lower().startswith("<table") else None
    if cells is None:
        return "\n\n".join(escape.line(part) for part in text.split("\n") if part.strip())
    return to_pipes(cells) or to_html(cells)


def _paragraphs(parts: Sequence[str]) -> Iterator[str]:
    """Yields each part by itself, but short lines one under the other stay so: an address, a receipt."""
    block = ""
    marks: list[tuple[str, int]] = []  # of the lists that are open, outermost first, and how wide they are
    for above, part in zip(["", *parts], parts, strict=False):
        line = _nested(_paragraph(part), part, marks)
        if (
            block
            and not _is_item(block)
            and not _is_item(line)
            and max(map(_columns, (above, part))) <= SHORT_LINE
        ):
            block += HARD_BREAK + line
            continue
        if block:
            yield block
        block = line
    yield block


def _nested(line: str, part: str, marks: list[tuple[str, int]]) -> str:
    """An item of a list as far in as what holds it: a bullet by its sign, a number by spaces before it."""
    mark = _MARK.match(line)
    if mark is None:
        marks.clear()
        return line
    sign, signs = part.lstrip()[0], [sign for sign, _ in marks]
    if sign.isalnum():
        depth = min((len(part) - len(part.lstrip())) // 2, len(marks))
    elif sign in signs:
        depth = signs.index(sign)
    else:
        # "•" and "-" after a number begin a list of their own: printed pages have them so
        depth = 0 if sign in "•-*" and "".join(signs[:1]).isalnum() else len(marks)
    before = " " * sum(width for _, width in marks[:depth])
    marks[depth:] = [(sign, len(mark[0]))]
    return before + line


def _columns(text: str) -> int:
    """Returns how wide the text is in letters; Korean and Chinese ones count twice."""
    return len(text) + sum(east_asian_width(char) in "WF" for char in text)


def _paragraph(text: str) -> str:
    words = _LEADERS.sub(_three, text.strip())
    bullet = _BULLET.match(words)
    if bullet:
        return "- " + escape.line(words[bullet.end() :])
    item = _ITEM.match(words)
    if item:
        rest = escape.inline(words[item.end() :])
        return f"{item[1]}{item[2]} {rest}"
    return escape.line(words)


def _three(match: re.Match[str]) -> str:
    run = match[0]
    return run if len(run) <= 3 else run[0] * 3 + (" " if run[-1].isspace() else "")

"""Labels text blocks by size, weight, place and wording: titles, captions, margins, notes.

Margins are headers, footers and page numbers. The rules see one page only, so they know a running title
by its place, not by its repetition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.documents.text.blocks import LIST_MARK, TextBlock

# Shares of the page's height.
EDGE = 0.08  # headers and footers stand within this of the page's edge
NUMBER_EDGE = 0.12
NOTES_FROM = 0.55  # footnotes stand below this
# Times the body's type.
TITLE_SIZE = 1.5
HEADING_SIZE = 1.12
NOTE_SIZE = 0.93
MAX_TITLE = 200  # characters
MAX_HEADING = 120
MAX_CAPTION = 600

PAGE_NUMBER = re.compile(
    r"^(?:[-–—~<\[(|]?\s*(?:page|p\.|쪽)?\s*(?:\d{1,4}|[ivxlc]{1,7}|[IVXLC]{1,7})(?:\s*(?:/|of)\s*\d{1,4})?\s*(?:쪽)?\s*[-–—~>\])|]?)$",
    re.IGNORECASE,
)
NUMBER_AT_END = re.compile(r"^\d{1,4}\s|\s\d{1,4}$")
NUMBERED = re.compile(
    r"^(?:(?:\d{1,2}\.)+\d{0,2}|[A-Z](?:\.\d{1,2})+|[IVXⅠ-Ⅻ]{1,5}\.|제\s?\d+\s?[장절조편]|(?:Chapter|Section|Appendix|Part)\s+[\dA-Z])(?=\s|$)"
)
CAPTION = re.compile(
    r"^[\[<〈《【(]?\s*(?:그림|표|사진|도표|차트|Figure|FIGURE|Fig\.|FIG\.|Table|TABLE|Tab\.|Chart|Diagram|Scheme|Exhibit|图|表|図|Abb\.)"
    r"\s?(?:[A-Z]?\d+(?:[-.–]\d+)*|[IVX]+)\s*(?:[\]>〉》】):.：|—–-]|(?=\s+[^a-z\s은는이가을를의에와과])|$)"
)
SECTION_NAME = re.compile(
    r"^(?:abstract|introduction|conclusions?|references|acknowledge?ments?|bibliography|appendix|contents|summary"
    r"|초록|서론|결론|참고\s?문헌|목\s*차|요약|부록|머리말)\s*:?$",
    re.IGNORECASE,
)
NOTE_MARK = re.compile(r"^(?:[*†‡§]+|\d{1,3}\)?|\[\d+\]|[①-⑳]|주\s?\d*\))\s*\S")
REFERENCE = re.compile(r"^\[\d{1,3}\]\s")
LEADER = re.compile(r"(?:\.\s?){4,}\s*\S{1,6}$|(?:…\s?){2,}\s*\S{1,6}$|(?:·\s?){4,}\s*\S{1,6}$")
NOT_BODY = frozenset({"footnote", "footer", "number", "header"})
_STOP = re.compile(r"[.!?,;。！？，]$|다\.$")
_LETTER = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What labelling needs to know of the page."""

    width: float
    height: float
    body: float  # the body's font size
    font: str  # the body's font


def labelled(blocks: Sequence[TextBlock], page: PageFacts) -> list[tuple[str, str]]:
    """For each block its label and the name of the rule that chose it."""
    names = [_name(block, blocks, page) for block in blocks]
    _only_first_title(blocks, names)
    _notes_at_the_foot(blocks, names)
    return names


def _name(block: TextBlock, blocks: Sequence[TextBlock], page: PageFacts) -> tuple[str, str]:
    text = block.text
    margin = _margin_label(block, text, blocks, page)
    if margin:
        return margin, f"{margin} by place"
    if LEADER.search(block.lines[0].text):
        return "content", "dot leaders"
    if CAPTION.match(text) and len(text) <= MAX_CAPTION:
        return "figure_title", "caption wording"
    heading = heading_by_type(block, text, page)
    if heading:
        return heading
    if _is_note(block, text, page):
        return "footnote", "small type at the foot"
    if REFERENCE.match(text):
        return "reference_content", "bracketed number"
    return "text", "list item" if LIST_MARK.match(text) else "paragraph"


def _margin_label(block: TextBlock, text: str, blocks: Sequence[TextBlock], page: PageFacts) -> str:
    """ "number", "header" or "footer"; "" for a block of the body."""
    _, y0, _, y1 = block.box
    at_top, at_foot = y1 < NUMBER_EDGE * page.height, y0 > (1 - NUMBER_EDGE) * page.height
    if (at_top or at_foot) and PAGE_NUMBER.match(text):
        return "number"
    if len(block.lines) > 2 or block.size > HEADING_SIZE * page.body:
        return ""
    beside = any(b is not block and _same_row(b, block) and PAGE_NUMBER.match(b.text) for b in blocks)
    beside = beside or (NUMBER_AT_END.search(text) is not None and len(block.lines) == 1)
    heads = (at_top and beside) or y1 < EDGE * page.height
    if heads and _stands_alone(block, blocks, below=True):
        return "header"
    foots = (at_foot and beside) or y0 > (1 - EDGE) * page.height
    if foots and _stands_alone(block, blocks, below=False):
        return "footer"
    return ""


def _same_row(a: TextBlock, b: TextBlock) -> bool:
    return min(a.box[3], b.box[3]) - max(a.box[1], b.box[1]) > 0.5 * min(a.size, b.size)


def _stands_alone(block: TextBlock, blocks: Sequence[TextBlock], below: bool) -> bool:
    """Whether white space of a line's height separates the block from the body."""
    if below:
        gaps = [b.box[1] - block.box[3] for b in blocks if b.box[1] >= block.box[3]]
    else:
        gaps = [block.box[1] - b.box[3] for b in blocks if b.box[3] <= block.box[1]]
    return min(gaps, default=0.0) > block.size


def heading_by_type(block: TextBlock, text: str, page: PageFacts) -> tuple[str, str] | None:
    """The label and the rule of a heading or a title, or None for other text."""
    if len(block.lines) > 4 or len(text) > MAX_TITLE or not _LETTER.search(text):
        return None
    numbered = NUMBERED.match(text) is not None
    if len(block.lines) > 1 and _STOP.search(text):
        return None  # prose, however large: slides have no smaller type
    if block.size >= TITLE_SIZE * page.body and not numbered and block.box[1] < page.height / 2:
        return "doc_title", "largest type"
    if len(text) > MAX_HEADING or _STOP.search(text):
        return None
    if block.size >= HEADING_SIZE * page.body:
        return "paragraph_title", "large type"
    if len(block.lines) > 2 or block.size < NOTE_SIZE * page.body:
        return None
    if block.bold and (numbered or not LIST_MARK.match(text)):
        return "paragraph_title", "bold line"
    if SECTION_NAME.match(text):
        return "paragraph_title", "name of a section"
    if numbered and block.font != page.font and len(block.lines) == 1:
        return "paragraph_title", "number in another font"
    return None


def _is_note(block: TextBlock, text: str, page: PageFacts) -> bool:
    low, small = block.box[1] > NOTES_FROM * page.height, block.size < NOTE_SIZE * page.body
    return low and small and NOTE_MARK.match(text) is not None


def _only_first_title(blocks: Sequence[TextBlock], names: list[tuple[str, str]]) -> None:
    """One title a page: the largest; the others are headings."""
    titles = [i for i, (label, _) in enumerate(names) if label == "doc_title"]
    if not titles:
        return
    largest = max(titles, key=lambda i: (blocks[i].size, -blocks[i].box[1]))
    # the name of a chapter stands beside its number, which is as large
    chapter = any(NUMBERED.match(b.text) and b.size > 0.75 * blocks[largest].size for b in blocks)
    for i in titles:
        if i != largest or chapter:
            names[i] = ("paragraph_title", "large type")


def _notes_at_the_foot(blocks: Sequence[TextBlock], names: list[tuple[str, str]]) -> None:
    """Small print with body text under it is no footnote."""
    body = [b for b, (label, _) in zip(blocks, names, strict=True) if label not in NOT_BODY]
    for i, (label, _) in enumerate(names):
        if label == "footnote" and any(_under(b, blocks[i]) for b in body):
            names[i] = ("text", "paragraph")


def _under(lower: TextBlock, upper: TextBlock) -> bool:
    overlap = min(lower.box[2], upper.box[2]) - max(lower.box[0], upper.box[0])
    return lower.box[1] >= upper.box[3] and overlap > 0

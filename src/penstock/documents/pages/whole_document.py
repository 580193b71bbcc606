"""What only a whole document shows: texts that run along its pages' edges, and the levels of its headings.

Pages are read one at a time, and a page alone does not tell a running title from a heading. An export
reads the pages of a document twice: `note` each, then ask for each page as `corrected` and for its `levels`;
`corrected_pages` does both.
So runs that were read long ago profit too. Small: a document keeps one line for each text at an edge.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import chain, islice

from penstock.documents.formats.markdown import page_markdown
from penstock.documents.headings.numbers import numbering
from penstock.page import Page
from penstock.region import HEADING_LABELS, MARGIN_LABELS, STRUCTURE, Region
from penstock.scripts import has_syllable

EDGE = 0.16  # of the page's height: no running title or footer stands farther in
SAME_PLACE = 0.02  # of the page's height: a running title moves less
MIN_REPEATS = 3  # pages; two may share a heading by chance
MIN_SHARE = 0.08  # of the document's pages; running titles of chapters change
SAME_LETTERS = 0.85  # of a running title and the same one misread
MIN_MISREAD = 6  # letters; shorter texts are alike by chance
MAX_COMPARED = 400  # texts; a book has its titles among the first
MAX_RUNNING = 150  # letters
ALIKE = 0.06  # share by which lines of one size differ in a text layer
ALIKE_ACROSS = 0.14  # the same of a Korean and a Latin line: their fonts have other ascents
MAX_SIZES = 500  # headings whose sizes are compared; more add no level
MAX_LEVEL = 6
TITLE = 1  # the level of the document's title
UNTOLD = 2  # the level of a heading of which nothing else is known, as Markdown has it
RUNNING = frozenset({"text", "paragraph_title", "doc_title", "figure_title", "reference_content"})


@dataclass(frozen=True, slots=True)
class _TypeSize:
    """The height of a heading's lines as a share of the page's, and whether they are Korean."""

    height: float
    is_korean: bool

    def is_like(self, other: _TypeSize) -> bool:
        alike = ALIKE if self.is_korean == other.is_korean else ALIKE_ACROSS
        return abs(self.height - other.height) <= alike * max(self.height, other.height)


@dataclass(frozen=True, slots=True)
class _NotedHeading:
    """A heading as it was noted: `own` is the level by its number, or a title's; 0 without one."""

    key: tuple[str, int]
    size: _TypeSize | None
    own: int
    edge: tuple[str, int] | None  # where it may be a running title


@dataclass(slots=True)
class WholeDocument:
    """One document. Call `note` with each of its pages first."""

    _pages: int = 0
    _edges: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    _read_by_ocr: dict[str, None] = field(default_factory=dict)  # in the order they were met
    _known: dict[tuple[str, int], bool] = field(default_factory=dict)  # which edges repeat, as far as asked
    _headings: list[_NotedHeading] = field(default_factory=list)
    _sizes: list[tuple[_TypeSize, int]] = field(default_factory=list)  # of headings, and their own level
    _levels: dict[tuple[str, int], int] | None = None  # by page and region; None: not asked for yet

    @classmethod
    def of(cls, pages: Iterable[Page]) -> WholeDocument:
        whole = cls()
        for page in pages:
            whole.note(page)
        return whole

    def note(self, page: Page) -> None:
        self._pages += 1
        running = [region for region in page.regions if _may_run(region, page)]
        for key, place in {_edge(region, page) for region in running}:
            self._edges[key][place] += 1
        read = [_edge(region, page)[0] for region in running if region.reader != "layer"]
        self._read_by_ocr.update(dict.fromkeys(read))
        self._levels = None
        self._known.clear()
        for region in page.regions:
            if region.label in HEADING_LABELS:
                self._note_heading(region, page)

    def _note_heading(self, region: Region, page: Page) -> None:
        own = TITLE if region.label == "doc_title" else _own_level(region)
        size = _size(region, page)
        edge = _edge(region, page) if _may_run(region, page) else None
        self._headings.append(_NotedHeading((page.id, region.index), size, own, edge))
        if size is not None and len(self._sizes) < MAX_SIZES:
            self._sizes.append((size, own))

    def corrected(self, page: Page) -> Page:
        """The page, its texts that other pages repeat at the same place labelled as headers and footers.

        A page that has no other body keeps them: nothing is a running title of nothing.
        """
        regions = tuple(self._relabelled(region, page) for region in page.regions)
        has_body = any(region.label not in MARGIN_LABELS for region in regions)
        return replace(page, regions=regions) if has_body and regions != page.regions else page

    def _relabelled(self, region: Region, page: Page) -> Region:
        if not _may_run(region, page) or region.label in MARGIN_LABELS:
            return region
        if not self._repeats(_edge(region, page)):
            return region
        return replace(region, label="header" if region.box[1] < page.height / 2 else "footer")

    def _repeats(self, edge: tuple[str, int]) -> bool:
        """Whether enough pages have the text at the place, as it is or as OCR may have misread it."""
        if edge not in self._known:
            enough = max(MIN_REPEATS, MIN_SHARE * self._pages)
            self._known[edge] = self._count(edge) >= enough or self._count_alike(edge) >= enough
        return self._known[edge]

    def _count(self, edge: tuple[str, int]) -> int:
        key, place = edge
        pages = self._edges.get(key, Counter[int]())
        return sum(pages.get(near, 0) for near in (place - 1, place, place + 1))

    def _count_alike(self, edge: tuple[str, int]) -> int:
        key, place = edge
        if key not in self._read_by_ocr or len(key) < MIN_MISREAD:
            return 0
        others = list(self._read_by_ocr)[:MAX_COMPARED]
        return sum(self._count((other, place)) for other in others if _is_misread(key, other))

    def levels(self, page: Page) -> dict[int, int]:
        """The level of each heading of the page that its type tells, by the region's index.

        A number tells better; a heading without one stands as high as numbered ones of its size, and no
        more than one below the heading it belongs to.
        """
        if self._levels is None:
            self._levels = self._placed()
        headings = (region.index for region in page.regions if region.label == "paragraph_title")
        found = {index: self._levels.get((page.id, index), 0) for index in headings}
        return {index: level for index, level in found.items() if level}

    def _placed(self) -> dict[tuple[str, int], int]:
        """Levels of the headings without a number, in the order of the document."""
        levels: dict[tuple[str, int], int] = {}
        above: list[tuple[int, int]] = []  # the open headings: what their type tells, and their level
        for heading in self._headings:
            if heading.edge and self._repeats(heading.edge):
                continue
            told = heading.own or self._level(heading.size)
            while above and above[-1][0] >= (told or UNTOLD):
                above.pop()
            level = heading.own or min(told or UNTOLD, above[-1][1] + 1 if above else UNTOLD)
            above.append((told or UNTOLD, level))
            if told and not heading.own:
                levels[heading.key] = level
        return levels

    def markdown(self, page: Page) -> str:
        """The page's Markdown, written again where the document knows better."""
        corrected = self.corrected(page)
        levels = self.levels(corrected)
        if corrected is page and not levels:
            return page.markdown
        return page_markdown(corrected.regions, levels=levels)

    def _level(self, size: _TypeSize | None) -> int:
        """The level of a heading without a number, by its size; 0 where it has none.

        It is that of headings of its size which tell their own: numbered ones, and titles. Otherwise each
        larger size among headings puts it one lower, but never below a numbered heading that is smaller.
        """
        if size is None:
            return 0
        told = Counter(level for other, level in self._sizes if level and size.is_like(other))
        if told:
            return told.most_common(1)[0][0]
        smaller = [level for other, level in self._sizes if level > TITLE and other.height < size.height]
        larger: list[_TypeSize] = []
        for other, level in sorted(self._sizes, key=lambda one: -one[0].height):
            is_new = not size.is_like(other) and not any(other.is_like(known) for known in larger)
            if other.height > size.height and level != TITLE and is_new:
                larger.append(other)
        return min([2 + len(larger), MAX_LEVEL, *smaller])


def corrected_pages(pages: Iterable[Page]) -> Iterator[Page]:
    """Yields the pages of a document as the whole of it shows them. `pages` is gone through twice."""
    rest = iter(pages)
    first = list(islice(rest, MIN_REPEATS))
    if len(first) < MIN_REPEATS:  # as most of a data set's documents: one page shows no repetition
        yield from first
        return
    whole = WholeDocument.of(chain(first, rest))
    yield from map(whole.corrected, pages)


def _may_run(region: Region, page: Page) -> bool:
    text = region.content or ""
    if region.reader == STRUCTURE:  # the file says itself what runs over its pages
        return False
    if region.label not in RUNNING | MARGIN_LABELS or not 0 < len(text) <= MAX_RUNNING or not page.height:
        return False
    return region.box[3] < EDGE * page.height or region.box[1] > (1 - EDGE) * page.height


def _edge(region: Region, page: Page) -> tuple[str, int]:
    """The letters of the text, without its numbers, and where on the page it stands.

    A page's number stands before the title on the left and behind it on the right; OCR may lose a space.
    """
    words = re.sub(r"\d+|\b[ivxlc]+\b", " ", (region.content or "").casefold())
    letters = "".join(char for char in words if char.isalnum())
    return letters or "#", round(region.box[1] / page.height / SAME_PLACE)


def _is_misread(a: str, b: str) -> bool:
    """Whether two texts differ by no more than a few letters."""
    pair = SequenceMatcher(None, a, b, autojunk=False)
    return pair.real_quick_ratio() >= SAME_LETTERS and pair.ratio() >= SAME_LETTERS


def _size(region: Region, page: Page) -> _TypeSize | None:
    """The size of the heading's type; None where OCR read it, which is too rough."""
    if region.reader != "layer" or not region.lines or not page.height:
        return None
    heights = sorted(line.box[3] - line.box[1] for line in region.lines)
    return _TypeSize(heights[len(heights) // 2] / page.height, has_syllable(region.content or ""))


def _own_level(region: Region) -> int:
    """The level that the heading's own number tells: 2 for `1`, 3 for `1.1`; 0 without one."""
    number, _ = numbering((region.content or "").strip())
    if not re.fullmatch(r"\d{1,2}(?:\.\d{1,3}){0,5}\.?", number):
        return 0
    return min(2 + number.rstrip(".").count("."), MAX_LEVEL)

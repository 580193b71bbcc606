"""What only a whole document shows: texts that run along its pages' edges, and the levels of its headings.

Pages are read one at a time, and a page alone does not tell a running title from a heading. An export
reads the pages of a document twice: `note` each, then ask for each page as `corrected` and for its `levels`.
So runs that were read long ago profit too. Small: a document keeps one line for each text at an edge.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from penstock.documents.formats.markdown import page_markdown
from penstock.documents.heading_numbers import numbering
from penstock.page import Page
from penstock.region import MARGIN_LABELS, Region

EDGE = 0.16  # of the page's height: no running title or footer stands farther in
SAME_PLACE = 0.02  # of the page's height: a running title moves less
MIN_REPEATS = 3  # pages; two may share a heading by chance
MIN_SHARE = 0.08  # of the document's pages; running titles of chapters change
MAX_RUNNING = 150  # letters
ALIKE = 0.06  # share by which lines of one size differ in a text layer
MAX_SIZES = 500  # headings whose sizes are compared; more add no level
MAX_LEVEL = 6
RUNNING = frozenset({"text", "paragraph_title", "doc_title", "figure_title", "reference_content"})


@dataclass(slots=True)
class WholeDocument:
    """One document. Call `note` with each of its pages first."""

    _pages: int = 0
    _edges: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    _sizes: list[tuple[float, int]] = field(
        default_factory=list
    )  # of headings, and the level by their number

    @classmethod
    def of(cls, pages: Iterable[Page]) -> WholeDocument:
        whole = cls()
        for page in pages:
            whole.note(page)
        return whole

    def note(self, page: Page) -> None:
        self._pages += 1
        for key, place in {_edge(region, page) for region in page.regions if _may_run(region, page)}:
            self._edges[key][place] += 1
        for region in page.regions:
            if (
                region.label == "paragraph_title"
                and len(self._sizes) < MAX_SIZES
                and (size := _size(region, page))
            ):
                self._sizes.append((size, _own_level(region)))

    def corrected(self, page: Page) -> Page:
        """The page, its texts that other pages repeat at the same place labelled as headers and footers."""
        regions = tuple(self._relabelled(region, page) for region in page.regions)
        return page if regions == page.regions else replace(page, regions=regions)

    def _relabelled(self, region: Region, page: Page) -> Region:
        if not _may_run(region, page) or region.label in MARGIN_LABELS:
            return region
        key, place = _edge(region, page)
        found = sum(self._edges[key][near] for near in (place - 1, place, place + 1))
        if found < max(MIN_REPEATS, MIN_SHARE * self._pages):
            return region
        return replace(region, label="header" if region.box[1] < page.height / 2 else "footer")

    def levels(self, page: Page) -> dict[int, int]:
        """The level of each heading of the page that its type tells, by the region's index.

        A number tells better; a heading without one stands as high as numbered ones of its size.
        """
        headings = [region for region in page.regions if region.label == "paragraph_title"]
        return {
            region.index: level
            for region in headings
            if not _own_level(region) and (level := self._level(_size(region, page)))
        }

    def markdown(self, page: Page) -> str:
        """The page's Markdown, written again where the document knows better."""
        corrected = self.corrected(page)
        levels = self.levels(corrected)
        if corrected is page and not levels:
            return page.markdown
        return page_markdown(corrected.regions, levels=levels)

    def _level(self, size: float) -> int:
        if not size:
            return 0
        numbered = Counter(level for other, level in self._sizes if level and _is_alike(size, other))
        if numbered:
            return numbered.most_common(1)[0][0]
        larger: list[float] = []
        for other in sorted((other for other, _ in self._sizes if other > size), reverse=True):
            if not _is_alike(size, other) and not any(_is_alike(other, known) for known in larger):
                larger.append(other)
        return min(2 + len(larger), MAX_LEVEL)


def _may_run(region: Region, page: Page) -> bool:
    text = region.content or ""
    if region.label not in RUNNING | MARGIN_LABELS or not 0 < len(text) <= MAX_RUNNING or not page.height:
        return False
    return region.box[3] < EDGE * page.height or region.box[1] > (1 - EDGE) * page.height


def _edge(region: Region, page: Page) -> tuple[str, int]:
    """What the text says but for its numbers, and where on the page it stands."""
    words = re.sub(r"\d+|\b[ivxlc]+\b", "#", " ".join((region.content or "").casefold().split()))
    return words, round(region.box[1] / page.height / SAME_PLACE)


def _size(region: Region, page: Page) -> float:
    """The height of the heading's lines as a share of the page's; 0 where OCR read it: too rough."""
    if region.reader != "layer" or not region.lines or not page.height:
        return 0.0
    heights = sorted(line.box[3] - line.box[1] for line in region.lines)
    return heights[len(heights) // 2] / page.height


def _own_level(region: Region) -> int:
    """The level that the heading's own number tells: 2 for `1`, 3 for `1.1`; 0 without one."""
    number, _ = numbering((region.content or "").strip())
    if not re.fullmatch(r"\d{1,2}(?:\.\d{1,3}){0,5}\.?", number):
        return 0
    return min(2 + number.rstrip(".").count("."), MAX_LEVEL)


def _is_alike(a: float, b: float) -> bool:
    return abs(a - b) <= ALIKE * max(a, b)

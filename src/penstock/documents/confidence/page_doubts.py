"""What part of a page's characters its layer and the built-in readers likely read wrong, and why.

A page's doubts are counted by their cause, each as a part of the page. Weights that were fitted on pages with
a truth (benchmarks/quality/router.py) make one number of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from penstock.box import Box, HasBox
from penstock.documents.confidence.comparison import plain
from penstock.documents.text.text_layer import coverage
from penstock.page import Page, ReaderChoice
from penstock.region import FORMULA_LABELS, FROM_FILE, Region

# of each cause: what of the characters in doubt is wrong
WEIGHTS: Mapping[str, float] = MappingProxyType({
    "text read unsurely": 2.446, "tables in pictures": 0.169, "formulas": 0.14,
    "ink that no text explains": 0.185, "handwriting": 0.454,
})  # fmt: skip


UNREAD = 0.2  # of the ink: rules and bullets that no word explains were up to 0.07 of pages that are text


@dataclass(frozen=True, slots=True)
class PageDoubts:
    """Parts of a page in doubt, by cause, in the order of `WEIGHTS`."""

    parts: tuple[float, ...]
    is_from_file: bool

    @property
    def likely_wrong(self) -> float:
        return min(1.0, sum(self._weighed))

    @property
    def cause(self) -> str:
        """The cause that weighs most."""
        return max(zip(self._weighed, WEIGHTS, strict=True))[1]

    @property
    def _weighed(self) -> list[float]:
        return [weight * part for weight, part in zip(WEIGHTS.values(), self.parts, strict=True)]


def doubts_of(page: Page, handwriting: float = 0.0) -> PageDoubts:
    """Returns what is in doubt on a page that the cheap readers read. Its picture tells what they missed.

    `handwriting` says how likely it is written by hand: networks for print are sure of what they make of it.
    """
    letters = sum(len(plain(region.content or "")) for region in page.regions)
    own = [region for region in page.regions if region.content and region.reader not in FROM_FILE]
    tables = [region for region in own if region.label == "table"]
    formulas = [r for r in page.regions if r.label in FORMULA_LABELS]  # signs of a layer are no LaTeX
    unsure = sum(_letters(region) * (1.0 - region.confidence) for region in own if region.confidence)
    parts = (unsure, sum(map(_letters, tables)), sum(map(_letters, formulas)))
    shares = tuple(part / max(1, letters) for part in parts)
    unread = _unread_ink(page)
    is_from_file = bool(letters) and not own and not formulas and unread < UNREAD
    return PageDoubts((*shares, unread, handwriting if own or not letters else 0.0), is_from_file)


def choice_of(doubts: PageDoubts, accepted: float, has_server: bool) -> ReaderChoice:
    """Returns the cheapest reader of which no more than the accepted part is likely wrong."""
    wrong = round(doubts.likely_wrong, 4)
    said = f"About {wrong:.1%} of its characters are likely wrong, most by: {doubts.cause}."
    if doubts.is_from_file:
        return ReaderChoice(reader="layer", reason="The file itself gives all its text.", likely_wrong=0.0)
    if wrong <= accepted:
        return ReaderChoice(reader="built-in", reason=f"{said} That is accepted.", likely_wrong=wrong)
    if has_server:
        return ReaderChoice(reader="server", reason=said, likely_wrong=wrong)
    return ReaderChoice(reader="built-in", reason=f"{said} No server was given.", likely_wrong=wrong)


def _letters(region: Region) -> int:
    return len(plain(region.content or ""))


def _unread_ink(page: Page) -> float:
    """Returns the part of the page's ink that lies in no line that was read and in no picture."""
    if page.pixels is None:
        return 0.0
    whole: Box = (0.0, 0.0, float(page.width), float(page.height))
    strokes = page.layer.strokes if page.layer else ()
    return 1.0 - coverage(_explained(page.regions), page.pixels, whole, strokes)


def _explained(regions: Sequence[Region]) -> list[HasBox]:
    """Returns what ink is explained by: pictures, tables and formulas as wholes, of text the lines."""
    found: list[HasBox] = []
    for region in regions:
        found += region.lines if region.lines and region.label != "table" else [region]
    return found

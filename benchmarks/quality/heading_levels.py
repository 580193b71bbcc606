"""Scores headings and their levels on manuals whose PDFs have an outline, which is the truth.

    python benchmarks/quality/heading_levels.py FOLDER [--pages 40] [--keep KEPT]

FOLDER holds PDFs with bookmarks; of each, pages in its middle are read, at most `--pages`. `found` is the
share of bookmarks whose title is a heading of their page. `order` looks at headings one after the other that
were both found: is the second higher, lower or on the level of the first, as the outline has it? `exact` is
the share of found headings whose level is the outline's, after the best shift for the document. KEPT keeps
what was read, so that a change of the levels alone is scored in seconds. The last line is JSON.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pypdfium2 as pdfium

import penstock
from penstock.documents.pages.whole_document import WholeDocument
from penstock.page import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish

MIN_BOOKMARKS = 8
HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Bookmark:
    """`level` is 0 for the highest; `place` is the page's among those that are read."""

    title: str
    level: int
    place: int


@dataclass(frozen=True)
class Manual:
    path: Path
    pages: tuple[int, ...]
    bookmarks: tuple[Bookmark, ...]


@dataclass(frozen=True)
class LevelScores:
    """Counts of one manual."""

    bookmarks: int
    found: int
    pairs: int
    right_pairs: int
    exact: int

    def told(self) -> dict[str, float]:
        return {
            "bookmarks": self.bookmarks,
            "found": self.found / max(1, self.bookmarks),
            "order": self.right_pairs / max(1, self.pairs),
            "exact": self.exact / max(1, self.found),
        }


def manual_of(path: Path, num_pages: int) -> Manual | None:
    """The middle of a manual, behind its contents; None where it has no outline to speak of."""
    try:
        with pdfium.PdfDocument(path) as document:
            total = len(document)
            start = max(0, min(total // 3, total - num_pages))
            pages = tuple(range(start, min(total, start + num_pages)))
            marks = [
                (mark.get_title(), mark.level, target.get_index())
                for mark in document.get_toc()
                if (target := mark.get_dest()) is not None
            ]
    except pdfium.PdfiumError:
        return None
    inside = [Bookmark(title, level, at - start) for title, level, at in marks if at in pages]
    return Manual(path, pages, tuple(inside)) if len(inside) >= MIN_BOOKMARKS else None


def pages_of(manual: Manual, keep: Path | None) -> list[Page]:
    with tempfile.TemporaryDirectory() as folder:
        out = keep / manual.path.stem if keep else Path(folder) / "out"
        part = Path(folder) / manual.path.name
        if not out.is_dir():
            with pdfium.PdfDocument(manual.path) as whole, pdfium.PdfDocument.new() as cut:
                cut.import_pages(whole, list(manual.pages))
                cut.save(part)
            list(penstock.parse(part, out=out))
        return sorted(penstock.read(out), key=lambda page: page.number)


def letters(text: str) -> str:
    """What two spellings of one title share: no number, no space, no case."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in plain if char.isalpha())


def levels_found(manual: Manual, pages: list[Page]) -> list[tuple[int, int]]:
    """The outline's level and ours, of each bookmark that is a heading of its page."""
    whole = WholeDocument.of(pages)
    found = []
    for mark in manual.bookmarks:
        headings = HEADING.findall(whole.markdown(pages[mark.place]))
        ours = [len(hashes) for hashes, title in headings if _same(title, mark.title)]
        if ours:
            found.append((mark.level, ours[0]))
    return found


def _same(ours: str, title: str) -> bool:
    return letters(ours) == letters(title) != ""


def scores_of(manual: Manual, pages: list[Page]) -> LevelScores:
    found = levels_found(manual, pages)
    steps = [(_sign(b[0] - a[0]), _sign(b[1] - a[1])) for a, b in pairwise(found)]
    shifts = Counter(ours - truth for truth, ours in found)
    return LevelScores(
        bookmarks=len(manual.bookmarks),
        found=len(found),
        pairs=len(steps),
        right_pairs=sum(truth == ours for truth, ours in steps),
        exact=max(shifts.values(), default=0),
    )


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for path in sorted(args.folder.glob("*.pdf")):
        manual = manual_of(path, args.pages)
        if manual is not None:
            rows[path.stem] = scores_of(manual, pages_of(manual, args.keep)).told()
            print(path.stem, {name: round(value, 3) for name, value in rows[path.stem].items()}, flush=True)
    means = {
        name: round(sum(row[name] for row in rows.values()) / max(1, len(rows)), 4)
        for name in ("found", "order", "exact")
    }
    finish("heading_levels", manuals=len(rows), **means, each=rows)


if __name__ == "__main__":
    main()

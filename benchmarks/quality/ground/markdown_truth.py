"""Pages whose truth is Markdown: manuals, papers, pages typeset by us, and those as scans and turned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.quality.ground.sample import Sample, Truth
from penstock_eval.metrics.pipe_tables import with_html_tables
from penstock_eval.omnidocbench.truth import TrueElement

BORN_DIGITAL = ("debian_multilang", "jose_papers", "rendered_korean", "rendered_multilang")
TURNED_OF = ("debian_multilang", "rendered_korean", "rendered_multilang", "jose_papers")
ANGLES = (90, 180, 270, 92, 268)  # the last two are tilted, too
_PAGE = re.compile(r"^(?P<document>.+)\.p(?P<page>\d+)(?P<rest>\.\w+)?$")
_FENCE = re.compile(r"^```.*?^```\s*$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")


def born_digital(data: Path, source: str) -> Iterator[Sample]:
    for truth in sorted((data / source).glob("*.p[0-9]*.md")):
        if found := _PAGE.match(truth.stem):
            document = found["document"]
            pdf = data / source / f"{document}.pdf"
            yield Sample(source, document, pdf, int(found["page"]) - 1, partial(read, truth))


def degraded(data: Path, source: str) -> Iterator[Sample]:
    for truth in sorted((data / source).glob("*.md")):
        if found := _PAGE.match(truth.stem):
            yield Sample(source, found["document"], truth.with_suffix(".jpg"), None, partial(read, truth))


def whole_files(data: Path, source: str) -> Iterator[Sample]:
    """Only files of one page: the truth of the others does not say where a page ends."""
    for name in ("SPARSE-2024-INV-1234_borderless_table", "movie-theater-booking-2024"):
        truth = data / source / f"{name}.md"
        if truth.is_file():
            yield Sample(source, name, truth.with_suffix(".pdf"), 0, partial(read, truth))


def turned(data: Path, source: str) -> Iterator[Sample]:
    """Pages of PDFs as pictures, turned by quarters, some with a tilt."""
    samples = [sample for name in TURNED_OF for sample in born_digital(data, name)]
    for place, sample in enumerate(sorted(samples, key=lambda each: each.key)):
        angle = ANGLES[place % len(ANGLES)]
        upright = partial(_upright, sample)
        yield Sample(source, sample.document, sample.path, sample.part, upright, turned=angle)


def _upright(sample: Sample) -> Truth:
    truth = sample.truth()
    return Truth(upright=" ".join(element.text or element.html for element in truth.elements))


def read(file: Path) -> Truth:
    text = with_html_tables(file.read_text(encoding="utf-8"))
    elements = tuple(element(block, order) for order, block in enumerate(blocks(text), 1))
    headings = tuple(e.text for e in elements if e.category == "title")
    return Truth(elements=elements, complete=True, headings=headings)


def blocks(text: str) -> list[str]:
    """Returns the Markdown's blocks; code and tables are one each, whatever lines they hold."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\n\n\x00{len(kept) - 1}\x00\n\n"

    marked = _TABLE.sub(keep, _FENCE.sub(keep, text))
    parts = [part.strip() for part in re.split(r"\n\s*\n", marked) if part.strip()]
    return [kept[int(part.strip("\x00"))] if part.startswith("\x00") else part for part in parts]


def element(block: str, order: int) -> TrueElement:
    if block.startswith("<table"):
        return TrueElement("table", order, html=block)
    if block.startswith("```"):
        return TrueElement("text_block", order, "\n".join(block.splitlines()[1:-1]))
    if heading := _HEADING.match(block):
        return TrueElement("title", order, heading[1])
    if block.startswith("$$"):
        return TrueElement("equation_isolated", order, latex=block)
    return TrueElement("text_block", order, re.sub(r"^[-*]\s+", "", block))

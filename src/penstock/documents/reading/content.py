"""Makes a region's content from its lines: paragraphs, tables with drawn cells, what a picture says.

Takes plain lines from whoever read them. Not here: tables without drawn cells, which a model reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.box import Box
from penstock.documents.confidence.signals import as_line, mean_confidence, signals_of
from penstock.documents.reading.running_text import is_prose
from penstock.documents.tables.from_words import cells_of_layer
from penstock.documents.tables.html import with_cells
from penstock.documents.text.code import code_text
from penstock.documents.text.paragraph_breaks import split_paragraphs
from penstock.documents.text.paragraphs import join_lines
from penstock.documents.text.text_layer import lines_from
from penstock.region import FORMULA_LABELS, PICTURE_LABELS, Line, Region, TextLine, Word
from penstock.scripts import is_unspaced

# what may be several paragraphs, a list or lines set apart; titles and captions are one text
PARTED = frozenset({"text", "abstract", "footnote", "reference", "reference_content", "vision_footnote"})
TALL = 3.0  # times as high as wide: a column of glyphs
MAX_DOTS = 8  # words of nothing but dots that a table may have without being full of leaders
FORMULA_NOTE = "The built-in model could not read this formula; the crop is kept. A GPU recipe may read it."


def with_texts(region: Region, words: Sequence[Word], read: Sequence[TextLine]) -> Region:
    """The region with the lines of the layer and of the engines, who read them and how surely."""
    read = [line for line in read if line.text.strip()]
    from_layer = lines_from(words)
    from_engines = [as_line(line) for line in read]
    if _is_vertical(from_engines):
        from_engines.sort(key=lambda line: -line.box[2])
    lines = from_layer + from_engines
    if from_layer and from_engines:
        lines.sort(key=lambda line: (line.box[1] + line.box[3], line.box[0]))
    readers = dict.fromkeys((["layer"] if from_layer else []) + [line.reader for line in read])
    return replace(
        region, lines=tuple(lines), reader="+".join(readers), confidence=mean_confidence(lines),
        signals=signals_of(read),
    )  # fmt: skip


def _is_vertical(lines: Sequence[Line]) -> bool:
    """Whether most lines are columns of Chinese or Japanese, which are read from the right."""
    columns = [
        line
        for line in lines
        if line.box[3] - line.box[1] > TALL * (line.box[2] - line.box[0]) and is_unspaced(line.text[0])
    ]
    return len(columns) > 1 and 2 * len(columns) > len(lines)


def with_content(region: Region) -> Region | None:
    """The region with its lines as content, or None for a text region without lines."""
    if region.label in PICTURE_LABELS:
        text = "\n".join(line.text for line in region.lines)
        return replace(region, content=text or None)
    if region.label in FORMULA_LABELS and not is_prose(region.lines):
        return replace(region, content=None, note=FORMULA_NOTE)
    if not region.lines:
        return None
    label = "text" if region.label in FORMULA_LABELS else region.label
    if label == "algorithm":
        return replace(region, content=code_text(region.lines))
    if label == "content":  # a table of contents is its lines
        return replace(region, content="\n".join(line.text for line in region.lines))
    parts = split_paragraphs(region.lines) if label in PARTED else [region.lines]
    return replace(region, label=label, content="\n".join(join_lines(part) for part in parts))


def with_cells_of_layer(region: Region, words: Sequence[Word], strokes: Sequence[Box]) -> Region | None:
    """A table by the lines drawn around its cells, or by its words; None where neither shows columns."""
    cells = words and cells_of_layer(region.box, words, strokes)
    return with_cells(replace(region, reader="layer"), cells) if cells else None


def without_leaders(words: Sequence[Word]) -> Sequence[Word]:
    """The words of a table without the dots that lead from a row's name to its figures."""
    others = [word for word in words if word.text.strip(".·…")]
    return others if len(words) - len(others) > MAX_DOTS else words

"""Reads a grounded answer of DeepSeek-OCR or its kin: labelled blocks with boxes and content.

    for block in read_grounded(answer).blocks:
        print(block.label, block.box, block.content)

Tolerates what real answers show: a table's body after its caption's anchor, several boxes, marks that
are cut off, other scales, text without a mark, loops. Nothing a model wrote is evaluated or given to an
HTML parser. Never raises; time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.documents.grounding.anchors import Anchor, Dialect, find_anchors
from penstock.documents.grounding.grid import GridBox, Quads, around, in_pixels, on_grid, quads
from penstock.documents.grounding.repetition import cut_lines, cut_tail, runs
from penstock.documents.text.runs import runs_of

MAX_ANSWER = 400_000  # characters; 8,192 tokens are some 30,000
MAX_ALIKE = 3  # equal blocks in a row; a fourth is a loop
MAX_LABEL = 40

# Labels seen in answers and in the parsers others wrote for them.
LABELS = frozenset({
    "title", "sub_title", "text", "table", "table_caption", "table_footnote", "image", "image_caption",
    "image_footnote", "figure", "figure_caption", "equation", "formula", "header", "footer", "chart",
    "chart_caption", "page_number", "list", "reference", "code", "seal", "footnote", "abstract", "caption",
})  # fmt: skip
HEADINGS = frozenset({"title", "sub_title"})
VISUALS = frozenset({"image", "figure", "chart", "seal"})
CAPTIONS = frozenset({"table_caption", "image_caption", "figure_caption", "chart_caption", "caption"})
NOTES = frozenset({"table_footnote", "image_footnote", "footnote"})
_NEEDS_TEXT = LABELS - VISUALS - {"table"}


@dataclass(frozen=True, slots=True)
class Grounded:
    """One block. `box` is on the 0..999 grid; `label` is "" for text that no anchor claims.

    `level` counts the `#` of a heading, 0 where there is none.
    """

    label: str
    content: str
    boxes: tuple[GridBox, ...] = ()
    level: int = 0
    issues: tuple[str, ...] = ()

    @property
    def box(self) -> GridBox:
        return around(self.boxes)


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """A whole answer, understood. `issues` holds those of the page; blocks have their own."""

    dialect: Dialect
    blocks: tuple[Grounded, ...]
    issues: tuple[str, ...] = ()

    @property
    def looped(self) -> bool:
        return "loop" in self.issues


def read_grounded(text: str, width: int = 0, height: int = 0, names_words: bool = False) -> GroundedAnswer:
    """Returns the blocks of an answer in its order. The picture's size tells pixel boxes from grid boxes.

    With `names_words` an anchor names words of the page and never a class: "table" is then a word.
    """
    text, looped = cut_tail(text[:MAX_ANSWER])
    dialect, anchors = find_anchors(text)
    read = [quads(anchor.numbers) for anchor in anchors]
    pixels = in_pixels([box for each in read for box in each.boxes], width, height)
    scale = (float(width), float(height)) if pixels else None
    blocks = [_block(anchor, each, scale, names_words) for anchor, each in zip(anchors, read, strict=True)]
    blocks, collapsed = _without_runs([piece for stack in _stacks(blocks) for piece in _spread(stack)])
    kept = tuple(_without_copies(_tidy(block) for block in blocks))
    issues = ("loop",) if looped or collapsed or any("loop" in block.issues for block in kept) else ()
    return GroundedAnswer(dialect, kept, issues)


def _block(
    anchor: Anchor, read: Quads, scale: tuple[float, float] | None, names_words: bool = False
) -> Grounded:
    issues = list(anchor.issues)
    boxes = []
    for box in read.boxes:
        placed, wrong = on_grid(box, scale)
        boxes.append(placed)
        issues += wrong
    if read.rest or (anchor.numbers.strip() and not boxes):
        issues.append("partial_box")
    label, said = ("text", anchor.label.strip()) if names_words and anchor.label else _label(anchor.label)
    content = anchor.content if not said else f"{said}\n{anchor.content}"
    return Grounded(label, content.strip(), tuple(boxes), 0, tuple(dict.fromkeys(issues)))


_CLASS = re.compile(r"[a-z][a-z_]{1,23}")


def _label(written: str | None) -> tuple[str, str]:
    """Returns the label, and the sentence that came in its place: "OCR this image" writes text there."""
    if written is None:
        return "", ""
    name = re.sub(r"[\s\-]+", "_", written.strip()[:MAX_LABEL].lower())
    if name in LABELS:
        return name, ""
    if _CLASS.fullmatch(written.strip()):
        return name, ""
    return "text", written.strip()


def _stacks(blocks: list[Grounded]) -> list[list[Grounded]]:
    """Anchors that follow each other without content, with the one that has it, are read together."""
    return runs_of(blocks, lambda stack, block: not stack[-1].content and stack[-1].label != "")


_TABLE_START = re.compile(r"<table\b|^\|.*\|[ \t]*$", re.IGNORECASE | re.MULTILINE)
_TABLE_END = re.compile(r"</table\s*>", re.IGNORECASE)


def _spread(stack: list[Grounded]) -> list[Grounded]:
    """Gives the last anchor's content to those of its stack that it belongs to."""
    last = stack[-1]
    table = next((i for i, block in enumerate(stack) if block.label == "table"), None)
    if table is None and any(block.label == "chart" for block in stack) and _TABLE_START.search(last.content):
        table = next(i for i, block in enumerate(stack) if block.label == "chart")
    if table is not None and last.content:
        return _spread_table(stack, table)
    if len(stack) > 1 and last.content:
        return _spread_heading(stack)
    return stack


def _spread_heading(stack: list[Grounded]) -> list[Grounded]:
    """`title`, `text`, then "# Title" and the text: the first line is the title's."""
    first, last = stack[0], stack[-1]
    line, _, rest = last.content.partition("\n")
    if first.label in HEADINGS and last.label not in HEADINGS and line.startswith("#"):
        return [replace(first, content=line), *stack[1:-1], replace(last, content=rest.strip())]
    return stack


def _spread_table(stack: list[Grounded], place: int) -> list[Grounded]:
    """Caption, body and footnote out of one content. The body goes to the table wherever it was."""
    before, bodies, after = _table_parts(stack[-1].content)
    if not bodies:
        return _spread_paragraphs(stack, place)
    pieces = [replace(block, content="") for block in stack]
    pieces[place] = replace(pieces[place], content=bodies[0])
    loose = _give(pieces, before, CAPTIONS) + _give(pieces, after, NOTES)
    more = [replace(pieces[place], content=body) for body in bodies[1:]]
    owner = pieces[place].boxes
    return [*pieces, *more, *(Grounded("", text, owner, 0, ("beside_table",)) for text in loose)]


def _give(pieces: list[Grounded], text: str, labels: frozenset[str]) -> list[str]:
    """Puts `text` into the first empty piece with one of `labels`; returns it where there is none."""
    if not text:
        return []
    for place, piece in enumerate(pieces):
        if piece.label in labels and not piece.content:
            pieces[place] = replace(piece, content=text)
            return []
    return [text]


def _spread_paragraphs(stack: list[Grounded], place: int) -> list[Grounded]:
    """Splits a table written as plain text: its first paragraph is the caption, the rest the table."""
    last = stack[-1]
    first, gap, rest = last.content.partition("\n\n")
    if place == len(stack) - 1 or last.label not in CAPTIONS or not gap:
        return stack
    pieces = [*stack[:-1], replace(last, content=first.strip())]
    pieces[place] = replace(pieces[place], content=rest.strip())
    return pieces


def _table_parts(content: str) -> tuple[str, list[str], str]:
    """Returns what stands before the first table, the tables, and all other text."""
    start = _TABLE_START.search(content)
    if start is None:
        return content, [], ""
    if not content.startswith("<", start.start()):
        return _pipe_parts(content, start.start())
    bodies, others, at = [], [], start.start()
    lower = content.lower()
    if len(lower) != len(content):  # a few capitals grow when lowered: then their places differ
        lower = content
    while at < len(content):
        end = _TABLE_END.search(content, at)
        stop = end.end() if end else len(content)
        bodies.append(content[at:stop].strip())
        again = lower.find("<table", stop) if end else -1
        others.append(content[stop : again if again >= 0 else len(content)].strip())
        at = again if again >= 0 else len(content)
    return content[: start.start()].strip(), bodies, "\n\n".join(text for text in others if text)


def _pipe_parts(content: str, start: int) -> tuple[str, list[str], str]:
    lines = content[start:].split("\n")
    count = next((i for i, line in enumerate(lines) if not line.lstrip().startswith("|")), len(lines))
    return content[:start].strip(), ["\n".join(lines[:count])], "\n".join(lines[count:]).strip()


def _without_runs(blocks: list[Grounded]) -> tuple[list[Grounded], bool]:
    """Equal blocks in a row, more than any page has, are a loop: one is kept."""
    kept: list[Grounded] = []
    cut = False
    for start, length in runs([(block.label, block.content) for block in blocks]):
        loop = length > MAX_ALIKE and (bool(blocks[start].content) or length > 4 * MAX_ALIKE)
        cut = cut or loop
        first = blocks[start]
        kept += [replace(first, issues=(*first.issues, "loop"))] if loop else blocks[start : start + length]
    return kept, cut


_HEAD = re.compile(r"(#{1,6})\s+")
_CENTRE = re.compile(r"</?center>", re.IGNORECASE)
_WRAPS = (("\\[", "\\]"), ("$$", "$$"))
_CUT_TAG = re.compile(r"<[^<>]{0,60}$")
_WORDS = (("\\coloneqq", ":="), ("\\eqqcolon", "=:"))  # not known to KaTeX; the authors' own repair


def _tidy(block: Grounded) -> Grounded:
    """Content as its label wants it: headings without `#`, captions without tags, tables closed."""
    content, looped = cut_lines(block.content)
    level, issues = 0, (*block.issues, "loop") if looped else block.issues
    if block.label in HEADINGS:
        head = _HEAD.match(content)
        level, content = (len(head[1]), content[head.end() :]) if head else (0, content)
        content = " ".join(content.split())
    elif block.label in CAPTIONS | NOTES:
        content = " ".join(_CENTRE.sub(" ", content).split())
    elif block.label in ("equation", "formula"):
        content = _formula(content)
    elif block.label in ("table", "chart") and content[:6].lower() == "<table":
        content, closed = _closed(content)
        issues = issues if closed else (*issues, "cut_table")
    if content == block.content and issues is block.issues:
        return block
    return replace(block, content=content, level=level, issues=tuple(dict.fromkeys(issues)))


def _formula(content: str) -> str:
    for old, new in _WORDS:
        content = content.replace(old, new)
    content = content.strip()
    for start, end in _WRAPS:
        if content.startswith(start):
            content = content.removeprefix(start).removesuffix(end).strip()
    return content


def _closed(html: str) -> tuple[str, bool]:
    if _TABLE_END.search(html[-12:]):
        return html, True
    return _CUT_TAG.sub("", html) + "</table>", False


def _without_copies(blocks: Iterable[Grounded]) -> list[Grounded]:
    """Leaves out text without a word, and repeated lines that their own block already holds."""
    kept: list[Grounded] = []
    seen: dict[str, list[GridBox]] = {}
    for block in blocks:
        if not block.content and (block.label in _NEEDS_TEXT or not block.boxes):
            continue
        key = _one_line(block.content)
        if len(key) >= 8 and any(_holds(box, block.box) for box in seen.get(key, ())):
            continue
        if block.boxes:
            lines = {key} if "\n" not in block.content else {key, *map(_one_line, block.content.split("\n"))}
            for line in lines:
                if len(line) >= 8 and len(places := seen.setdefault(line, [])) < 8:
                    places.append(block.box)
        kept.append(block)
    return kept


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _holds(outer: GridBox, inner: GridBox) -> bool:
    """Returns whether four fifths of `inner` lie in `outer`."""
    width = min(outer[2], inner[2]) - max(outer[0], inner[0])
    height = min(outer[3], inner[3]) - max(outer[1], inner[1])
    area = (inner[2] - inner[0]) * (inner[3] - inner[1])
    return width > 0 and height > 0 and width * height >= 0.8 * area

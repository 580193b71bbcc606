"""Finds notes, comments and hidden sheets in a Markdown, and takes them out.

Where they stand is the tool's choice: at their place, at the end of a page, at the end of the file. So the
body is compared without them, and whether they were kept is a score of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from penstock_eval.metrics.invented import letters_of
from penstock_eval.metrics.markdown_pieces import in_one_form, top_tables

FOUND = "\ue000"  # of the private use area: no document has it
MAX_LABEL = 40  # letters of "Comment by A. Reviewer, 2024-01-02:"
OF_HIDDEN = 0.5  # of a table's cells: numbers may be written as they are stored
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)$")


@dataclass(frozen=True, slots=True)
class AsidesFound:
    """`rest` is the Markdown without the asides; `kept` the share of each aside that was there."""

    rest: str
    kept: tuple[float, ...]


def without_asides(markdown: str, asides: Sequence[Sequence[str]], body: str) -> AsidesFound:
    """Takes out asides, each given by its pieces, and headings over nothing else that `body` lacks."""
    text = in_one_form(markdown)
    kept = []
    for pieces in asides:
        if len(pieces) == 1:
            text, count = _pattern(pieces[0]).subn(FOUND, text, count=1)
            kept.append(float(count))
        else:
            text, share = _without_sheet(text, pieces)
            kept.append(share)
    return AsidesFound(_without_labels(text, letters_of(body)), tuple(kept))


def _pattern(piece: str) -> re.Pattern[str]:
    return re.compile(r"[\W_]+".join(map(re.escape, _WORD.findall(piece))) + r"[.。]?", re.IGNORECASE)


def _without_sheet(text: str, pieces: Sequence[str]) -> tuple[str, float]:
    """Takes out the tables whose cells are a hidden sheet's, and the line with its name."""
    known = {letters_of(piece) for piece in pieces}
    found: set[str] = set()
    for table in top_tables(text):
        cells = {letters_of(cell.get_text(" ")) for cell in table.find_all(("td", "th"))} - {""}
        if cells and len(cells & known) >= OF_HIDDEN * min(len(cells), len(known)) and len(cells & known) > 1:
            found |= cells & known
            text = _cut_table(text, cells)
    lines = []
    for line in text.splitlines():
        letters = letters_of(line)
        is_name = bool(letters) and len(letters) < len(letters_of(pieces[0])) + MAX_LABEL
        if is_name and letters_of(pieces[0]) in letters:
            found.add(letters_of(pieces[0]))
            line = FOUND
        lines.append(line)
    return "\n".join(lines), len(found) / len(known)


def _cut_table(text: str, cells: set[str]) -> str:
    for table in re.finditer(r"<table\b.*?</table\s*>", text, re.IGNORECASE | re.DOTALL):
        inside = {
            letters_of(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", table[0], re.DOTALL)
        } - {""}
        if inside == cells:
            return text[: table.start()] + f"\n{FOUND}\n" + text[table.end() :]
    return text


def _without_labels(text: str, body: str) -> str:
    """Drops lines that held nothing but an aside and its label, and headings over nothing but such lines."""
    lines: list[str | None] = []
    for line in text.splitlines():
        if FOUND not in line:
            lines.append(line)
            continue
        left = line.replace(FOUND, "")
        lines.append(None if len(letters_of(left)) <= MAX_LABEL and "<td" not in left else left)
    kept: list[str] = []
    for text_line in lines:
        if text_line is not None:
            kept.append(text_line)
            continue
        while kept and not kept[-1].strip():
            kept.pop()
        heading = _HEADING.match(kept[-1]) if kept else None
        if heading and letters_of(heading[1]) not in body:
            kept.pop()
    return "\n".join(kept)

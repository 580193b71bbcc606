"""The head of a table, which a page shows again where the table goes on: no text of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.documents.text.alignment import letters_of
from penstock.region import TableCell, Word

Claimed = list[tuple[int, ...]]  # the words of each cell


def head_of(cells: Sequence[TableCell]) -> tuple[TableCell, ...]:
    """Returns the cells of the heading rows at the top."""
    body = min((cell.row for cell in cells if not cell.is_header), default=0)
    return tuple(cell for cell in cells if cell.is_header and cell.row + cell.row_span <= body)


def words_of_head(
    head: Sequence[TableCell], words: Sequence[Word], below: float, taken: Collection[int]
) -> Claimed | None:
    """Returns the words that say the head again above `below`; None where they do not."""
    text, owners = "", list[int]()
    for number, word in enumerate(words):
        if number not in taken and word.box[1] < below:
            codes, _ = letters_of(word.text)
            text += "".join(map(chr, codes))
            owners += [number] * len(codes)
    cells = ["".join(map(chr, letters_of(cell.text)[0])) for cell in head]
    place = text.rfind("".join(cells))
    if place < 0 or not any(cells):
        return None
    claimed: Claimed = []
    for cell in cells:
        claimed.append(tuple(dict.fromkeys(owners[place : place + len(cell)])))
        place += len(cell)
    return claimed

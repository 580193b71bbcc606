"""Measures how much of a prediction the page does not hold: invented and repeated text.

Official document scores match predictions to truths and drop what is left, so text that a model
makes up costs nothing: two false paragraphs on every OmniDocBench demo page move v1.5's text score
by 0.0002. This cuts the prediction into pieces of some 40 letters; a piece that occurs nowhere in the
page's truth, not even with half of it misread, is invented.

Limit: few truths hold the text inside figures, so a model that reads it scores worse.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from penstock_eval.metrics.near_match import occurs_nearly

PIECE_LETTERS = 40  # half a line of print; shorter pieces of English match by chance, longer ones mix
MIN_LETTERS = 6  # page numbers and labels are too short to tell
NEAR = 0.5  # unrelated English pieces of 40 letters lie over 0.6 apart, misread ones under 0.4
MAX_EXAMPLES = 5

_NOT_LETTER = re.compile(r"[\W_]+")
_TAG = re.compile(r"<[^>]{1,200}>")


@dataclass(frozen=True, slots=True)
class InventedScore:
    """Shares of the predicted letters, 0 to 1, and the first invented pieces to show."""

    invented: float
    repeated: float
    letters: int
    examples: tuple[str, ...] = ()


def invented_content(truth: Iterable[str], predicted: Iterable[str]) -> InventedScore:
    """Compares the blocks of a predicted page with all text that the page has."""
    known = letters_of(" ".join(truth))
    pieces = [piece for block in predicted for piece in _pieces(letters_of(block))]
    total = sum(len(piece) for piece in pieces)
    if total == 0:
        return InventedScore(0.0, 0.0, 0)
    new = {piece for piece in set(pieces) if not _known(piece, known)}
    invented = sum(len(piece) for piece in pieces if piece in new)
    repeated = _repeated([piece for piece in pieces if piece not in new], known)
    shown = tuple(dict.fromkeys(piece for piece in pieces if piece in new))[:MAX_EXAMPLES]
    return InventedScore(invented / total, repeated / total, total, shown)


def letters_of(text: str) -> str:
    """Letters and digits in one form: no case, no width, no punctuation, no spaces, no tags."""
    folded = unicodedata.normalize("NFKC", _TAG.sub(" ", text)).casefold()
    return _NOT_LETTER.sub("", folded)


def _pieces(letters: str) -> list[str]:
    """Cuts letters into pieces of about equal length."""
    count = max(1, round(len(letters) / PIECE_LETTERS))
    cuts = [len(letters) * i // count for i in range(count + 1)]
    return [letters[a:b] for a, b in pairwise(cuts) if b > a]


def _known(piece: str, known: str) -> bool:
    if piece in known:
        return True
    if len(piece) < MIN_LETTERS:
        return True
    return occurs_nearly(piece, known.ljust(len(piece)), NEAR)


def _repeated(pieces: Sequence[str], known: str) -> int:
    """Letters in copies of a piece beyond those the truth has."""
    counts = Counter(piece for piece in pieces if len(piece) >= PIECE_LETTERS // 2)
    return sum(
        len(piece) * max(0, count - max(1, known.count(piece)))
        for piece, count in counts.items()
        if count > 1
    )

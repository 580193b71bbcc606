"""How far two readers agree on a text: its letters, its runs of digits, its kinds of letters.

agreement("Total 12.50", "Total 12.60")  # 0.9
digits_agreed("Total 12.50", "Total 12.60")  # 0.0
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

MAX_COMPARED = 20_000  # letters; the time grows with the square: 0.3 s
_NUMBER = re.compile(r"\d(?:[\d.,:/\-]*\d)?")
_TAG = re.compile(r"<[^<>]{0,200}>")


def plain(text: str) -> str:
    """Returns what is compared: composed letters without tags and spaces."""
    return "".join(unicodedata.normalize("NFKC", _TAG.sub(" ", text)).split())


def agreement(text: str, other: str) -> float:
    """Returns 1 less the edit distance, as a part of the longer text. Spaces do not count."""
    a, b = plain(text)[:MAX_COMPARED], plain(other)[:MAX_COMPARED]
    longer = max(len(a), len(b))
    return 1.0 - distance(a, b) / longer if longer else 1.0


def distance(a: str, b: str, within: bool = False) -> int:
    """Returns the edit distance, or with `within` that of `a` to the part of `b` that is nearest to it.

    One step a letter of `b`, on integers with a bit for each letter of `a`.
    """
    if not a:
        return 0 if within else len(b)
    masks: dict[str, int] = {}
    for place, letter in enumerate(a):
        masks[letter] = masks.get(letter, 0) | 1 << place
    every, last = (1 << len(a)) - 1, 1 << len(a) - 1
    up, down, score, best = every, 0, len(a), len(a)
    for letter in b:
        same = masks.get(letter, 0)
        straight = (((same & up) + up) ^ up) | same | down
        right, left = down | (every & ~(straight | up)), up & straight
        score += (right & last != 0) - (left & last != 0)
        right = right << 1 | (0 if within else 1)
        up = (left << 1 & every) | (every & ~((same | down) | right))
        down = right & (same | down) & every
        best = min(best, score)
    return best if within else score


def numbers(text: str) -> Counter[str]:
    """Returns the numbers of a text: amounts, dates, hours."""
    return Counter(_NUMBER.findall(unicodedata.normalize("NFKC", _TAG.sub(" ", text))))


def digits_agreed(text: str, other: str) -> float | None:
    """Returns the part of the text's numbers that the other reader read, too; None where it has none."""
    own = numbers(text)
    return (own & numbers(other)).total() / own.total() if own else None


def script_agreed(text: str, other: str) -> float | None:
    """Returns the part of the text's letters that are of kinds of which the other has as many or more."""
    own, others = _scripts(text), _scripts(other)
    return (own & others).total() / own.total() if own else None


def _scripts(text: str) -> Counter[str]:
    return Counter(_script(letter) for letter in plain(text) if letter.isalpha())


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split()[0]

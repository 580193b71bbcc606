"""What a decoder wrote: whether it ran in circles, whether its braces close, how people would write it."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_PERIOD = 24  # tokens of the longest piece that is looked for again
MIN_REPEATED = 36  # tokens; a matrix of zeros repeats less
MIN_REPEATS = 4

_AROUND = re.compile(r" ?([{^_]) ?| (?=})")
_UPRIGHT = re.compile(r"\\(?:mathrm|mathtt|mathsf|text|operatorname)\{[^{}\\]*\}")  # words, letter by letter
_BETWEEN = re.compile(r"(?<=\d) (?=\d)|(?<=\d) (?=\. \d)|(?<=\d \.) (?=\d)| (?=,)")  # 4 2 . 1 is 42.1


def repeats(tokens: Sequence[int]) -> int:
    """Returns how many tokens at the end only repeat the piece before them; 0 when they do not."""
    for period in range(1, MAX_PERIOD + 1):
        needed = max(MIN_REPEATED, MIN_REPEATS * period)
        if len(tokens) < needed:
            return 0
        tail = tokens[-needed:]
        if all(tail[at] == tail[at - period] for at in range(period, needed)):
            return _whole_run(tokens, period) - period
    return 0


def _whole_run(tokens: Sequence[int], period: int) -> int:
    """Tokens at the end that have this period."""
    count = period
    while count < len(tokens) and tokens[-count - 1] == tokens[-count - 1 + period]:
        count += 1
    return count


def closes(words: Sequence[str]) -> bool:
    """Whether braces, fences and environments close in the order in which they open."""
    waiting: list[str] = []
    for word in words:
        if word == "{":
            waiting.append("}")
        elif word.startswith(r"\begin{"):
            waiting.append(rf"\end{word[6:]}")
        elif word.startswith(r"\left") and not word[5:6].isalpha():
            waiting.append(r"\right")
        elif word == "}" or word.startswith(r"\end{") or _is_right(word):
            wanted = waiting.pop() if waiting else ""
            if word != wanted and not (wanted == r"\right" and word.startswith(r"\right")):
                return False
    return not waiting


def _is_right(word: str) -> bool:
    r"""Whether the word is \right with its fence, not \rightarrow."""
    return word.startswith(r"\right") and word[6:7] != "" and (not word[6].isalpha())


def compact(latex: str) -> str:
    r"""Writes tokens as people write them: `\frac { 1 2 } { x ^ { 2 } }` becomes `\frac{12}{x^{2}}`."""
    tight = _AROUND.sub(r"\1", latex)
    return _BETWEEN.sub("", _UPRIGHT.sub(lambda found: found[0].replace(" ", ""), tight))

"""Finds where a text repeats itself: what a model wrote over and over.

A text that loops ends in a unit repeated over and over. `LoopWatch.feed` takes each new piece of a text that
is still arriving and returns True once the repetition is longer than any document would contain. The cost is
linear in the text: each time the tail has grown by half a window, the prefix function of Knuth, Morris and
Pratt gives the shortest period of every tail in one pass.

    watch = LoopWatch()
    for piece in stream:
        if watch.feed(piece):
            text = watch.kept()      # up to the loop, with one copy of what repeats
            break

Does not clean finished text that repeats in its middle: a loop never ends by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

# A window finds units up to a tenth or a quarter of it (see Patience); each is looked at when the text
# has grown by half of it, so all of them together cost 2 * len(WINDOWS) steps a character.
WINDOWS = (2_048, 16_384)
TAIL = 64  # characters; a loop is at least 1,024 long and four copies, so its last 64 stand in it twice

_MARKUP = re.compile(r"<[^<>]*>")
_TORN = re.compile(r"^[^<>]*>|<[^<>]*$")  # the ends of a tag that the cut went through
_SAYS_SOMETHING = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Patience:
    """How much repetition a document may contain before it counts as a loop.

    The GLM-OCR SDK cuts units of 10 characters and more after 10 copies, in texts over 2,048
    characters. A unit that says nothing (dot leaders, blank cells of a form) is common on paper and
    harmless, so it gets more room; a long paragraph needs fewer copies.
    """

    copies: int = 10
    characters: int = 1_024
    long_copies: int = 4
    long_characters: int = 4_096
    blank_characters: int = 4_096

    def is_loop(self, period: int, length: int, says: bool) -> bool:
        """Whether `length` characters of period `period` are a loop; `says` if they say something."""
        copies = length / period
        if not says:
            return length >= self.blank_characters and copies >= self.copies
        if copies >= self.copies:
            return length >= self.characters
        return copies >= self.long_copies and length >= self.long_characters


@dataclass(frozen=True, slots=True, order=True)
class Loop:
    """From `start` on, the text is copies of the `period` characters that stand there."""

    start: int
    period: int


DEFAULT_PATIENCE = Patience()


class LoopWatch:
    """Watches one text grow. `feed` returns True from the moment the text loops."""

    def __init__(self, patience: Patience = DEFAULT_PATIENCE) -> None:
        self.loop: Loop | None = None
        self._patience = patience
        self._pieces: list[str] = []
        self._tail = ""  # the end of the text as it was looked at last, and what came since
        self._since: list[str] = []
        self._length = 0
        self._next = [window // 2 for window in WINDOWS]

    def feed(self, piece: str) -> bool:
        self._pieces.append(piece)
        self._since.append(piece)
        self._length += len(piece)
        if self.loop is None:
            for level, window in enumerate(WINDOWS):
                if self._length >= self._next[level]:
                    self._next[level] = self._length + window // 2
                    self._look(window)
        return self.loop is not None

    def text(self) -> str:
        if len(self._pieces) != 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def kept(self) -> str:
        """The text up to the loop with one copy of its unit; all of it if there is no loop."""
        text = self.text()
        return text if self.loop is None else text[: self.loop.start + self.loop.period]

    def _look(self, window: int) -> None:
        # only the end is put together here: all of it each time took 90 s for an answer of 12 MB
        self._tail, self._since = "".join((self._tail, *self._since))[-WINDOWS[-1] :], []
        if self.loop is None and find_loop(self._tail[-window:], self._patience) is not None:
            self.loop = find_loop_near_end(self.text(), window, self._patience)


def find_loop(text: str, patience: Patience = DEFAULT_PATIENCE) -> Loop | None:
    """The longest tail of `text` that counts as a loop, or None. Linear in the text."""
    if text.find(text[-TAIL:], 0, len(text) - 1) < 0:  # nothing ends as it ended before: almost all texts
        return None
    periods = _periods(text[::-1])
    says: dict[int, bool] = {}  # the copies of one unit say the same wherever they are cut
    for length in range(len(text), patience.characters - 1, -1):
        period = periods[length - 1]
        if length < patience.long_copies * period:
            continue
        start = len(text) - length
        if period not in says:
            says[period] = says_something(text[start : start + period])
        if patience.is_loop(period, length, says[period]):
            return Loop(start, period)
    return None


def cut(text: str, patience: Patience = DEFAULT_PATIENCE) -> tuple[str, bool]:
    """Returns a finished text without the loop it ends in, and whether there was one."""
    watch = LoopWatch(patience)
    for start in range(0, len(text), 1_024):
        if watch.feed(text[start : start + 1_024]):
            return watch.kept(), True
    return cut_near_end(text, WINDOWS[-1], patience)


def cut_near_end(text: str, window: int, patience: Patience) -> tuple[str, bool]:
    """Returns the text without the loop in its last `window` characters, and whether there was one."""
    found = find_loop_near_end(text, window, patience)
    return (text, False) if found is None else (text[: found.start + found.period], True)


def find_loop_near_end(text: str, window: int, patience: Patience) -> Loop | None:
    """Returns the loop that the last `window` characters end in. It may begin before them."""
    found = find_loop(text[-window:], patience)
    if found is None:
        return None
    start = max(0, len(text) - window) + found.start
    return Loop(start - num_alike_before(text, start, found.period), found.period)


def num_alike_after(text: str, at: int, period: int) -> int:
    """Returns how many characters from `at` on equal those a period later."""

    def alike(done: int, size: int) -> bool:
        left = at + done
        return text[left : left + size] == text[left + period : left + period + size]

    return _num_alike(alike, len(text) - at - period)


def num_alike_before(text: str, at: int, period: int) -> int:
    """Returns how many characters before `at` equal those a period later."""

    def alike(done: int, size: int) -> bool:
        right = at - done
        return text[right - size : right] == text[right - size + period : right + period]

    return _num_alike(alike, at)


def _num_alike(alike: Callable[[int, int], bool], most: int) -> int:
    """Returns how far two texts are alike: by slices of doubling size, which compare fast."""
    done, step = 0, 64
    while step:
        size = min(step, most - done)
        if size > 0 and alike(done, size):
            done += size
            step *= 2
        else:
            step = size // 2 if size > 0 else 0
    return done


def says_something(unit: str) -> bool:
    """Whether copies of `unit` hold a letter or digit outside of markup, wherever the unit was cut."""
    bare = _MARKUP.sub("", unit * 3)
    return _SAYS_SOMETHING.search(_TORN.sub("", bare)) is not None


def _periods(text: str) -> list[int]:
    """The shortest period of every beginning of `text`, by the prefix function."""
    border = [0] * len(text)
    matched = 0
    for i in range(1, len(text)):
        char = text[i]
        while matched and char != text[matched]:
            matched = border[matched - 1]
        if char == text[matched]:
            matched += 1
        border[i] = matched
    return [i + 1 - b for i, b in enumerate(border)]

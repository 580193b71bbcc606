"""Cuts repetition out of a finished text by the GLM-OCR SDK's rule, in near linear time.

The rule: ten or more copies in a row of a unit of ten or more characters end the text, which keeps what
came before and one copy; of all such places the first counts, and there the shortest unit. Failing
that, a text whose lines are mostly one and the same line ends with the first of three in a row.

The search looks at the text through windows of each size that doubles the last. A window that lies in a
repetition begins with a piece that comes again within it, and finding that is one `str.find`, so a clean
text of a megabyte costs a fraction of a second. See penstock/repetition.py for texts that are still
arriving and documents/grounding/repetition.py for other models' answers.
"""

from __future__ import annotations

from collections import Counter

from penstock.repetition import Loop, num_alike_after, num_alike_before

# numbers of the SDK
MIN_TEXT = 2_048  # characters; shorter texts are left alone
MIN_UNIT = 10
MIN_COPIES = 10
MIN_LINES = 10
MIN_SHARE = 0.8  # of the lines that say something
IN_A_ROW = 3

_STEP, _PREFIX, _WINDOW = 4, 4, 6  # in scales: ten copies of a unit hold one aligned window of six


def cut_repeats(text: str) -> str:
    """Returns the text up to its repetition with one copy of what repeats; all of it when nothing does."""
    if len(text) < MIN_TEXT:
        return text
    found = first_repetition(text.strip())
    if found is not None:
        return text.strip()[: found.start + found.period]
    return _cut_lines(text)


def first_repetition(text: str) -> Loop | None:
    """Returns the leftmost ten copies of ten characters or more, as the shortest unit that fits."""
    found: Loop | None = None
    scale = MIN_UNIT
    while scale * MIN_COPIES <= len(text):
        at_scale = _first_at(text, scale)
        if at_scale is not None and (found is None or at_scale < found):
            found = at_scale
        scale *= 2
    return found


def _first_at(text: str, scale: int) -> Loop | None:
    """Returns the first repetition of a unit of `scale` to twice as many characters."""
    for start in range(0, len(text) - _WINDOW * scale + 1, _STEP * scale):
        head = text[start : start + _PREFIX * scale]
        again = text.find(head, start + 1, start + _WINDOW * scale)
        if again < 0:
            continue
        found = _whole(text, start, again - start)
        if found is not None:
            return found
    return None


def _whole(text: str, inside: int, period: int) -> Loop | None:
    """Returns the repetition of this period around `inside`, or None where it is too short to count."""
    start = inside - num_alike_before(text, inside, period)
    length = inside + num_alike_after(text, inside, period) + period - start
    unit = period * -(-MIN_UNIT // period)  # several copies of a short one make a unit
    return Loop(start, unit) if length >= MIN_COPIES * unit else None


def _cut_lines(text: str) -> str:
    lines = text.split("\n")
    said = [(number, line.strip()) for number, line in enumerate(lines) if line.strip()]
    if len(said) < MIN_LINES:
        return text
    common, count = Counter(line for _, line in said).most_common(1)[0]
    if count < MIN_LINES or count / len(said) < MIN_SHARE:
        return text
    in_a_row = 0
    for place, (_, line) in enumerate(said):
        in_a_row = in_a_row + 1 if line == common else 0
        if in_a_row == IN_A_ROW:
            first = said[place - IN_A_ROW + 1][0]
            return "\n".join(lines[: first + 1])
    return text

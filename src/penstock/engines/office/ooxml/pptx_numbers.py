"""Numbers of lists on slides: PowerPoint writes how they look, and counts anew when it shows them."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from penstock.engines.office.ooxml.docx_parts import roman
from penstock.engines.office.package import attribute, child

MAX_START = 32767  # ECMA-376 part 1, 20.1.10.36
_FORM = re.compile(r"(alphaLc|alphaUc|arabic|romanLc|romanUc)(ParenBoth|ParenR|Period|Plain)")
_SHOWN = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Plain": "{}"}


class SlideNumbers:
    """Counts the paragraphs of one text body. One that is not numbered ends the list at its level."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[str, int]] = {}

    def next(self, settings: Element | None, depth: int) -> str:
        """Returns a paragraph's number as it is shown; "" for one without."""
        self._counts = {level: count for level, count in self._counts.items() if level <= depth}
        auto = child(settings, "buAutoNum")
        if auto is None:
            self._counts.pop(depth, None)
            return ""
        kind, start = attribute(auto, "type", "arabicPeriod"), attribute(auto, "startAt", "1")
        before, number = self._counts.get(depth, ("", 0))
        first = min(int(start), MAX_START) if start.isdecimal() and len(start) < 6 else 1
        number = number + 1 if before == kind else first
        self._counts[depth] = kind, number
        return _shown(kind, number)


def _shown(kind: str, number: int) -> str:
    form = _FORM.fullmatch(kind)
    if form is None:
        return f"{number}."
    text = str(number)
    if form[1].startswith("alpha"):
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif form[1].startswith("roman"):
        text = roman(number).lower()
    return _SHOWN[form[2]].format(text.upper() if form[1].endswith("Uc") else text)

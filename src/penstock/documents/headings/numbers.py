"""The numbers of headings, Korean and Western, and how they nest.

Numbers rank in the order Korean reports nest them: 편, 장, 절, 조, 1.1, 가., 1), 가), (1), (가), ①.
"""

from __future__ import annotations

import re

_NUMBERS: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(r"제\s?\d{1,3}\s?편|(?:Part|PART)\s+(?:\d{1,2}|[IVX]{1,5})\b"), 1.0),
    (re.compile(r"제\s?\d{1,3}\s?장|(?:Chapter|CHAPTER)\s+\d{1,3}\b"), 2.0),
    (re.compile(r"(?:Appendix|APPENDIX)\s+(?:\d{1,3}|[A-Z])\b|부록\s?\d?"), 2.0),
    (re.compile(r"(?:[IVX]{1,5}|[Ⅰ-Ⅻ])\.(?=\s|[가-힣])"), 2.5),
    (re.compile(r"제\s?\d{1,3}\s?절"), 3.0),
    (re.compile(r"제\s?\d{1,4}\s?조(?:의\s?\d{1,2})?"), 4.0),
    (re.compile(r"\d{1,2}(?:\.\d{1,3}){0,5}(?:\.(?=\s|[가-힣]|$)|(?=\s+[^\W\d]))"), 5.0),
    (re.compile(r"[A-Z]\.\d{1,2}(?:\.\d{1,2}){0,3}\.?(?=\s)"), 6.0),
    (re.compile(r"[A-Z]\.(?=\s)"), 9.0),
    (re.compile(r"[가나다라마바사아자차카타파하]\.(?=\s|[가-힣])"), 10.0),
    (re.compile(r"\d{1,2}\)"), 11.0),
    (re.compile(r"[가나다라마바사아자차카타파하]\)"), 11.5),
    (re.compile(r"[(（]\d{1,2}[)）]"), 12.0),
    (re.compile(r"[(（][가나다라마바사아자차카타파하][)）]"), 12.5),
    (re.compile(r"[①-⑳]"), 13.0),
)  # fmt: skip
_DECIMAL = 5.0


def numbering(text: str) -> tuple[str, float]:
    """Returns a heading's own number and its rank; ("", 0.0) where it has none."""
    for pattern, rank in _NUMBERS:
        found = pattern.match(text)
        if found:
            number = found[0].strip()
            depth = number.rstrip(".").count(".") if rank in (_DECIMAL, 6.0) else 0
            return number, rank + depth
    return "", 0.0

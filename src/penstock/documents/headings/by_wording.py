"""Finds headings by their wording, where neither the layout model nor the type tells them.

Many headings are set as the text under them. A number tells them ("4.3.2 Alignment", "Chapter 7."), a name
that sections have ("Contents", "초록"), or capitals. The line stands alone, and what it heads is under it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.box import holds_middle
from penstock.documents.layout.labels import CAPTION, LEADER, SECTION_NAME
from penstock.region import PICTURE_LABELS, Region

MAX_LETTERS, MAX_WORDS = 90, 12
GOES_ON_WORDS = 6  # of a sentence that goes on; "iPhone at work" is shorter
INTRODUCES_WORDS = 3  # of 707 headings of manuals and papers one has a colon at its end and three words
COLONS = (":", "：")
BODY_LETTERS = 60  # of a region under a heading that is surely text
REACH = 0.1  # of the page's height: how far under a heading its text may begin
EDGE = 0.1  # of the page's height: lines there may be running titles
HEADED = PICTURE_LABELS | {"table", "display_formula", "algorithm", "content"}

_NUMBER = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2}){1,4}\.?|[A-Z]\.\d{1,2}(?:\.\d{1,2})*\.?|제\s?\d{1,3}\s?[장절편부])\s+(?=[^\W\d_a-z])"
)
_ITEM = re.compile(r"^(?:\d{1,2}\s?[-.)]?\s+(?=[A-Z가-힣])|[A-Z]\s+(?=[A-Z][a-z]{2}))")
_ASKS = re.compile(r"[?？:：]$|[a-z]\.\s")  # a question of an exam, a sentence and a half
_CHAPTER = re.compile(
    r"^(?:chapter|section|appendix|part|unit)\s+(?:\d{1,3}|[IVXLC]+|[A-Z])\b[.:]?", re.IGNORECASE
)
# two words and more, without figures: one alone may be the name of a method or of a machine
_CAPITALS = re.compile(r"(?:[A-Z][A-Z'’]{0,13}[,:]?\s+|&\s+){1,11}[A-Z][A-Z'’]{1,13}[?:]?")
_ENDS_SENTENCE = re.compile(r"[.!,;。！，；]$|다\.?$")
# what stands over or beside a box; no section has such a name
_NOTE = re.compile(
    r"(?:\d\s)?(?:note|warning|caution|tip|important|hinweis|achtung|warnung|vorsicht|wichtig|remarque|attention|avertissement"
    r"|nota|aviso|advertencia|atención|atenção|attenzione|avviso|avís|notă|atenție|waarschuwing|opmerking|uwaga|poznámka|varování"
    r"|megjegyzés|figyelem|bemærk|advarsel|obs|varning|huomautus|varoitus|uyarı|catatan|perhatian|awas|peringatan"
    r"|ghi chú|chú ý|cảnh báo|внимание|примечание|предупреждение|увага|примітка|σημείωση|προσοχή"
    r"|ملاحظة|تنبيه|تحذير"
    r"|주의|경고|참고|알림|注意|警告|注|备注|備註|提示|メモ|注記|重要)\s?[:：!！.]?(?:\s\d)?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\S+@\S+\.\w+|(?:https?://|www\.)\S+")
_RELATION = re.compile("[=<>≡≤≥≠≈∼≃∈⊂→↦⇒⇔{}]")
_WORD = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7a3]|^\W*(?:\d+|[IVX]+)\W*$")
_PAGE_AT_END = re.compile(r"\s\d{1,4}$")


def is_heading_by_words(region: Region, regions: Sequence[Region], height: float) -> bool:
    """Whether a line of text, or what the model took for a running header, heads what stands under it."""
    text = (region.content or "").strip()
    if not _is_line(text) or region.label not in ("text", "header"):
        return False
    if SECTION_NAME.match(text):
        return True
    if CAPTION.match(text) or LEADER.search(text) or _PAGE_AT_END.search(text):
        return False
    if _names_a_chapter(text, region.label):
        return True
    if _ENDS_SENTENCE.search(text) or (region.label == "header" and text.endswith("…")):
        return False  # a running head that is too long for its line breaks off
    in_body = region.label == "text" and EDGE * height < region.box[1] < (1 - EDGE) * height
    if _NUMBER.match(text) or (in_body and _CAPITALS.fullmatch(text)):
        return _heads(region, regions, height)
    is_item = in_body and _ITEM.match(text) is not None and _ASKS.search(text) is None
    return is_item and _heads(region, regions, height, no_item=True)


def is_no_heading_by_words(text: str) -> bool:
    """Whether what the model took for a heading is none: the name of a note's box, an address, a sentence.

    A sentence goes on or ends one that began elsewhere, or introduces what follows with a colon.
    """
    if _NOTE.fullmatch(text) or _ADDRESS.fullmatch(text) or _is_formula(text):
        return True
    words = len(text.split())
    if text.endswith(COLONS) and words >= INTRODUCES_WORDS:
        return True
    return text[:1].islower() and (words >= GOES_ON_WORDS or _ENDS_SENTENCE.search(text) is not None)


def _is_formula(text: str) -> bool:
    return len(_WORD.findall(text)) < 2 and (_RELATION.search(text) is not None or not _WORD.search(text))


def _is_line(text: str) -> bool:
    return 0 < len(text) <= MAX_LETTERS and len(text.split()) <= MAX_WORDS and text.count("\n") <= 1


def _names_a_chapter(text: str, label: str) -> bool:
    """A running header has the chapter's title behind its number."""
    chapter = _CHAPTER.match(text)
    if chapter is None:
        return False
    return chapter.end() == len(text) or (label == "text" and _ENDS_SENTENCE.search(text) is None)


def _heads(region: Region, regions: Sequence[Region], height: float, no_item: bool = False) -> bool:
    """Whether text, a table or a picture stands close under the line, and the line in no picture.

    With `no_item`, not the next item of a list.
    """
    under = [other for other in regions if other is not region and _stands_under(other, region)]
    if (
        any(other.label in PICTURE_LABELS and holds_middle(other.box, region.box) for other in regions)
        or not under
    ):
        return False
    first = min(under, key=lambda other: other.box[1])
    if first.box[1] - region.box[3] > REACH * height or (no_item and _ITEM.match(first.content or "")):
        return False
    return first.label in HEADED or len(first.content or "") >= BODY_LETTERS


def _stands_under(other: Region, line: Region) -> bool:
    across = min(other.box[2], line.box[2]) - max(other.box[0], line.box[0])
    return other.box[1] >= (line.box[1] + line.box[3]) / 2 and across > 0

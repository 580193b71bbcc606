"""What a DOCX says once for all paragraphs: styles, numbering, notes, comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from penstock.engines.office.ooxml.settings import setting
from penstock.engines.office.package import XmlPackage, attribute, child, children, descendants

# "heading 1" is the name in every language of Word; its Korean editions also write their own
_HEADING = re.compile(
    r"(?:heading|제목|überschrift|titre|título|заголовок|見出し|标题)\s*([1-9])", re.IGNORECASE
)
MAX_STYLE_CHAIN = 20
MAX_LEVELS = 9
BULLET_FORMATS = frozenset({"bullet", "none", ""})
HANGUL = "가나다라마바사아자차카타파하"
JAMO = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
CHINESE = "一二三四五六七八九十"


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """A style, with what it takes from those that it is based on. `outline` is a heading's level from 1."""

    name: str = ""
    outline: int | None = None
    list_id: str = ""
    list_level: int = 0

    @property
    def is_title(self) -> bool:
        return self.name.lower() in ("title", "제목") and self.outline is None


PLAIN = ParagraphStyle()


@dataclass(slots=True)
class ListLevel:
    form: str = ""
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class Numbering:
    """Counts the items of lists. Raises nothing: a list that is not defined has bullets."""

    levels: Mapping[str, list[ListLevel]] = field(default_factory=dict)  # by abstract list
    lists: Mapping[str, str] = field(default_factory=dict)  # list -> abstract list
    _counts: dict[str, list[int]] = field(default_factory=dict)

    def number(self, list_id: str, level: int) -> str | None:
        """Returns the next item's number as it is shown; "" for a bullet, None where there is no such
        list."""
        home = self.lists.get(list_id)
        levels = self.levels.get(home or "", [])
        if home is None or not level < len(levels):
            return None if not levels else ""
        counts = self._counts.setdefault(home, [each.start - 1 for each in levels])
        counts[level] += 1
        counts[level + 1 :] = [each.start - 1 for each in levels[level + 1 :]]
        this = levels[level]
        if this.form in BULLET_FORMATS:
            return ""
        return re.sub(r"%(\d)", lambda found: self._shown(levels, counts, int(found[1]) - 1), this.text)

    def _shown(self, levels: list[ListLevel], counts: list[int], level: int) -> str:
        if not level < len(levels):
            return ""
        return shown_number(max(counts[level], levels[level].start), levels[level].form)


def shown_number(value: int, form: str) -> str:
    """Returns a number in a list's own letters."""
    if form in ("lowerLetter", "upperLetter"):
        letters = chr(ord("a") + (value - 1) % 26) * (1 + (value - 1) // 26)
        return letters if form == "lowerLetter" else letters.upper()
    if form in ("lowerRoman", "upperRoman"):
        return roman(value) if form == "upperRoman" else roman(value).lower()
    letters_by_form = {"ganada": HANGUL, "chosung": JAMO, "decimalEnclosedCircle": CIRCLED,
                       "ideographDigital": CHINESE, "koreanDigital": CHINESE}  # fmt: skip
    letters = letters_by_form.get(form, "")
    return letters[value - 1] if 0 < value <= len(letters) else str(value)


def roman(value: int) -> str:
    parts = zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
                ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
                strict=True)  # fmt: skip
    text = ""
    if not 0 < value < 4000:
        return str(value)
    for worth, letters in parts:
        text += letters * (value // worth)
        value %= worth
    return text


def read_styles(package: XmlPackage, name: str) -> dict[str, ParagraphStyle]:
    """Returns the styles by id."""
    rows = {attribute(row, "styleId"): row for row in children(package.xml_if_there(name), "style")}
    return {id: _style(id, rows) for id in rows}


def _style(id: str, rows: Mapping[str, Element]) -> ParagraphStyle:
    name, outline, list_id, level = "", None, "", 0
    for _ in range(MAX_STYLE_CHAIN):
        row = rows.get(id)
        if row is None:
            break
        own = setting(row, "name")
        name = name or own
        found = _HEADING.fullmatch(own.strip())
        told = setting(row, "pPr", "outlineLvl")
        if outline is None and (found or told.isdecimal()):
            outline = int(found[1]) if found else int(told) + 1
        if not list_id:
            list_id = setting(row, "pPr", "numPr", "numId")
            level = number_of(setting(row, "pPr", "numPr", "ilvl"))
        id = setting(row, "basedOn")
    return ParagraphStyle(name, outline if outline and outline <= MAX_LEVELS else None, list_id, level)


def number_of(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def read_numbering(package: XmlPackage, name: str) -> Numbering:
    tree = package.xml_if_there(name)
    levels = {attribute(row, "abstractNumId"): _levels(row) for row in children(tree, "abstractNum")}
    # each list counts for itself; lists of one kind go on where they share their levels
    lists = {attribute(row, "numId"): setting(row, "abstractNumId") for row in children(tree, "num")}
    restarted = {
        attribute(row, "numId"): row for row in children(tree, "num") if child(row, "lvlOverride") is not None
    }
    for id in restarted:
        levels[f"{lists[id]}/{id}"] = levels.get(lists[id], [])
        lists[id] = f"{lists[id]}/{id}"
    return Numbering(levels, lists)


def _levels(row: Element) -> list[ListLevel]:
    return [
        ListLevel(
            setting(level, "numFmt"), setting(level, "lvlText"), number_of(setting(level, "start") or "1")
        )
        for level in children(row, "lvl")
    ]


def read_notes(package: XmlPackage, name: str, kind: str) -> dict[str, Element]:
    """Returns footnotes, endnotes or comments by id. Word keeps lines that part notes among them."""
    rows = descendants(package.xml_if_there(name), kind)
    return {attribute(row, "id"): row for row in rows if attribute(row, "type", "normal") == "normal"}

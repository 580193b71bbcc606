"""Grows documents from a seed: the same seed and count give the same trees on every machine."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from random import Random

from penstock_eval.made_documents.formula import Formula
from penstock_eval.made_documents.tables import grow_table
from penstock_eval.made_documents.tree import (
    Block,
    Display,
    ItemList,
    MadeDocument,
    MadeHeading,
    MadeItem,
    MadePicture,
    MadeRun,
    PageBreak,
    Paragraph,
    Part,
)
from penstock_eval.made_documents.words import LANGUAGES, phrase, sentence, sentences

TEXT = ("title", "lists", "tables", "spans", "nested table", "lines in cells", "numbers", "links", "pictures")
# what each format can hold by its specification, and real programs write
FEATURES = {
    "docx": (*TEXT, "footnotes", "endnotes", "comments", "formulas", "page breaks"),
    "odt": (*TEXT, "footnotes", "endnotes", "comments", "formulas", "page breaks"),
    "html": (*TEXT, "formulas"),
    "epub": (*TEXT[1:], "formulas", "footnotes"),
    "hwpx": (*TEXT[1:], "footnotes", "endnotes", "comments", "formulas", "page breaks"),
    "rtf": ("lists", "tables", "spans", "numbers", "links", "footnotes", "page breaks"),
    "pptx": ("lists", "tables", "spans", "lines in cells", "pictures", "speaker notes", "links"),
    "odp": ("lists", "tables", "spans", "pictures", "speaker notes", "links"),
    "xlsx": ("spans", "numbers", "lines in cells", "comments", "hidden parts"),
    "ods": ("spans", "numbers", "lines in cells", "comments", "hidden parts"),
}  # fmt: skip
SLIDES, SHEETS = ("pptx", "odp"), ("xlsx", "ods")
LETTERS = "abcdfghkmnpqrstuvwxyz"
NO_RTL = ("hwpx",)  # Hangul runs no line from right to left


def grow_documents(
    count: int, seed: int, formats: tuple[str, ...] = tuple(FEATURES)
) -> Iterator[MadeDocument]:
    """Yields documents, the formats in turn. One document does not change with the number of the others."""
    for number in range(count):
        format = formats[number % len(formats)]
        random = Random(f"{seed} {format} {number // len(formats)}")
        yield _grow(random, f"{format}-{number // len(formats):03}", format)


def _grow(random: Random, id: str, format: str) -> MadeDocument:
    languages = [each for each in LANGUAGES if each not in ("ar", "he") or format not in NO_RTL]
    language = random.choice(languages)
    features = frozenset(each for each in FEATURES[format] if random.random() < 0.5)
    if "spans" in features or "lines in cells" in features or "numbers" in features:
        features |= {"tables"}
    if "nested table" in features:
        features |= {"tables"}
    grower = _Grower(random, language, features)
    if format in SLIDES:
        blocks = grower.slides()
    elif format in SHEETS:
        blocks = grower.sheets()
    else:
        blocks = grower.text()
    return MadeDocument(id, format, language, tuple(blocks), tuple(sorted(features)))


class _Grower:
    def __init__(self, random: Random, language: str, features: frozenset[str]) -> None:
        self._random, self._language, self._features = random, language, features
        hung = ("footnotes", "endnotes", "comments")
        self._hung = [each[:-1] for each in hung if each in features]
        makers: dict[str, Callable[[], Block]] = {
            "lists": self._list, "tables": self._table, "pictures": self._picture, "formulas": self._display,
        }  # fmt: skip
        self._makers = [maker for name, maker in makers.items() if name in features]

    def text(self) -> list[Block]:
        blocks: list[Block] = [MadeHeading(0, self._phrase())] if "title" in self._features else []
        level, due = 0, list(self._makers)
        for section in range(self._random.randint(3, 6)):
            level = self._random.randint(1, min(level + 1, 4)) if section else 1
            if section and "page breaks" in self._features and self._random.random() < 0.4:
                blocks.append(PageBreak())
            blocks.append(MadeHeading(level, self._phrase()))
            blocks.append(self._paragraph())
            if self._makers:
                blocks.append((due.pop() if due else self._random.choice(self._makers))())
            blocks.append(self._paragraph())
        return blocks

    def slides(self) -> list[Block]:
        return [self._slide() for _ in range(self._random.randint(3, 6))]

    def _slide(self) -> Part:
        blocks: list[Block] = [self._paragraph()]
        if self._makers:
            blocks.append(self._random.choice(self._makers)())
        has_notes = "speaker notes" in self._features and self._random.random() < 0.7
        notes = sentences(self._random, self._language, 1, 2) if has_notes else ""
        return Part(self._phrase(), tuple(blocks), notes)

    def sheets(self) -> list[Block]:
        parts = []
        for number in range(self._random.randint(2, 3)):
            is_hidden = number > 0 and "hidden parts" in self._features and self._random.random() < 0.6
            grids: list[Block] = [self._table()]
            title = phrase(self._random, self._language, 2, 3)[:28]  # 31 letters are the most in Excel
            comment = sentence(self._random, self._language) if "comments" in self._features else ""
            parts.append(Part(title, tuple(grids), comment, is_hidden))
        return list(parts)

    def _phrase(self) -> str:
        return phrase(self._random, self._language)

    def _paragraph(self) -> Paragraph:
        random, language = self._random, self._language
        gap = "" if language == "ja" else " "
        runs = [MadeRun(sentences(random, language))]
        if random.random() < 0.5:
            runs.append(MadeRun(gap + phrase(random, language, 2, 3), is_bold=True))
            runs.append(MadeRun(gap + sentence(random, language)))
        if "links" in self._features and random.random() < 0.4:
            name = "".join(random.choices(LETTERS, k=6))
            runs.append(MadeRun(phrase(random, language, 2, 3), address=f"https://{name}.example/{name[:3]}"))
            runs.append(MadeRun("。" if language == "ja" else "."))
        if "formulas" in self._features and random.random() < 0.4:
            runs += [
                MadeRun(gap),
                MadeRun("", formula=grow_formula(random, 1)),
                MadeRun(gap + sentence(random, language)),
            ]
        if self._hung and random.random() < 0.6:
            hung = {random.choice(self._hung): sentence(random, language)}
            runs.append(MadeRun(gap + sentence(random, language), **hung))  # type: ignore[arg-type]
        return Paragraph(tuple(runs))

    def _list(self) -> ItemList:
        return ItemList(tuple(self._items(0)), self._random.random() < 0.5)

    def _items(self, depth: int) -> Iterator[MadeItem]:
        for _ in range(self._random.randint(2, 4)):
            has_more = depth < 2 and self._random.random() < 0.35
            yield MadeItem(self._phrase(), tuple(self._items(depth + 1)) if has_more else ())

    def _table(self) -> Block:
        return grow_table(self._random, self._language, self._features)

    def _picture(self) -> MadePicture:
        shade = self._random.randint(40, 200)
        words = phrase(self._random, self._language)
        return MadePicture(png(shade, 60, 40), words, phrase(self._random, self._language, 3, 5))

    def _display(self) -> Display:
        return Display(grow_formula(self._random, 2))


def grow_formula(random: Random, depth: int) -> Formula:
    """Returns an equation: a letter, a sign between, and a term of some depth."""
    between = random.choice(["=", "le", "ge", "ne", "=", "="])
    return Formula("row", (_leaf(random), Formula("sign", sign=between), _term(random, depth)))


def _term(random: Random, depth: int) -> Formula:
    if depth == 0:
        return _leaf(random)
    kind = random.choice(
        ["frac", "sup", "sub", "sqrt", "root", "fence", "matrix", "sum", "prod", "int", "row"]
    )
    if kind == "row":
        signs = Formula("sign", sign=random.choice(["+", "-", "times", "pm"]))
        return Formula("row", (_term(random, depth - 1), signs, _term(random, depth - 1)))
    if kind in ("sup", "sub"):
        return Formula(kind, (_leaf(random), _leaf(random)))
    if kind in ("sum", "prod"):
        first = Formula("row", (_leaf(random), Formula("sign", sign="="), Formula("sign", sign="1")))
        return Formula(kind, (first, _leaf(random), _term(random, depth - 1)))
    count = {"frac": 2, "root": 2, "sqrt": 1, "fence": 1, "matrix": 4, "int": 3}[kind]
    if kind in ("matrix", "root", "int"):
        return Formula(kind, tuple(_leaf(random) for _ in range(count)))
    return Formula(kind, tuple(_term(random, depth - 1) for _ in range(count)))


def _leaf(random: Random) -> Formula:
    greek = ("alpha", "beta", "theta", "lambda", "pi", "sigma", "omega")
    pool = random.choice([LETTERS, "123456789", greek])
    return Formula("sign", sign=random.choice(pool))


def png(shade: int, width: int, height: int) -> bytes:
    """Returns a grey picture with a darker bar: small, and another one for each shade."""
    rows = [bytes([0, *([shade] * (width // 2)), *([shade // 2] * (width - width // 2))])] * height
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"".join(rows))),
        (b"IEND", b""),
    )
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)

"""What the reader of other scripts can write: one class for each sign, blank first.

Cyrillic, Greek, Arabic, Hebrew, Devanagari, Thai, with ASCII and the marks of print. A line of classes is in
the order in which it is seen, from left to right.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

SCRIPTS = ("cyrillic", "greek", "arabic", "hebrew", "devanagari", "thai")
RIGHT_TO_LEFT = frozenset(("arabic", "hebrew"))


def _between(*bounds: tuple[int, int]) -> str:
    every = (chr(code) for first, last in bounds for code in range(first, last + 1))
    return "".join(sign for sign in every if unicodedata.category(sign) != "Cn")


LETTERS = {
    "cyrillic": _between((0x401, 0x40C), (0x40E, 0x44F), (0x451, 0x45C), (0x45E, 0x45F), (0x490, 0x493))
    + "ЀЍѐѝҖҗҘҙҚқҜҝҠҡҢңҤҥҪҫҮүҰұҲҳҶҷҸҹҺһӘәӢӣӨөӮӯ",
    "greek": _between((0x386, 0x386), (0x388, 0x38A), (0x38C, 0x38C), (0x38E, 0x3A1), (0x3A3, 0x3CE)),
    "arabic": _between((0x621, 0x63A), (0x641, 0x64A)) + "ٹپچڈڑژکگںھہۀۂۃیېےۓۆۇۈۋۅۉڭ",
    "hebrew": _between((0x5D0, 0x5EA)),
    "devanagari": _between((0x904, 0x939), (0x958, 0x961), (0x972, 0x972)),
    "thai": _between((0xE01, 0xE2E), (0xE2F, 0xE30), (0xE32, 0xE33), (0xE40, 0xE46)),
}
MARKS = {
    "arabic": _between((0x64B, 0x655)) + "ٰ",
    "devanagari": _between((0x900, 0x903), (0x93A, 0x93C), (0x93E, 0x94D)) + "ऽॐ",
    "thai": _between((0xE31, 0xE31), (0xE34, 0xE3A), (0xE47, 0xE4E)),
}
DIGITS = {
    "arabic": _between((0x660, 0x669), (0x6F0, 0x6F9)),
    "devanagari": _between((0x966, 0x96F)),
    "thai": _between((0xE50, 0xE59)),
}
POINTS = {
    "cyrillic": "№₽₴₸",
    "greek": "·;",
    "arabic": "،؛؟٪٫٬۔﷼",
    "hebrew": "־׳״₪",
    "devanagari": "।॥॰₹",
    "thai": "฿ๆฯ๏๚๛",
}
_ASCII = _between((0x20, 0x7E))
_PRINT = "…–—‘’“”„‚«»‹›•·°±×÷§¶©®™€£¥¢†‡′″²³¹½¼¾‰µ≤≥≠≈←↑→↓■□●○▪★☆✓"
# signs that look alike and are one to a reader; the right one of each two is what it writes
ALIKE = str.maketrans(
    {
        "\u00a0": " ",
        "\u2009": " ",
        "\u202f": " ",
        "\u2010": "-",
        "\u2011": "-",
        "\u2212": "-",
        "\u2012": "–",
        "\u2015": "—",
        "\u0387": "·",
        "\u037e": ";",
        "\u00b5": "μ",
        "\u2219": "·",
        "\u02bc": "’",
        "\u06aa": "ك",
        "\u06d5": "ه",
    }
)
# what has no shape of its own: joiners, marks of direction, and the stroke that draws Arabic out
_SHAPELESS = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF, 0xAD, 0x640)
DROPPED = dict.fromkeys(_SHAPELESS)
_PARTS = (*LETTERS.values(), *MARKS.values(), *DIGITS.values(), *POINTS.values())
SIGNS = sorted(set(unicodedata.normalize("NFC", "".join((_ASCII, _PRINT, *_PARTS))).translate(ALIKE)))
BLANK = 0
NUM_CLASSES = 1 + len(SIGNS)
CLASS_OF_SIGN = {sign: number + 1 for number, sign in enumerate(SIGNS)}


def written(text: str) -> str:
    """The text as the reader writes it: composed, without what has no shape, of its own signs alone."""
    plain = unicodedata.normalize("NFC", text).translate(ALIKE).translate(DROPPED)
    return " ".join("".join(sign for sign in plain if sign in CLASS_OF_SIGN).split())


def is_known(sign: str) -> bool:
    """Whether a line may have it: the reader writes it, or something like it, or it has no shape."""
    return sign.translate(ALIKE) in CLASS_OF_SIGN or ord(sign) in DROPPED


def classes_of(text: str) -> list[int]:
    return [CLASS_OF_SIGN[sign] for sign in text]


def text_of(classes: Iterable[int]) -> str:
    return "".join(SIGNS[number - 1] for number in classes if number != BLANK)

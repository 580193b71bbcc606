"""The fonts that lines are drawn in: where they come from, and how they are made small.

All but one family are under the SIL Open Font License 1.1, as their packages say; Baekmuk has a licence of
its own that reads like MIT's. Tinos, Arimo and Cousine, for Latin words among Korean ones, are Apache-2.0.
Nothing of a font is shipped: only pictures of lines are used.
"""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from outlines import slimmed, tables_of
from packages import from_debian, from_npm, members
from signs import ALIKE, FIRST_SYLLABLE, NUM_SYLLABLES, SIGNS

NUM_CHINESE = 900  # characters of two fonts that stand for all the reader does not know


@dataclass(frozen=True)
class FontSource:
    """Weights of one family. `share`: how often it is drawn beside others; `test`: kept for the test."""

    family: str
    package: str  # of npm, or "debian:NAME"
    files: tuple[str, ...]
    share: float = 1.0
    test: bool = False
    latin: bool = False
    till: bool = False  # draws whole lines of receipts
    few: bool = False  # only the 2,350 syllables of the old standard: large files that are seldom drawn


def _fontsource(family: str, version: str, *weights: int, **told: Any) -> FontSource:
    part = "latin" if told.get("latin") or told.get("till") else "korean"
    files = tuple(f"package/files/{family}-{part}-{weight}-normal.woff" for weight in weights)
    return FontSource(family, f"@fontsource/{family}@{version}", files, **told)


def _debian(family: str, *files: str) -> FontSource:
    return FontSource(f"baekmuk-{family}", "debian:fonts-baekmuk", files, 2.0, few=True)


PRINT, POSTER, PEN = 3.0, 0.6, 0.3  # shares: what books and reports are set in, titles and shops, handwriting
SOURCES = (
    _fontsource("noto-sans-kr", "5.3.0", 300, 400, 700, share=PRINT),
    _fontsource("noto-serif-kr", "5.3.0", 400, 700, share=PRINT),
    _fontsource("nanum-gothic", "5.3.0", 400, 700, share=PRINT),
    _fontsource("nanum-myeongjo", "5.3.0", 400, 700, share=PRINT),
    _fontsource("gothic-a1", "5.3.0", 300, 700, share=PRINT),
    _fontsource("gowun-dodum", "5.3.0", 400, share=PRINT),
    _fontsource("hahmlet", "5.3.0", 400, 700, share=PRINT),
    _fontsource("asta-sans", "5.3.0", 400, 700, share=PRINT),
    _fontsource("nanum-gothic-coding", "5.3.0", 400, share=1.5),
    FontSource(
        "pretendard",
        "pretendard@1.3.9",
        tuple(
            f"package/dist/public/static/alternative/Pretendard-{name}.ttf"
            for name in ("Light", "Regular", "Bold")
        ),
        PRINT,
    ),
    FontSource(
        "suit",
        "@sun-typeface/suit@2.0.5",
        tuple(f"package/fonts/static/ttf/SUIT-{name}.ttf" for name in ("Regular", "Bold")),
        PRINT,
    ),
    FontSource(
        "nanum-square",
        "@kfonts/nanum-square@0.2.0",
        tuple(f"package/src/NanumSquare{name}.ttf" for name in ("R", "B")),
        PRINT,
    ),
    FontSource("d2coding", "d2coding@1.3.2", ("package/fonts/d2coding-full.ttf",), 1.5),
    _debian("batang", "batang.ttf"),
    _debian("gulim", "gulim.ttf"),
    _debian("dotum", "dotum.ttf"),
    _debian("headline", "hline.ttf"),
    _fontsource("diphylleia", "5.2.7", 400, share=1.5),
    _fontsource("grandiflora-one", "5.3.0", 400, share=POSTER),
    _fontsource("orbit", "5.3.0", 400),
    _fontsource("do-hyeon", "5.3.0", 400, share=POSTER),
    _fontsource("jua", "5.3.0", 400, share=POSTER),
    _fontsource("black-han-sans", "5.3.0", 400, share=POSTER),
    _fontsource("gugi", "5.3.0", 400, share=POSTER),
    _fontsource("dongle", "5.2.7", 400, share=POSTER, few=True),
    _fontsource("stylish", "5.3.1", 400, share=POSTER, few=True),
    _fontsource("poor-story", "5.3.0", 400, share=POSTER, few=True),
    _fontsource("single-day", "5.3.1", 400, share=POSTER),
    _fontsource("bagel-fat-one", "5.3.0", 400, share=PEN),
    _fontsource("gasoek-one", "5.3.0", 400, share=PEN),
    _fontsource("gaegu", "5.3.0", 400, share=PEN),
    _fontsource("hi-melody", "5.3.0", 400, share=PEN, few=True),
    _fontsource("gamja-flower", "5.3.0", 400, share=PEN, few=True),
    _fontsource("nanum-pen-script", "5.3.0", 400, share=PEN, few=True),
    _fontsource("ibm-plex-sans-kr", "5.3.0", 400, 700, test=True),
    _fontsource("gowun-batang", "5.3.0", 400, 700, test=True, few=True),
    _fontsource("song-myung", "5.2.8", 400, test=True),
    _fontsource("sunflower", "5.3.1", 300, 700, test=True),
    _fontsource("tinos", "5.2.6", 400, 700, latin=True),
    _fontsource("arimo", "5.2.8", 400, 700, latin=True),
    _fontsource("cousine", "5.2.6", 400, latin=True),
    _fontsource("source-serif-4", "5.2.9", 400, latin=True),
    _fontsource("roboto", "5.2.10", 400, latin=True),
    _fontsource("vt323", "5.3.0", 400, till=True),
    _fontsource("share-tech-mono", "5.3.0", 400, till=True, share=2.0),
    _fontsource("courier-prime", "5.3.0", 400, 700, till=True),
    _fontsource("ibm-plex-mono", "5.3.0", 400, 600, till=True, share=2.0),
    _fontsource("b612-mono", "5.3.0", 400, till=True),
    _fontsource("anonymous-pro", "5.3.0", 400, 700, till=True),
    _fontsource("inconsolata", "5.3.0", 400, 700, till=True, share=2.0),
    _fontsource("overpass-mono", "5.3.0", 400, till=True),
    _fontsource("space-mono", "5.3.0", 400, till=True),
    _fontsource("doto", "5.3.0", 400, 700, till=True),
    _fontsource("pixelify-sans", "5.3.0", 400, till=True, share=0.5),
    _fontsource("pt-mono", "5.3.0", 400, till=True, test=True),
    _fontsource("oxygen-mono", "5.3.0", 400, till=True, test=True),
)


def packed_fonts(out: Path, kept: Path) -> list[dict[str, Any]]:
    """Writes an archive of the fonts with what we draw of them alone; returns what they hold."""
    told = []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for source in SOURCES:
            for number, content in enumerate(_contents(source, kept)):
                name = f"{source.family}-{number}.ttf"
                small, has = slimmed(tables_of(content), _wanted(source.few))
                packed.writestr(name, small)
                told.append({"file": name, **_told(source), **_held(has)})
    return told


def _told(source: FontSource) -> dict[str, Any]:
    share = source.share / len(source.files)
    kinds = {"test": source.test, "latin": source.latin, "till": source.till}
    return {"family": source.family, "share": share, **kinds}


def _held(has: set[int]) -> dict[str, str]:
    """The signs of a font, and a bit for each syllable."""
    bits = np.array([FIRST_SYLLABLE + number in has for number in range(NUM_SYLLABLES)])
    signs = sorted(chr(code) for code in has if not 0 <= code - FIRST_SYLLABLE < NUM_SYLLABLES)
    return {"signs": "".join(signs), "syllables": base64.b64encode(np.packbits(bits).tobytes()).decode()}


def _wanted(few: bool) -> set[int]:
    syllables = (
        _standard(range(0xB0, 0xC9))
        if few
        else map(chr, range(FIRST_SYLLABLE, FIRST_SYLLABLE + NUM_SYLLABLES))
    )
    signs = {ord(sign) for sign in (*SIGNS, *syllables)} | {code for code in ALIKE if isinstance(code, int)}
    return signs | _chinese()


def _contents(source: FontSource, kept: Path) -> list[bytes]:
    if source.package.startswith("debian:"):
        folder = from_debian(source.package.removeprefix("debian:"), kept)
        return [next(folder.rglob(name)).read_bytes() for name in source.files]
    files = members(from_npm(source.package, kept))
    return [files[name] for name in source.files]


def _standard(rows: Iterable[int]) -> list[str]:
    """The characters of some rows of Korea's old standard, KS X 1001."""
    codes = (bytes((row, column)) for row in rows for column in range(0xA1, 0xFF))
    return [sign for code in codes if (sign := code.decode("euc_kr", "ignore"))]


def _chinese() -> set[int]:
    """Every fifth or so of the Chinese characters and kana of the old standard."""
    found = _standard((*range(0xCA, 0xFE), 0xAA, 0xAB))
    return {ord(sign) for sign in found[:: len(found) // NUM_CHINESE]}

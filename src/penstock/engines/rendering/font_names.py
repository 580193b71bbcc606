"""Gives a font of this machine the names that rhwp looks for.

rhwp draws no letter of a text whose fonts it does not find, and it looks for those of Hancom, Microsoft and
Apple. A copy of a Korean font with other names, in a folder of our own, stands for all of them.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

# the last of each list that rhwp looks through, and what it takes for any font with and without serifs
ASKED_FOR = ("Source Han Serif K Old Hangul", "Arial", "Times New Roman")
LIST_S = 20.0
WINDOWS, UNICODE, ENGLISH = 3, 1, 0x409
OTHER_LANGUAGE = 0x400  # from one country's English to another's: a font has one name in each
FAMILY, STYLE, FULL_NAME, POSTSCRIPT = 1, 2, 4, 6


def add_korean_font(home: Path) -> bool:
    """Puts the copy where programs whose home this is look for fonts. Returns whether there is a font."""
    found = _korean_font()
    if found is None:
        return False
    path, index = found
    folder = home / ".fonts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"korean{path.suffix}").write_bytes(renamed(path.read_bytes(), index, ASKED_FOR))
    return True


def _korean_font() -> tuple[Path, int] | None:
    """Returns a font with Hangul, of usual weight where there is one, and its place in the file."""
    form = "%{weight}|%{slant}|%{index}|%{family}|%{file}\n"
    try:
        answer = subprocess.run(
            ["fc-list", ":lang=ko", "--format", form], capture_output=True, timeout=LIST_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    rows = [row.split("|", 4) for row in answer.stdout.decode("utf-8", "replace").splitlines()]
    fonts = [row for row in rows if len(row) == 5 and row[2].isdigit() and int(row[2]) < 1 << 16]
    if not fonts:
        return None
    best = min(fonts, key=lambda row: (row[:2] != ["80", "0"], "Mono" in row[3], "KR" not in row[3], row))
    return Path(best[4]), int(best[2])


def renamed(data: bytes, index: int, names: tuple[str, ...]) -> bytes:
    """Returns an OpenType font, or one of a collection, under other names. Its letters are not touched."""
    starts: tuple[int, ...] = (0,)
    if data.startswith(b"ttcf"):
        [count] = struct.unpack_from(">I", data, 8)
        starts = struct.unpack_from(f">{count}I", data, 12)
    table, made = _name_table(names), bytearray(data) + bytes(-len(data) % 4)
    [tables] = struct.unpack_from(">H", data, starts[index] + 4)
    for place in range(starts[index] + 12, starts[index] + 12 + 16 * tables, 16):
        if data[place : place + 4] == b"name":
            struct.pack_into(">II", made, place + 8, len(made), len(table))
    if len(starts) > 1:  # a collection of this one
        struct.pack_into(">II", made, 8, 1, starts[index])
    return bytes(made) + table


def _name_table(names: tuple[str, ...]) -> bytes:
    said = [(ENGLISH + OTHER_LANGUAGE * place, FAMILY, name) for place, name in enumerate(names)]
    said += [(ENGLISH, STYLE, "Regular"), (ENGLISH, FULL_NAME, names[0])]
    said += [(ENGLISH, POSTSCRIPT, names[0].replace(" ", ""))]
    records, texts = b"", b""
    for language, what, text in said:
        encoded = text.encode("utf-16-be")
        records += struct.pack(">6H", WINDOWS, UNICODE, language, what, len(encoded), len(texts))
        texts += encoded
    return struct.pack(">3H", 0, len(said), 6 + len(records)) + records + texts

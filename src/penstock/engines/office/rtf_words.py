"""Cuts RTF into what it is made of: braces, control words, letters by their code pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from penstock.errors import BadInput

MAX_DEPTH = 1_000  # of groups
_PIECE = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|[\r\n]+|([^\\{}\r\n]+)"
)
CODE_PAGES = {  # of fonts' character sets
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "big5",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250",
}  # fmt: skip
PAGES_BY_NUMBER = {65001: "utf-8", 10000: "mac_roman", 936: "gbk", 950: "big5", 1361: "johab"}


class RtfPiece(NamedTuple):
    """A brace, a control word with its number, or plain bytes of letters."""

    word: str  # "{", "}", a control word or sign; "" for letters
    number: int | None = None
    data: bytes = b""


def pieces(data: bytes) -> Iterator[RtfPiece]:
    """Yields the pieces. What `\\bin` holds is passed by. Raises BadInput for groups without end."""
    place, depth = 0, 0
    while match := _PIECE.match(data, place):
        place = match.end()
        word, number, code, sign, brace, text = match.groups()
        if brace:
            depth += 1 if brace == b"{" else -1
            if depth > MAX_DEPTH:
                raise BadInput(f"its groups are nested more than {MAX_DEPTH} deep.")
            yield RtfPiece(brace.decode())
        elif word:
            value = int(number) if number else None
            if word == b"bin":
                place += max(0, value or 0)
            yield RtfPiece(word.decode(), value)
        elif code:
            yield RtfPiece("", data=bytes([int(code, 16)]))
        elif sign and sign in b"\\{}":  # letters, and no braces
            yield RtfPiece("", data=sign)
        elif sign:
            yield RtfPiece(sign.decode("latin-1"))
        elif text:
            yield RtfPiece("", data=text)


def code_page(number: int) -> str:
    """Returns the name by which Python knows a code page of Windows."""
    return PAGES_BY_NUMBER.get(number, f"cp{number}")


def decoded_letters(data: bytes, page: str) -> str:
    try:
        return data.decode(page, "replace")
    except LookupError:
        return data.decode("cp1252", "replace")

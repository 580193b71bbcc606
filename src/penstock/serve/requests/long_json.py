"""JSON as it arrives: what is short stays in memory, files in base64 are handed on piece by piece.

What stays is bounded in bytes and in values before it is parsed: 62 MB of `[[],[],` would become 1.7 GB of
lists. A handed-on string is replaced by a word that its taker chooses.
"""

from __future__ import annotations

import re
import string
from collections.abc import AsyncIterator, Awaitable, Callable

from penstock.serve.errors import HttpRefusal
from penstock.serve.requests.base64_stream import MAX_HEAD_BYTES
from penstock.sizes import MB, file_size

LONG_BYTES = 16 << 10  # of a string that may be a file
MAX_SHORT_BYTES = 4 * MB  # of all that is no file
BLOCK_BYTES = 8 << 10
MARKS = b',[{"'
MAX_VALUES = 20_000  # lists, objects, commas and strings: a thousand files with their names are a half of it
_CONTENT = re.compile(rb'(?:[^"\\]+|\\u[0-9a-fA-F]{4}|\\[^u])*', re.DOTALL)
ENCODED = string.ascii_letters.encode() + string.digits.encode() + b"+/=_-" + b"\\"  # the last for escapes
_ESCAPE = re.compile(rb"\\u00([0-7][0-9a-fA-F])|\\/")
ESCAPE_BYTES = 6  # of the longest: \u002b

Take = Callable[[AsyncIterator[bytes]], Awaitable[str]]  # reads a string to its end; returns a word for it
Hold = Callable[[int], None]  # is called with the number of bytes that stay in memory


class LongJson:
    """One body. `take` gets each string that may be a file."""

    def __init__(self, stream: AsyncIterator[bytes], take: Take, hold: Hold = lambda count: None) -> None:
        self._stream = stream
        self._take = take
        self._hold = hold
        self._arrived = b""  # and not looked at
        self._kept = b""  # the block that is looked at
        self._short = bytearray()
        self._num_values = 0

    async def short(self) -> bytes:
        """Returns the JSON without its files. Raises HttpRefusal if it is too much, or ends too soon."""
        while self._kept or await self._more():
            before, quote, self._kept = self._kept.partition(b'"')
            self._keep(before + quote)
            if quote:
                await self._string()
        return bytes(self._short)

    async def _string(self) -> None:
        pieces, text = self._content(), bytearray()
        async for piece in pieces:
            text += piece
            if len(text) > LONG_BYTES:
                break
        if len(text) > LONG_BYTES and _is_encoded(text):
            text = bytearray((await self._take(_unescaped(bytes(text), pieces))).encode())
        self._keep(text)
        async for piece in pieces:  # the rest of a long text that is no file
            self._keep(piece)
        self._keep(b'"')

    async def _content(self) -> AsyncIterator[bytes]:
        """Yields what a string holds, up to its end. No escape is cut in two."""
        while True:
            end = _content_end(self._kept)
            piece, rest = self._kept[:end], self._kept[end:]
            self._kept = rest.removeprefix(b'"')
            if piece:
                yield piece
            if rest[:1] == b'"':
                return
            if len(rest) >= ESCAPE_BYTES or not await self._more():
                raise HttpRefusal(400, "The body is no JSON: a string has no end, or a wrong escape.")

    async def _more(self) -> bool:
        """Goes on by a block. Short blocks: what is left of one is copied with each string."""
        while not self._arrived:
            piece = await anext(self._stream, None)
            if piece is None:
                return False
            self._arrived = piece
            self._count(piece)
        self._kept += self._arrived[:BLOCK_BYTES]
        self._arrived = self._arrived[BLOCK_BYTES:]
        return True

    def _count(self, piece: bytes) -> None:
        """Counts what may be values; those in a text count too, of which honest ones have few."""
        self._num_values += len(piece) - len(piece.translate(None, MARKS))
        if self._num_values > MAX_VALUES:
            raise HttpRefusal(413, f"The JSON holds more than {MAX_VALUES:,} values.", "Send a form.")

    def _keep(self, text: bytes | bytearray) -> None:
        self._hold(len(text))
        self._short += text
        if len(self._short) > MAX_SHORT_BYTES:
            raise HttpRefusal(
                413, f"JSON may have {file_size(MAX_SHORT_BYTES)} besides its files.", "Send files as a form."
            )


async def _unescaped(first: bytes, others: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yields a string's bytes; some writers of JSON escape the slashes and plusses of base64."""
    yield _plain(first)
    async for piece in others:
        yield _plain(piece)


def _content_end(text: bytes) -> int:
    """Returns where a string's content ends: at a quote, before an escape that is cut, or at the end."""
    quote = text.find(b'"')
    if text.find(b"\\", 0, quote if quote >= 0 else len(text)) < 0:
        return quote if quote >= 0 else len(text)
    found = _CONTENT.match(text)
    assert found is not None  # it matches nothing, too
    return found.end()


def _is_encoded(text: bytearray) -> bool:
    """Whether the beginning of a string looks like base64, after what a data URI says of it."""
    head, comma, rest = text[:MAX_HEAD_BYTES].partition(b",")
    is_uri = bool(comma) and head[:5].lower() == b"data:"
    looked = rest + text[MAX_HEAD_BYTES:LONG_BYTES] if is_uri else text[:LONG_BYTES]
    return not looked.translate(None, ENCODED)


def _plain(piece: bytes) -> bytes:
    if b"\\" not in piece:
        return piece
    return _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]) if found[1] else b"/", piece)

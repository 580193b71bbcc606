"""A multipart form, read as it arrives: files go to disk, fields stay small."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from aiohttp import BodyPartReader, MultipartReader
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDict

from penstock.errors import first_line
from penstock.serve.errors import HttpRefusal

MAX_FIELD_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 16
PIECE = 64 * 1024


class FormBody:
    """Yields the parts of a form: a field's name and text, or a file's name and its bytes."""

    def __init__(self, headers: Mapping[str, str], stream: AsyncIterator[bytes]) -> None:
        try:
            given = CIMultiDict({"Content-Type": headers.get("content-type", "")})
            self._lines = _Lines(stream)
            self._reader = MultipartReader(given, self._lines)  # type: ignore[arg-type]
        except (ValueError, AssertionError) as exc:
            raise HttpRefusal(400, f"The form is broken: {exc}.") from exc

    async def parts(self) -> AsyncIterator[BodyPartReader]:
        try:
            while (part := await self._reader.next()) is not None:
                if not isinstance(part, BodyPartReader):
                    raise HttpRefusal(400, "The form holds another form.")
                yield part
            await self._lines.finish()
        except (ValueError, AssertionError, RuntimeError, RuntimeWarning, HttpProcessingError) as exc:
            raise HttpRefusal(400, f"The form is broken: {first_line(exc) or 'it ends too soon'}.") from exc


async def pieces(part: BodyPartReader) -> AsyncIterator[bytes]:
    """Yields a file's bytes as they come."""
    while piece := await part.read_chunk(PIECE):
        yield bytes(piece)


async def text_of(part: BodyPartReader) -> str:
    """Returns a field. Raises HttpRefusal for one that is too long."""
    data = b""
    async for piece in pieces(part):
        data += piece
        if len(data) > MAX_FIELD_BYTES:
            raise HttpRefusal(413, f"The field {part.name!r} is longer than {MAX_FIELD_BYTES} bytes.")
    return data.decode("utf-8", "replace")


class _Lines:
    """The body as aiohttp's reader of forms wants it."""

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self._kept = bytearray()
        self._ended = False

    def at_eof(self) -> bool:
        return self._ended and not self._kept

    def unread_data(self, data: bytes) -> None:
        self._kept[:0] = data

    async def read(self, size: int = -1) -> bytes:
        if not self._kept:
            await self._more()
        taken = bytes(self._kept[: size if size >= 0 else len(self._kept)])
        del self._kept[: len(taken)]
        return taken

    async def readline(self, **_: Any) -> bytes:
        looked = 0
        while (end := self._kept.find(b"\n", looked)) < 0 and not self._ended:
            looked = len(self._kept)
            if looked > MAX_LINE_BYTES:
                raise ValueError("a line is too long")
            await self._more()
        return await self.read(end + 1 if end >= 0 else len(self._kept))

    async def finish(self) -> None:
        """Reads what follows the last part: nothing, in a form that is right."""
        while not self._ended:
            if len(self._kept) > MAX_LINE_BYTES:
                raise ValueError("it goes on after its end")
            await self._more()

    async def _more(self) -> None:
        async for piece in self._stream:
            self._kept += piece
            if piece:
                return
        self._ended = True

"""A file in base64, decoded as it arrives; a data URI says of what kind it is."""

from __future__ import annotations

import binascii
from collections.abc import AsyncIterator

import pybase64

from penstock.serve.errors import HttpRefusal

MAX_HEAD_BYTES = 300  # of a data URI


class Base64Stream:
    """The bytes of a long string. `media` is what a data URI says before `;base64`, None without one."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._kept = b""
        self.media: str | None = None

    async def opened(self) -> Base64Stream:
        """Reads the head of a data URI. Raises HttpRefusal for one without base64."""
        self._kept = await anext(self._pieces, b"")
        if self._kept[:5].lower() == b"data:":
            head, _, self._kept = self._kept[5:].partition(b",")
            media = head[:MAX_HEAD_BYTES].decode("utf-8", "replace")
            if not media.lower().endswith(";base64"):
                raise HttpRefusal(
                    422, "A long data URI has to be base64.", "Like data:application/pdf;base64,..."
                )
            self.media = media[: -len(";base64")]
        return self

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yields what it decodes to. Raises HttpRefusal for what is no base64."""
        ended = False
        async for text in self._quartets():
            if ended:
                raise HttpRefusal(422, "The content of a file is not base64: it goes on after its end.")
            ended = text.endswith(b"=")
            try:
                yield pybase64.b64decode(text, None, True)
            except (binascii.Error, ValueError) as exc:
                raise HttpRefusal(422, f"The content of a file is not base64: {exc}.") from exc

    async def _quartets(self) -> AsyncIterator[bytes]:
        """Yields the text in lengths that decode by themselves, the last as it is."""
        async for piece in self._pieces:
            text = self._kept + piece
            whole = len(text) - len(text) % 4
            self._kept = text[whole:]
            if whole:
                yield text[:whole]
        if self._kept:
            yield self._kept

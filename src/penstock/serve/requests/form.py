"""A multipart form, read as it arrives: files go to disk, fields stay small."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from penstock.serve.errors import HttpRefusal
from penstock.sizes import MB, file_size

MAX_FIELD_BYTES = MB  # of all fields that are no files: they are held in memory
MAX_PARTS = 2000  # of files and of fields there may be 1000 each
MAX_AROUND_BYTES = 1 << 18
MAX_HEADER_BYTES = 16 << 10  # a name of 1000 letters, each percent-encoded

Event = Any  # a MultipartSegment: a part's head; some of its bytes; None: its end


class FormPart:
    """A field's name and text, or a file's name and its bytes."""

    def __init__(self, head: MultipartSegment, events: AsyncIterator[Event]) -> None:
        self.name = head.name
        self.filename = head.filename
        self._events = events
        self._ended = False

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yields its bytes as they come."""
        while not self._ended:
            event = await anext(self._events, None)
            if event is None:
                self._ended = True
            else:
                assert isinstance(event, bytes | bytearray)  # no head comes before the end of a part
                yield bytes(event)


class FormBody:
    """Yields the parts of a form. Raises HttpRefusal for one that is broken."""

    def __init__(self, headers: Mapping[str, str], stream: AsyncIterator[bytes]) -> None:
        _, options = parse_options_header(headers.get("content-type", ""))
        try:
            self._parser = PushMultipartParser(
                options.get("boundary", ""), max_header_size=MAX_HEADER_BYTES, max_segment_count=MAX_PARTS
            )
        except (MultipartError, ValueError) as exc:
            raise HttpRefusal(400, f"The form is broken: {exc}.") from exc
        self._stream = stream
        self._field_bytes = 0

    async def parts(self) -> AsyncIterator[FormPart]:
        events = self._events()
        async for event in events:
            if not isinstance(event, MultipartSegment):
                raise HttpRefusal(400, "The form is broken.")
            if (event.content_type or "").startswith("multipart/"):
                raise HttpRefusal(400, "The form holds another form.")
            part = FormPart(event, events)
            yield part
            async for _ in part.pieces():  # what its taker has left
                pass

    async def text_of(self, part: FormPart) -> str:
        """Returns a field. Raises HttpRefusal when the fields of the form are too long."""
        data = bytearray()
        async for piece in part.pieces():
            data += piece
            self._field_bytes += len(piece)
            if self._field_bytes > MAX_FIELD_BYTES:
                raise HttpRefusal(
                    413, f"The form's fields have more than {file_size(MAX_FIELD_BYTES)} in all."
                )
        return data.decode("utf-8", "replace")

    async def _events(self) -> AsyncIterator[Event]:
        around = 0  # bytes that belong to no part: before the first, and after the last
        try:
            async for piece in self._stream:
                around += len(piece)
                for event in self._parser.parse(piece) if piece else ():
                    around = 0
                    yield event
                if around > MAX_AROUND_BYTES:
                    raise HttpRefusal(400, "The form is broken: it goes on, and holds no part.")
            self._parser.close()
        except (MultipartError, ValueError) as exc:
            raise HttpRefusal(400, f"The form is broken: {exc}.") from exc

"""What came with a request: files on disk and options, whether as a form, as JSON or as plain bytes."""

from __future__ import annotations

import asyncio
import binascii
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import pybase64
from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from penstock.redaction import SafeRepr
from penstock.serve.errors import HttpRefusal, TooLarge, writable
from penstock.serve.guard.remote_files import RemoteFiles
from penstock.serve.guard.upload_deadlines import has_arrived, hold_for
from penstock.serve.reading.service import Service
from penstock.serve.requests.base64_stream import Base64Stream
from penstock.serve.requests.form import FormBody
from penstock.serve.requests.long_json import LongJson
from penstock.serve.requests.received_file import ReceivedFile, receive
from penstock.sizes import file_size
from penstock.store.atomic_files import store_errors

MAX_FILES = 1000  # of one request
MAX_FIELDS = 1000
FORM_BYTES = 1 << 20  # around the files of a form
MAX_IN_MEMORY = 128 << 10  # of a request's files; the rest is written as it arrives
QUERY_ONLY = ("wait", "format", "name")  # said in the address, not among a job's options
FILES = ("files", "file")


@dataclass
class RequestFiles(SafeRepr):
    """Files and options of a request, and files of other fields. `digest` is of all of it."""

    files: list[ReceivedFile] = field(default_factory=list)
    attachments: dict[str, list[ReceivedFile]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    size: int = 0

    @property
    def digest(self) -> str:
        told: list[Any] = [[[file.name, file.digest] for file in self.files], self.options]
        if self.attachments:
            told.append(
                [
                    [name, file.name, file.digest]
                    for name in self.attachments
                    for file in self.attachments[name]
                ]
            )
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def add_option(self, name: str, value: Any) -> None:
        """A name that comes twice is a list."""
        if name in self.options:
            before = self.options[name]
            value = [*before, value] if isinstance(before, list) else [before, value]
        self.options[name] = value
        if len(self.options) > MAX_FIELDS or (isinstance(value, list) and len(value) > MAX_FIELDS):
            raise HttpRefusal(413, f"There are more than {MAX_FIELDS} options.")


@dataclass(frozen=True, slots=True)
class _LongFile:
    """A file that came in JSON. `media` is what its data URI said, None for bare base64."""

    file: ReceivedFile
    media: str | None


class BodyReader:
    """Writes the files of requests below OUT; they are gone after the block unless a job took them."""

    def __init__(self, service: Service, max_bytes: int, remote: RemoteFiles) -> None:
        self._service = service
        self._max_bytes = max_bytes
        self._remote = remote

    @contextmanager
    def opened(self, max_bytes: int | None = None) -> Iterator[BodyParser]:
        with ExitStack() as kept:
            yield BodyParser(
                lambda: kept.enter_context(self._service.incoming()),
                min(self._max_bytes, max_bytes or self._max_bytes),
                self._remote,
            )


class BodyParser:
    """One request's body."""

    def __init__(self, new_path: Callable[[], Path], max_bytes: int, remote: RemoteFiles) -> None:
        self._new_path = new_path
        self._max_bytes = max_bytes
        self._remote = remote
        self._is_whole: Callable[[], bool] = lambda: False
        self.received = RequestFiles()
        self._long: dict[str, _LongFile] = {}  # by the word that stands for each in the JSON
        self._mark = secrets.token_hex(16)

    async def read(self, request: Request, attachments: tuple[str, ...] = ()) -> RequestFiles:
        """Reads a form, JSON, or the bytes of one file called `name` in the address.

        Files may also come in the fields `attachments`.
        """
        for name, value in request.query_params.multi_items():
            if name not in QUERY_ONLY:
                self.received.add_option(name, value)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.check(request)
        if kind == "multipart/form-data":
            await self.form_parts(request, FILES, attachments)
        elif kind == "application/json":
            await self._json(await self.json(request), attachments)
        else:
            await self.add_stream(request.query_params.get("name", "document"), request.stream())
        if not self.received.files:
            raise HttpRefusal(400, "There is no file in the request.", "Send one: curl -F files=@report.pdf.")
        return self.received

    def check(self, request: Request) -> None:
        """Refuses a body that its headers condemn, before it is read. Call it first."""
        self._is_whole = partial(has_arrived, request.scope)
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise HttpRefusal(415, "The body is compressed.", "Send the file as it is.")
        is_json = "json" in request.headers.get("content-type", "")
        max_bytes = self._max_bytes * 4 // 3 if is_json else self._max_bytes  # base64 is a third longer
        if int(request.headers.get("content-length", 0)) > max_bytes + FORM_BYTES:
            raise TooLarge(f"A document may have {file_size(self._max_bytes)} at most.")

    async def form_parts(
        self, request: Request, files: tuple[str, ...], attachments: tuple[str, ...] = ()
    ) -> None:
        """Takes the parts of a form; a file may come under any of the names `files`, others `attachments`."""
        form = FormBody(request.headers, request.stream())
        async for part in form.parts():
            if part.filename is not None:
                if part.name not in (*files, *attachments):
                    raise HttpRefusal(422, f"There is no field {part.name!r} for files.", f"Use {files[0]}.")
                into = part.name if part.name in attachments else ""
                await self.add_stream(part.filename, part.pieces(), into)
            elif not part.name:
                raise HttpRefusal(400, "The form is broken: a part has no name.")
            else:
                self.received.add_option(part.name.removesuffix("[]"), await form.text_of(part))

    async def json(self, request: Request) -> dict[str, Any]:
        """Returns the body as an object. Files in it are on disk; a word stands for each."""
        data = await LongJson(request.stream(), self._take_long, hold_for(request.scope)).short()
        try:
            told = await run_in_threadpool(json.loads, data)
        except (ValueError, RecursionError) as exc:
            raise HttpRefusal(400, f"The body is no JSON: {exc}.") from exc
        if not isinstance(told, dict):
            raise HttpRefusal(422, "The body is no JSON object.")
        return told

    async def add_stream(self, name: str, stream: AsyncIterator[bytes], into: str = "") -> None:
        """Writes one file, of the field `into` where it comes with others. Raises what is wrong with it."""
        self._add(await self._received(name, stream), into)

    def _add(self, file: ReceivedFile, into: str) -> None:
        kept = self.received.attachments.setdefault(into, []) if into else self.received.files
        kept.append(file)

    async def _received(self, name: str, stream: AsyncIterator[bytes]) -> ReceivedFile:
        others = sum(map(len, self.received.attachments.values())) + len(self._long)
        if len(self.received.files) + others >= MAX_FILES:
            raise HttpRefusal(413, f"A request may have {MAX_FILES} files at most.")
        path = self._new_path()
        left, memory = self._max_bytes - self.received.size, MAX_IN_MEMORY - self.received.size
        with store_errors(path):
            file = await receive(stream, path, writable(name), left, max(0, memory), self._is_whole)
        if not file.size:
            raise HttpRefusal(400, f"The file {name!r} is empty.", "Send the file's bytes.")
        self.received.size += file.size
        return file

    async def _take_long(self, pieces: AsyncIterator[bytes]) -> str:
        """Writes a file that stands in JSON. Returns the word for it; no client can know it before."""
        content = await Base64Stream(pieces).opened()
        file = await self._received("document", aiter(content))
        word = f"{'data:' if content.media is not None else ''}{self._mark}{len(self._long)}"
        self._long[word] = _LongFile(file, content.media)
        return word

    async def add_base64(self, name: str, text: str, into: str = "") -> None:
        if (long := self._long.get(text)) is not None and long.media is None:
            self._add(replace(self._long.pop(text).file, name=writable(name)), into)
            return
        try:
            data = await run_in_threadpool(pybase64.b64decode, text, None, True)
        except (binascii.Error, ValueError) as exc:
            raise HttpRefusal(422, f"The content of {name!r} is not base64: {exc}.") from exc
        await self.add_stream(name, _once(data), into)

    async def add_address(self, address: str, name: str | None = None, into: str = "") -> None:
        """Takes a data URI, or fetches from a host that the operator allows."""
        if (long := self._long.get(address)) is not None and long.media is not None:
            named = replace(self._long.pop(address).file, name=writable(name or _name_for(long.media)))
            self._add(named, into)
            return
        if address[:5].lower() == "data:":
            head, comma, content = address[5:].partition(",")
            if not comma:
                raise HttpRefusal(422, "The data URI has no content.")
            if head.lower().endswith(";base64"):
                await self.add_base64(name or _name_for(head), content, into)
            else:
                await self.add_stream(name or _name_for(head), _once(unquote_to_bytes(content)), into)
            return
        async with self._remote.opened(address) as stream:
            name = name or urlsplit(address).path.rpartition("/")[2] or "document"
            await self.add_stream(name, stream, into)

    async def _json(self, told: dict[str, Any], attachments: tuple[str, ...]) -> None:
        for field_name in ("files", *(name for name in attachments if name in told)):
            files = told.pop(field_name, None)
            if not isinstance(files, list) or not all(isinstance(one, dict) for one in files):
                raise HttpRefusal(
                    422, f"{field_name}: a list of objects is wanted.", 'Like {"name": ..., "base64": ...}.'
                )
            for one in files[: MAX_FILES + 1]:
                await self._json_file(one, field_name)
        if self._long:
            raise HttpRefusal(422, "A long text is in no field for files.", "Leave it out.")
        for name, value in told.items():
            self.received.add_option(name, value)

    async def _json_file(self, one: dict[str, Any], field_name: str) -> None:
        name, text, address = (one.get(key) for key in ("name", "base64", "url"))
        unknown = set(one) - {"name", "base64", "url"}
        if unknown or not isinstance(name, str | None) or isinstance(text, str) == isinstance(address, str):
            raise HttpRefusal(422, f"{field_name}: each has a name and either base64 or url.")
        into = field_name if field_name != "files" else ""
        if isinstance(text, str):
            await self.add_base64(name or "document", text, into)
        else:
            await self.add_address(str(address), name, into)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    await asyncio.sleep(0)
    yield data


def _name_for(media: str) -> str:
    """Returns a file name for the media type of a data URI."""
    kind = media.partition(";")[0].strip().lower().rpartition("/")[2]
    ending = {"jpeg": "jpg", "svg+xml": "svg", "x-png": "png"}.get(kind, kind)
    return f"document.{ending}" if ending.isalnum() else "document"

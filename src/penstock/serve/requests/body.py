"""What came with a request: files on disk and options, whether as a form, as JSON or as plain bytes."""

from __future__ import annotations

import asyncio
import binascii
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import pybase64
from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from penstock.redaction import SafeRepr
from penstock.serve.errors import HttpRefusal, writable
from penstock.serve.guard.arrivals import has_arrived
from penstock.serve.guard.remote_files import RemoteFiles
from penstock.serve.requests.form import FormBody, pieces, text_of
from penstock.serve.service import Service
from penstock.serve.upload import ReceivedFile, TooLarge, receive
from penstock.sizes import MB, file_size
from penstock.store.atomic_files import store_errors

MAX_FILES = 1000  # of one request
MAX_FIELDS = 1000
FORM_BYTES = 1 << 20  # around the files of a form
MAX_JSON_BYTES = 64 * MB  # it is read into memory; larger files go into a form
MAX_IN_MEMORY = 128 << 10  # of a request's files; the rest is written as it arrives
QUERY_ONLY = ("wait", "format", "name")  # said in the address, not among a job's options
FILES = ("files", "file")


@dataclass
class Sending(SafeRepr):
    """Files and options of a request, and files of other fields. `digest` is of all of it."""

    files: list[ReceivedFile] = field(default_factory=list)
    beside: dict[str, list[ReceivedFile]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    size: int = 0

    @property
    def digest(self) -> str:
        told: list[Any] = [[[file.name, file.digest] for file in self.files], self.options]
        if self.beside:
            told.append(
                [[name, file.name, file.digest] for name in self.beside for file in self.beside[name]]
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


class BodyReader:
    """Writes the files of requests below OUT; they are gone after the block unless a job took them."""

    def __init__(self, service: Service, max_bytes: int, remote: RemoteFiles) -> None:
        self._service = service
        self._max_bytes = max_bytes
        self._remote = remote

    @contextmanager
    def opened(self, max_bytes: int | None = None) -> Iterator[BodyRead]:
        with ExitStack() as kept:
            yield BodyRead(
                lambda: kept.enter_context(self._service.incoming()),
                min(self._max_bytes, max_bytes or self._max_bytes),
                self._remote,
            )


class BodyRead:
    """One request's body."""

    def __init__(self, new_path: Callable[[], Path], max_bytes: int, remote: RemoteFiles) -> None:
        self._new_path = new_path
        self._max_bytes = max_bytes
        self._remote = remote
        self._is_whole: Callable[[], bool] = lambda: False
        self.sending = Sending()

    async def read(self, request: Request, beside: tuple[str, ...] = ()) -> Sending:
        """Reads a form, JSON, or the bytes of one file called `name` in the address.

        Files may also come in the fields `beside`.
        """
        for name, value in request.query_params.multi_items():
            if name not in QUERY_ONLY:
                self.sending.add_option(name, value)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.check(request)
        if kind == "multipart/form-data":
            await self.form_parts(request, FILES, beside)
        elif kind == "application/json":
            await self._json(await self.json(request), beside)
        else:
            await self.add_stream(request.query_params.get("name", "document"), request.stream())
        if not self.sending.files:
            raise HttpRefusal(400, "There is no file in the request.", "Send one: curl -F files=@report.pdf.")
        return self.sending

    def check(self, request: Request) -> None:
        """Refuses a body that its headers condemn, before it is read. Call it first."""
        self._is_whole = partial(has_arrived, request.scope)
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise HttpRefusal(415, "The body is compressed.", "Send the file as it is.")
        if int(request.headers.get("content-length", 0)) > self._max_bytes + FORM_BYTES:
            raise TooLarge(f"A document may have {file_size(self._max_bytes)} at most.")

    async def form_parts(
        self, request: Request, files: tuple[str, ...], beside: tuple[str, ...] = ()
    ) -> None:
        """Takes the parts of a form; a file may come under any of the names `files`, others `beside`."""
        async for part in FormBody(request.headers, request.stream()).parts():
            if part.filename is not None:
                if part.name not in (*files, *beside):
                    raise HttpRefusal(422, f"There is no field {part.name!r} for files.", f"Use {files[0]}.")
                into = part.name if part.name in beside else ""
                await self.add_stream(part.filename, pieces(part), into)
            elif not part.name:
                raise HttpRefusal(400, "The form is broken: a part has no name.")
            else:
                self.sending.add_option(part.name.removesuffix("[]"), await text_of(part))

    async def json(self, request: Request) -> dict[str, Any]:
        """Returns the body as an object."""
        data = bytearray()
        async for piece in request.stream():
            data += piece
            if len(data) > MAX_JSON_BYTES:
                raise TooLarge(f"JSON may have {file_size(MAX_JSON_BYTES)} at most.", "Send files as a form.")
        try:
            told = await run_in_threadpool(json.loads, bytes(data))
        except (ValueError, RecursionError) as exc:
            raise HttpRefusal(400, f"The body is no JSON: {exc}.") from exc
        if not isinstance(told, dict):
            raise HttpRefusal(422, "The body is no JSON object.")
        return told

    async def add_stream(self, name: str, stream: AsyncIterator[bytes], into: str = "") -> None:
        """Writes one file, of the field `into` where it comes beside others. Raises what is wrong with it."""
        others = self.sending.beside
        kept = others.setdefault(into, []) if into else self.sending.files
        if len(self.sending.files) + sum(map(len, others.values())) >= MAX_FILES:
            raise HttpRefusal(413, f"A request may have {MAX_FILES} files at most.")
        path = self._new_path()
        left, memory = self._max_bytes - self.sending.size, MAX_IN_MEMORY - self.sending.size
        with store_errors(path):
            file = await receive(stream, path, writable(name), left, max(0, memory), self._is_whole)
        if not file.size:
            raise HttpRefusal(400, f"The file {name!r} is empty.", "Send the file's bytes.")
        self.sending.size += file.size
        kept.append(file)

    async def add_base64(self, name: str, text: str, into: str = "") -> None:
        try:
            data = await run_in_threadpool(pybase64.b64decode, text, None, True)
        except (binascii.Error, ValueError) as exc:
            raise HttpRefusal(422, f"The content of {name!r} is not base64: {exc}.") from exc
        await self.add_stream(name, _once(data), into)

    async def add_address(self, address: str, name: str | None = None, into: str = "") -> None:
        """Takes a data URI, or fetches from a host that the operator allows."""
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

    async def _json(self, told: dict[str, Any], beside: tuple[str, ...]) -> None:
        for field_name in ("files", *(name for name in beside if name in told)):
            files = told.pop(field_name, None)
            if not isinstance(files, list) or not all(isinstance(one, dict) for one in files):
                raise HttpRefusal(
                    422, f"{field_name}: a list of objects is wanted.", 'Like {"name": ..., "base64": ...}.'
                )
            for one in files[: MAX_FILES + 1]:
                await self._json_file(one, field_name)
        for name, value in told.items():
            self.sending.add_option(name, value)

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

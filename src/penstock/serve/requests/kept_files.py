"""Files that a client uploads first and names later, and addresses of them that need no key.

They lie among what is still being received: a start after a crash removes them. What is known of them is in
memory, so a restart forgets them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi.concurrency import run_in_threadpool

from penstock.serve.errors import HttpRefusal
from penstock.serve.guard.key_middleware import SIGNED
from penstock.serve.requests.received_file import ReceivedFile
from penstock.store.atomic_files import store_errors

KEEP_S = 24 * 3600.0
MIN_KEEP_S = 600.0  # the oldest makes room for a new one, but not before a client can have used it
MAX_KEPT = 64  # files of one key
MAX_KEPT_BYTES = 2 << 30  # of one key; a single file may have more
MAX_ADDRESS = 1_000  # letters of an address that we make
PIECE = 256 * 1024
GONE = "There is no such file, or its address has expired."


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file at `path`, which its `place` removes when it is closed."""

    id: str
    owner: str  # the name of the key
    name: str
    size: int
    created: float  # seconds since 1970
    path: Path
    place: ExitStack = field(repr=False)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yields the bytes. Raises HttpRefusal where the file was deleted meanwhile."""
        try:
            opened = await run_in_threadpool(self.path.open, "rb")
        except FileNotFoundError as exc:
            raise HttpRefusal(404, GONE, "Upload it again.") from exc
        with opened:
            while piece := await run_in_threadpool(opened.read, PIECE):
                yield piece


class KeptFiles:
    """The kept files of a service. `incoming` gives a path below OUT that is removed at the end."""

    def __init__(
        self,
        incoming: Callable[[], AbstractContextManager[Path]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._incoming = incoming
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._files: dict[str, KeptFile] = {}  # oldest first
        self._lock = threading.Lock()

    def __enter__(self) -> KeptFiles:
        return self

    def __exit__(self, *_: object) -> None:
        for file in list(self._files.values()):
            self.delete(file)

    def keep(self, received: ReceivedFile, owner: str) -> KeptFile:
        """Takes a file that has arrived. Raises HttpRefusal when its owner has too many of them."""
        with ExitStack() as place, store_errors(received.path):
            path = place.enter_context(self._incoming())
            received.put_on_disk()
            received.path.replace(path)
            with self._lock:
                self._make_room(owner, received.size)
                id, now = str(uuid.uuid4()), self._clock()
                kept = KeptFile(id, owner, received.name, received.size, now, path, place.pop_all())
                self._files[id] = kept
        return kept

    def get(self, id: str) -> KeptFile | None:
        with self._lock:
            self._expire()
            return self._files.get(id)

    def of(self, owner: str | None) -> list[KeptFile]:
        """Returns the files of an owner, latest first; with None those of all."""
        with self._lock:
            self._expire()
            return [file for file in reversed(self._files.values()) if owner in (None, file.owner)]

    def delete(self, file: KeptFile) -> None:
        with self._lock:
            self._drop(file)

    def address(self, file: KeptFile, lasts_s: float) -> str:
        """Returns the path and query by which anyone may read this file for a while, and nothing else."""
        expires = int(min(self._clock() + lasts_s, file.created + KEEP_S))
        asked = {"expires": expires, "signature": self._signature(file.id, expires)}
        return f"{SIGNED}{file.id}?{urlencode(asked)}"

    def signed(self, id: str, expires: int, signature: str) -> KeptFile:
        """Returns the file of an address that we made. Raises HttpRefusal, the same for every reason."""
        made = self._signature(id, expires)
        is_ours = hmac.compare_digest(made.encode(), signature.encode("utf-8", "replace"))
        file = self.get(id) if is_ours and self._clock() < expires else None
        if file is None:
            raise HttpRefusal(404, GONE, "Upload it again.")
        return file

    def named_by(self, address: str) -> KeptFile | None:
        """Returns the file that an address of ours leads to; None for any other. Raises HttpRefusal."""
        if (
            len(address) > MAX_ADDRESS or SIGNED not in address
        ):  # a document itself may be written as an address
            return None
        try:
            parts = urlsplit(address)
            query = parse_qs(parts.query)
        except ValueError:
            return None
        if not parts.path.startswith(SIGNED):
            return None
        expires, signature = (query.get(name, [""])[0] for name in ("expires", "signature"))
        is_number = expires.isascii() and expires.isdecimal() and len(expires) < 20
        return self.signed(parts.path.removeprefix(SIGNED), int(expires) if is_number else 0, signature)

    def _signature(self, id: str, expires: int) -> str:
        made = hmac.digest(self._secret, f"{expires}/{id}".encode("utf-8", "replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(made).decode().rstrip("=")

    def _make_room(self, owner: str, size: int) -> None:
        self._expire()
        mine = [file for file in self._files.values() if file.owner == owner]
        while mine and (len(mine) >= MAX_KEPT or sum(file.size for file in mine) + size > MAX_KEPT_BYTES):
            if self._clock() - mine[0].created < MIN_KEEP_S:
                raise HttpRefusal(429, "Too many files are kept for you already.", "Delete some.")
            self._drop(mine.pop(0))

    def _expire(self) -> None:
        for file in [file for file in self._files.values() if self._clock() - file.created >= KEEP_S]:
            self._drop(file)

    def _drop(self, file: KeptFile) -> None:
        if self._files.pop(file.id, None) is not None:
            file.place.close()

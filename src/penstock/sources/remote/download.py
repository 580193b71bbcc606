"""Downloads one document, within a deadline and a size, in a process that can be killed.

A name that is never resolved, or headers that come a byte a minute, cost the deadline and no more. Where the
user named a public address, no redirect leads into this machine or its network.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from penstock import __version__
from penstock.errors import BadInput, DeadlinePassed, UsageError, WorkerDied
from penstock.processes.child import Child
from penstock.redaction import SafeRepr, bare_address
from penstock.sources import formats
from penstock.sources.formats import READABLE
from penstock.sources.names.safe import safe_name
from penstock.sources.remote.file_notes import GONE, note_path
from penstock.sources.remote.public_address import addresses_of, is_public

MAX_DOWNLOAD_BYTES = 1 << 30
DEADLINE_S = 300.0  # 1 GB at 30 Mbit/s
SILENCE_S = 30.0  # without a byte
CHUNK_BYTES = 1 << 16
PART = ".part"  # what is not whole yet


@dataclass(frozen=True, slots=True)
class Download(SafeRepr):
    """What to fetch, and where to."""

    url: str
    path: str
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Addressed(SafeRepr):
    """What is at an http(s) address, and where it is kept on this machine once it is fetched."""

    url: str
    downloads: Path

    @property
    def shown(self) -> str:
        """The address without what may be a secret."""
        try:
            return bare_address(self.url)
        except ValueError:  # an address that is none
            return PurePosixPath(self.url.partition("?")[0]).name

    @property
    def kept(self) -> Path | None:
        """Where it is kept, or was kept until it was read; None where it was never fetched."""
        try:
            home = _home(self.url, self.downloads)
        except UsageError:  # fetching it gives the reason
            return None
        return next((path.resolve() for path in (*_kept(self.url, home), *_gone(self.url, home))), None)

    def fetch(self) -> Path:
        """Downloads it, unless it was before. Raises BadInput with the reason where that fails."""
        try:
            return downloaded_once(self.url, self.downloads).resolve()
        except UsageError as exc:
            message = str(exc)
            own = message.startswith(self.shown)  # words that follow a name
            reason = message.removeprefix(self.shown).lstrip() if own else f"cannot be downloaded: {message}"
            raise BadInput(reason) from exc
        except OSError as exc:
            raise BadInput(f"cannot be kept in {self.downloads}: {exc.strerror or exc}.") from exc


def is_url(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://"))


def download(url: str, path: Path) -> None:
    """Fetches `url` into the file `path`. Raises UsageError with the reason where it cannot."""
    where = _checked(url)
    with Child(open_download, name="the download") as child:
        try:
            child.call(Download(url, str(path), MAX_DOWNLOAD_BYTES), DEADLINE_S)
        except DeadlinePassed as exc:
            raise UsageError(
                f"{where} was not there after {DEADLINE_S:g} s.", "Download it by other means, give the file."
            ) from exc
        except (BadInput, WorkerDied) as exc:
            raise UsageError(f"{where} cannot be downloaded: {exc.message}", exc.advice) from exc


def downloaded(url: str, folder: Path) -> Path:
    """Fetches `url` into `folder`, under its own name and the ending of its kind. Raises UsageError."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / PART
    download(url, part)
    with part.open("rb") as file:
        kind = formats.sniff(file.read(formats.HEAD_BYTES), PurePosixPath(bare_address(url)).suffix.lower())
    if kind is None or kind in ("html", "eml"):  # a web page that says that there is nothing
        raise UsageError(f"{bare_address(url)} is not a document.", READABLE)
    return part.replace(part.with_name(f"{_stem(url)}.{kind}"))


def downloaded_once(url: str, folder: Path) -> Path:
    """As `downloaded`, into a folder of its own below `folder`. What is there is not fetched again."""
    home = _home(url, folder)
    found = _kept(url, home)
    return found[0] if found else downloaded(url, home)


def forget_download(url: str, folder: Path) -> None:
    """Deletes what `downloaded_once` keeps of an address, so that it is fetched again."""
    home = _home(url, folder)
    for path in (*_kept(url, home), *map(note_path, _gone(url, home))):
        path.unlink(missing_ok=True)


def _home(url: str, folder: Path) -> Path:
    host = _checked(url) and urlsplit(url).hostname
    return folder / safe_name(f"{host}-{hashlib.sha256(url.encode()).hexdigest()[:8]}")


def _kept(url: str, home: Path) -> list[Path]:
    """Returns what was downloaded from an address: a file of its name and of a kind that we read."""
    if home.is_symlink() or not home.is_dir():
        return []
    found = (path for path in home.iterdir() if path.stem == _stem(url) and path.name != PART)
    return [path for path in found if path.is_file() and not path.is_symlink()]


def _gone(url: str, home: Path) -> list[Path]:
    """Returns where what was downloaded from an address lay before it was deleted."""
    if home.is_symlink() or not home.is_dir():
        return []
    found = (
        path.with_name(path.name.removesuffix(GONE)) for path in home.iterdir() if path.name.endswith(GONE)
    )
    return [path for path in found if path.stem == _stem(url) and not note_path(path).is_symlink()]


def _stem(url: str) -> str:
    stem = PurePosixPath(unquote(urlsplit(url).path)).stem
    return safe_name(stem) if stem else "document"


def _checked(url: str) -> str:
    try:
        return bare_address(url)
    except ValueError as exc:  # a port that is no number, a bracket without its pair
        raise UsageError(f"This is not an address: {exc}.", "Write it like https://host/report.pdf.") from exc


def open_download() -> Callable[[Download], int]:
    """Runs in the child."""
    return _fetch


def _fetch(asked: Download) -> int:
    """Returns how many bytes came."""
    headers = {"User-Agent": f"penstock/{__version__}", "Accept-Encoding": "identity"}
    try:
        request = urllib.request.Request(asked.url, headers=headers)
        with _opener().open(request, timeout=SILENCE_S) as answer:
            size = _copied(answer, asked)
            modified = _modified(answer.headers.get("Last-Modified", ""))
            os.utime(asked.path, (modified, modified))
            promised = answer.headers.get("Content-Length", "")
            if promised.isdecimal() and size != int(promised):
                raise BadInput(f"{size:,} of {int(promised):,} bytes came.", "Try again.")
            return size
    except urllib.error.HTTPError as exc:
        exc.close()
        raise BadInput(f"the server answered {exc.code} {exc.reason}.", "Check the address.") from exc
    except (OSError, HTTPException, ValueError) as exc:  # URLError is an OSError
        reason = getattr(exc, "reason", None) or exc
        raise BadInput(f"{reason}.", "Check the address and the network.") from exc


def _copied(answer: HTTPResponse, asked: Download) -> int:
    size = 0
    with Path(asked.path).open("wb") as file:
        while chunk := answer.read1(CHUNK_BYTES):
            size += len(chunk)
            if size > asked.max_bytes:
                raise BadInput(f"it is larger than {asked.max_bytes:,} bytes.")
            file.write(chunk)
    return size


def _modified(text: str) -> float:
    """Returns the time that a server says; without one 1970, so that ids are the same on every machine."""
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _opener() -> urllib.request.OpenerDirector:
    """Returns what speaks HTTP only: no redirect may lead to a file of this machine."""
    opener = urllib.request.OpenerDirector()
    handlers: tuple[urllib.request.BaseHandler, ...] = (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        _PublicOnce(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    )
    for handler in handlers:
        opener.add_handler(handler)
    return opener


class _PublicOnce(urllib.request.AbstractHTTPHandler):
    """Connects anywhere at first; after a public address only to public ones.

    Each hop resolves its host once, and connects to an address that it checked. Through a proxy, the proxy
    decides whom it reaches.
    """

    def __init__(self) -> None:
        super().__init__()
        self._only_public = False

    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(partial(self._connection, HTTPConnection), request)

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(partial(self._connection, HTTPSConnection), request)

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    def _connection(self, kind: type[HTTPConnection], host: str, **options: Any) -> HTTPConnection:
        connection = kind(host, **options)
        # where http.client makes its socket; TLS is spoken over it with the host's own name
        connection._create_connection = self._connected  # type: ignore[attr-defined]
        return connection

    def _connected(self, place: tuple[str, int], *given: Any) -> socket.socket:
        """Returns a socket to an address of the host. Raises ValueError if it leads inside."""
        found = addresses_of(*place)
        public = [address for address in found if is_public(address)]
        if self._only_public and len(public) < len(found):
            raise ValueError("it leads to an address inside this network")
        self._only_public = bool(public)
        return _first_connected(public or found, place[1], *given)


def _first_connected(addresses: list[str], port: int, *given: Any) -> socket.socket:
    """Returns a socket to the first address that answers. Raises the last one's OSError."""
    for address in addresses[:-1]:
        with contextlib.suppress(OSError):
            return socket.create_connection((address, port), *given)
    return socket.create_connection((addresses[-1], port), *given)

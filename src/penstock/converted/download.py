"""Downloads one document, within a deadline and a size, in a process that can be killed.

A name that is never resolved, or headers that come a byte a minute, cost the deadline and no more.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

from penstock import __version__
from penstock.errors import BadInput, DeadlinePassed, UsageError, WorkerDied
from penstock.processes.child import Child

MAX_DOWNLOAD_BYTES = 1 << 30
DEADLINE_S = 300.0  # 1 GB at 30 Mbit/s
SILENCE_S = 30.0  # without a byte
CHUNK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Download:
    """What to fetch, and where to."""

    url: str
    path: str
    max_bytes: int


def is_url(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://"))


def shown(url: str) -> str:
    """Returns an address without what may be secret in it: a password, a signature."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


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


def _checked(url: str) -> str:
    try:
        return shown(url)
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
            promised = answer.headers.get("Content-Length", "")
            if promised.isdecimal() and size != int(promised):
                raise BadInput(f"{size:,} of {int(promised):,} bytes came.", "Try again.")
            return size
    except urllib.error.HTTPError as exc:
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


def _opener() -> urllib.request.OpenerDirector:
    """Returns what speaks HTTP only: no redirect may lead to a file of this machine."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener

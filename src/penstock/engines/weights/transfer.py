"""Plain HTTP: a page into memory, an archive onto the disk.

Both are bounded in bytes and time. A broken transfer leaves its part on the disk, and the next one goes on
where it stopped. Nothing here knows packages: package_index.py finds the addresses.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from penstock import __version__
from penstock.errors import MissingModel, first_line
from penstock.redaction import bare_address
from penstock.sizes import MB, file_size

SILENCE_S = 30.0  # a server that sends no byte for so long is gone
MAX_TOTAL_S = 600.0  # for all that one call fetches: 50 MB at 0.7 Mbit/s
MAX_PAGE_BYTES = 32 * MB
MAX_ARCHIVE_BYTES = 256 * MB  # the largest of our packages has 32 MB
MAX_TRIES = 4
CHUNK = 1 << 18
# where Pythons without certificates of their own (python.org's on macOS) find those of the system
SYSTEM_CERTIFICATES = Path("/etc/ssl/cert.pem")

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)$")

Told = Callable[[int], None]  # bytes that have come since the last call


class Unreachable(MissingModel):
    """No server answered there. Others may."""


class Refused(MissingModel):
    """The server answered, and has no such thing."""


class NoPieces(Exception):
    """The server sends whole files only."""


class TransferBroken(Exception):
    """The bytes stopped before the end; what has come is kept."""


@dataclass(frozen=True, slots=True)
class Checksum:
    algorithm: str  # a name of hashlib's
    hexdigest: str

    def fits(self, place: Path) -> bool:
        with place.open("rb") as source:
            return hashlib.file_digest(source, self.algorithm).hexdigest() == self.hexdigest


@dataclass
class Web:
    """Opens addresses as the user's tools would: their proxy, their certificates, their logins.

    A host that did not answer is not asked again. `proxy` empty means what the environment says.
    """

    proxy: str = field(default="", repr=False)
    certificates: str = ""
    trusted_hosts: tuple[str, ...] = ()
    clock: Callable[[], float] = time.monotonic
    _dead: dict[str, Unreachable] = field(default_factory=dict, init=False)
    _logins: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    _openers: dict[bool, urllib.request.OpenerDirector] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._ends = self.clock() + MAX_TOTAL_S

    def page(self, url: str, accept: str) -> bytes:
        """Returns what is there. Raises Refused, Unreachable."""
        try:
            with self._open(url, {"Accept": accept}) as answer:
                body: bytes = answer.read(MAX_PAGE_BYTES + 1)
        except (OSError, http.client.HTTPException) as exc:
            raise Unreachable(f"{host_of(url)} broke off: {first_line(exc)}.") from exc
        if len(body) > MAX_PAGE_BYTES:
            raise Refused(f"{bare_address(url)} is longer than {file_size(MAX_PAGE_BYTES)}.")
        return body

    def archive(self, url: str, target: Path, checksum: Checksum | None, told: Told) -> None:
        """Writes what is there to `target`, whole or not at all. Goes on with a part that was left there."""
        part = target.with_name(f"{target.name}.part")
        broken = "no bytes came"
        for _ in range(MAX_TRIES):
            resumed = part.exists()
            try:
                if not (resumed and checksum and checksum.fits(part)):
                    self._go_on(url, part, told)
            except (TransferBroken, OSError, http.client.HTTPException) as exc:
                broken = first_line(exc)
                continue
            if checksum is None or checksum.fits(part):
                part.replace(target)
                return
            part.unlink()
            broken = f"its {checksum.algorithm} is not the one that the index tells"
            if not resumed:
                break  # the same bytes would come again
        raise Unreachable(f"{bare_address(url)} did not come whole: {broken.rstrip('.')}.")

    def piece(self, url: str, start: int | None, length: int) -> tuple[bytes, int, int]:
        """Returns bytes of a file from `start` on, or its last ones; where they begin; how long the file is.

        Raises NoPieces, Refused, Unreachable.
        """
        asked = f"bytes=-{length}" if start is None else f"bytes={start}-{start + length - 1}"
        if self.clock() > self._ends:
            raise Unreachable(f"No end after {MAX_TOTAL_S:g} s; run it again.")
        try:
            with self._open(url, {"Range": asked}) as answer:
                told = _CONTENT_RANGE.match(str(answer.headers.get("Content-Range", "")))
                if answer.status != http.client.PARTIAL_CONTENT or told is None:
                    raise NoPieces(host_of(url))
                body: bytes = answer.read(length + 1)
        except (OSError, http.client.HTTPException) as exc:
            raise Unreachable(f"{host_of(url)} broke off: {first_line(exc)}.") from exc
        first, last, size = (int(number) for number in told.groups())
        if len(body) != last - first + 1 or (start is not None and first != start):
            raise NoPieces(host_of(url))
        return body, first, size

    def _go_on(self, url: str, part: Path, told: Told) -> None:
        have = part.stat().st_size if part.exists() else 0
        with self._open(url, {"Range": f"bytes={have}-"} if have else {}) as answer:
            if answer.status == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                part.unlink()
                raise TransferBroken("the part on the disk does not fit the file")
            goes_on = have > 0 and _begins_at(answer) == have
            with part.open("ab" if goes_on else "wb") as sink:
                self._copy(answer, sink, told)
            left = answer.headers.get("Content-Length")
            whole = int(left) + have * goes_on if left and left.isdigit() else None
        if whole is not None and part.stat().st_size != whole:
            raise TransferBroken(f"{part.stat().st_size:,} of {whole:,} bytes came")

    def _copy(self, source: Any, sink: IO[bytes], told: Told) -> None:
        while chunk := source.read(CHUNK):
            sink.write(chunk)
            told(len(chunk))
            if sink.tell() > MAX_ARCHIVE_BYTES:
                raise Refused(f"It is larger than {file_size(MAX_ARCHIVE_BYTES)}; no package of ours is.")
            if self.clock() > self._ends:
                raise Unreachable(f"No end after {MAX_TOTAL_S:g} s; run it again to go on from here.")

    def _open(self, url: str, headers: Mapping[str, str]) -> Any:
        plain, host = self._without_login(url), host_of(url)
        if host in self._dead:
            raise self._dead[host]
        request = urllib.request.Request(plain, headers={"User-Agent": f"penstock/{__version__}", **headers})
        if login := self._logins.get(host):
            request.add_unredirected_header("Authorization", f"Basic {login}")  # not for whom it points to
        try:
            return self._opener(host).open(request, timeout=SILENCE_S)
        except urllib.error.HTTPError as exc:
            if exc.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                return exc
            exc.close()
            raise Refused(f"{host} answers {exc.code} ({exc.reason}) to {bare_address(url)}.") from exc
        except (OSError, http.client.HTTPException) as exc:
            reason = first_line(getattr(exc, "reason", None) or exc)
            self._dead[host] = Unreachable(f"{host} cannot be reached ({reason}).")
            raise self._dead[host] from exc

    def _without_login(self, url: str) -> str:
        parts = urlsplit(url)
        if parts.username is None:
            return url
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        self._logins[host_of(url)] = base64.b64encode(pair.encode()).decode()
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def _opener(self, host: str) -> urllib.request.OpenerDirector:
        trusted = host in self.trusted_hosts or host.partition(":")[0] in self.trusted_hosts
        if trusted not in self._openers:  # reading the certificates takes a tenth of a second
            handlers: list[urllib.request.BaseHandler] = [
                urllib.request.HTTPSHandler(context=self._context(trusted)),
            ]
            if self.proxy:
                handlers.append(urllib.request.ProxyHandler({"http": self.proxy, "https": self.proxy}))
            self._openers[trusted] = urllib.request.build_opener(*handlers)
        return self._openers[trusted]

    def _context(self, trusted: bool) -> ssl.SSLContext:
        own = ssl.get_default_verify_paths().cafile is None and SYSTEM_CERTIFICATES.is_file()
        file = self.certificates or (str(SYSTEM_CERTIFICATES) if own else None)
        try:
            context = ssl.create_default_context(cafile=file)
        except OSError as exc:
            raise MissingModel(f"The certificates in {file} cannot be read: {first_line(exc)}.") from exc
        if trusted:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


def host_of(url: str) -> str:
    """Returns host and port, without a login."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _begins_at(answer: Any) -> int:
    """Returns where in the file the answer begins, by `Content-Range: bytes 100-199/200`; 0 without one."""
    told = str(answer.headers.get("Content-Range", ""))
    start = told.removeprefix("bytes").strip().partition("-")[0]
    return int(start) if answer.status == http.client.PARTIAL_CONTENT and start.isdigit() else 0

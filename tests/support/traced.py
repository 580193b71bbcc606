"""Runs a command under strace and says whom it asked and what it wrote, with all its children."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

STRACE = ["strace", "-f", "-qq", "-s", "200", "-e", "trace=network,openat,mkdir,mkdirat"]
_ADDRESS = re.compile(r'(?:sin_addr=inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)"')
_PORT = re.compile(r"sin6?_port=htons\((\d+)\)")
_WRITTEN = re.compile(r'(?:openat\(AT_FDCWD, |mkdir\(|mkdirat\(AT_FDCWD, )"([^"]+)"')
_REACHES_OUT = ("connect(", "sendto(", "sendmsg(", "sendmmsg(")
DNS = "53"


@dataclass(frozen=True, slots=True)
class Trace:
    """The lines that strace wrote."""

    lines: tuple[str, ...]

    @property
    def calls(self) -> list[str]:
        """Lookups of names, and connections to other machines."""
        return [line for line in self.lines if any(word in line for word in _REACHES_OUT) and _is_call(line)]

    def written(self) -> Iterator[str]:
        """Yields the absolute paths that were opened to be written, and folders that were made."""
        for line in self.lines:
            found = _WRITTEN.search(line)
            makes = "mkdir" in line and line.endswith("= 0")
            opens = ("O_WRONLY" in line or "O_RDWR" in line) and "= -1 " not in line
            if found and (makes or opens):
                yield found[1]


def _is_call(line: str) -> bool:
    port = _PORT.search(line)
    return (port is not None and port[1] == DNS) or any(not _is_here(name) for name in _ADDRESS.findall(line))


def _is_here(address: str) -> bool:
    return address.startswith(("127.", "::ffff:127.")) or address in ("::1", "0.0.0.0", "::")


def why_not() -> str:
    """Why nothing can be traced here, or nothing."""
    if shutil.which("strace") is None:
        return "needs strace (on Debian: apt-get install strace)"
    tried = subprocess.run(["strace", "-qq", "true"], capture_output=True, text=True)
    return f"strace may not trace here: {tried.stderr.strip()}" if tried.returncode else ""


def traced(command: Sequence[str], log: Path) -> list[str]:
    """Returns the command that runs this one and writes what it did to `log`."""
    return [*STRACE, "-o", str(log), *command]


def read_trace(log: Path) -> Trace:
    return Trace(tuple(log.read_text("utf-8", errors="replace").splitlines()))

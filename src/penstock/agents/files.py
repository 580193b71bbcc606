"""Files that an agent gives: a path inside a folder that the operator allowed, or the bytes themselves."""

from __future__ import annotations

import binascii
import hashlib
import io
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pybase64

from penstock.agents.sent_contents import sent_file
from penstock.errors import UsageError
from penstock.sizes import MB, file_size
from penstock.store.atomic_files import store_errors

MAX_CONTENT_BYTES = 32 * MB  # of a file in a message: messages are held in memory
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class GivenFile:
    """What a tool was called with: a path, or base64 and a name."""

    path: str = ""
    content: str = ""
    name: str = ""


class AllowedFiles:
    """Copies given files to where they are read. Raises UsageError for what may not be read."""

    def __init__(self, folders: Sequence[Path], max_bytes: int) -> None:
        missing = [folder for folder in folders if not folder.is_dir()]
        if missing:
            raise UsageError(f"{missing[0]} is no folder.", "Allow folders that are there: --allow-folder.")
        self._folders = [folder.resolve() for folder in folders]
        self._max_bytes = max_bytes

    @property
    def advice(self) -> str:
        """Says where files may be, in words."""
        if not self._folders:
            return "No folder is allowed: send a file's bytes as base64 in `content`."
        return f"Files may be in: {', '.join(map(str, self._folders))}."

    def copy(self, given: GivenFile, target: Path) -> tuple[str, str]:
        """Writes the file to `target` and syncs it. Returns its name and its SHA-256."""
        if bool(given.path) == bool(given.content):
            raise UsageError("Give either `path` or `content`.", self.advice)
        if given.content and (sent := sent_file(given.content)) is not None:
            with sent.open("rb") as source:
                return given.name or "document", self._written(source, target)
        if given.content:
            with io.BytesIO(_decoded(given.content)) as source:
                return given.name or "document", self._written(source, target)
        path = self._allowed(given.path)
        with self._opened(path) as source:
            return given.name or path.name, self._written(source, target)

    def _allowed(self, text: str) -> Path:
        """Returns the real path. One that is outside, and one that is not there, are the same to a caller."""
        try:
            path = Path(text).expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            path = None
        if path is None or not any(path.is_relative_to(folder) for folder in self._folders):
            raise UsageError(f"There is no file {text!r} that may be read.", self.advice)
        return path

    def _opened(self, path: Path) -> IO[bytes]:
        """Opens a plain file. The path has no link left: one that appears now is not followed."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as exc:
            raise UsageError(f"{path.name} cannot be opened: {exc.strerror}.") from exc
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UsageError(f"{path.name} is no file.", "Give one file; call once for each.")
        return os.fdopen(handle, "rb")

    def _written(self, source: IO[bytes], target: Path) -> str:
        digest, size = hashlib.sha256(), 0
        with store_errors(target), target.open("wb") as file:
            while piece := source.read(PIECE):
                size += len(piece)
                if size > self._max_bytes:
                    raise UsageError(f"A file may have {file_size(self._max_bytes)} at most.")
                digest.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if not size:
            raise UsageError("The file is empty.")
        return digest.hexdigest()


def _decoded(content: str) -> bytes:
    if len(content) > MAX_CONTENT_BYTES * 4 // 3 + 4:
        raise UsageError(f"`content` may hold {file_size(MAX_CONTENT_BYTES)} at most.", "Give a `path`.")
    head, comma, rest = content[:200].partition(",")
    text = rest + content[200:] if comma and head.startswith("data:") else content
    try:
        return pybase64.b64decode(text, None, True)
    except (binascii.Error, ValueError) as exc:
        raise UsageError(f"`content` is not base64: {exc}.", "Send the file's bytes as base64.") from exc

"""Lists on their way into a JSON file: kept in memory while short, on disk when long."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

IN_MEMORY = 1 << 17  # bytes of a list before it goes to disk; seven lists of a document are open at once


class Spool:
    """The elements of one JSON list, as bytes."""

    def __init__(self, folder: Path | None) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(folder) if folder else None)  # noqa: SIM115
        self._empty = True

    def add(self, elements: Sequence[bytes]) -> None:
        if elements:
            self._file.write(b",\n".join(elements if self._empty else [b"", *elements]))
            self._empty = False

    def pour(self, file: IO[bytes]) -> None:
        self._file.seek(0)
        shutil.copyfileobj(self._file, file)

    def close(self) -> None:
        self._file.close()


class Spools:
    """Spools that are closed together."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._stack = ExitStack()

    def __enter__(self) -> Spools:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def new(self) -> Spool:
        spool = Spool(self._folder)
        self._stack.callback(spool.close)
        return spool

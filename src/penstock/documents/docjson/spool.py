"""Lists on their way into a JSON file: kept in memory while short, on disk when long."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
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


@contextmanager
def spools(names: Iterable[str], folder: Path | None = None) -> Iterator[dict[str, Spool]]:
    """Gives a spool for each list of a file, below `folder` where one is long; all are closed at the end."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(closing(Spool(folder))) for name in names}

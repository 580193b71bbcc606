"""The records of small jobs, one line each in one file: the last line of a job counts.

A file of its own for each cost half as much as all else that the disk is asked for a small upload. A line is
whole or it is not there: half of one that a power cut left is passed by, and a full disk gets none.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from penstock.store.atomic_files import make_folder, replacing, store_errors, sync_folder
from penstock.store.ownership import claim

log = logging.getLogger(__name__)
JOURNAL = "journal.jsonl"
GONE = "deleted"  # the one member of a line that says that a job is deleted

Row = Mapping[str, Any]


class JobJournal:
    """Thread-safe. One process writes it, that which holds OUT's lock; others may read."""

    def __init__(self, folder: Path, out: Path) -> None:
        self._out = out
        self._path = folder / JOURNAL
        self._lock = threading.Lock()
        self._syncing = threading.Lock()
        self._file: int | None = None
        self._written = self._synced = 0  # bytes
        self._has_gone = False

    def add(self, rows: Iterable[Row]) -> None:
        """Adds or replaces jobs. They are on the disk when this returns."""
        with store_errors(self._path):
            end = self._append(rows)
            with self._syncing:
                if self._synced < end and self._file is not None:  # else another has synced ours with its own
                    end = self._written
                    os.fsync(self._file)
                    self._synced = end

    def delete(self, id: str) -> None:
        """Forgets a job; its lines go with the next `tidy`."""
        with store_errors(self._path):
            self._append([{GONE: id}])
        self._has_gone = True

    def rows(self) -> list[Row]:
        """Returns the jobs, oldest first."""
        return list(self._read()[0].values())

    def tidy(self, wholly: bool = False) -> None:
        """Writes the file anew without lines of deleted jobs; if asked, without all that do not count."""
        if not (self._has_gone or wholly) or not self._path.is_file():
            return
        with self._lock, self._syncing:
            rows, lines = self._read()
            if len(rows) == lines:
                return
            self._close()
            with replacing(self._path, self._out, mode=0o600) as file:
                file.writelines(map(_line, rows.values()))
            self._has_gone = False

    def close(self) -> None:
        with self._lock, self._syncing:
            self._close()

    def _append(self, rows: Iterable[Row]) -> int:
        """Returns how long the file is with these rows."""
        data = memoryview(b"".join(map(_line, rows)))
        with self._lock:
            if self._file is None:
                self._open()
            assert self._file is not None
            try:
                while data:
                    data = data[os.write(self._file, data) :]
            except OSError:
                os.ftruncate(self._file, self._written)
                raise
            self._written = os.fstat(self._file).st_size
            return self._written

    def _open(self) -> None:
        claim(self._out, self._path)
        make_folder(self._path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(self._path, flags, 0o600)
        self._written = self._synced = os.fstat(self._file).st_size
        sync_folder(self._path.parent)

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file, self._written, self._synced = None, 0, 0

    def _read(self) -> tuple[dict[str, Row], int]:
        """Returns the jobs by id, and how many lines there are."""
        found: dict[str, Row] = {}
        lines = self._path.read_bytes().split(b"\n") if self._path.is_file() else [b""]
        for line in lines[:-1]:
            try:
                row = json.loads(line)
                if GONE in row:
                    found.pop(row[GONE], None)
                else:
                    found[row["id"]] = row
            except (ValueError, TypeError, KeyError, RecursionError) as exc:
                log.warning("a line of %s is no job: %s", self._path, exc)
        return found, len(lines) - 1 + bool(lines[-1])


def _line(row: Row) -> bytes:
    return json.dumps(row).encode() + b"\n"

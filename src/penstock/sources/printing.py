"""Prints files that have pages only in their own programs, before their pages are counted.

The PDF is kept below the downloads with the time of its file, so that a run that goes on prints nothing
again and its pages have the same ids.
"""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.engines.rendering import libreoffice
from penstock.engines.rendering.font_names import add_korean_font
from penstock.engines.rendering.hwp import PRINTED as BY_RHWP
from penstock.engines.rendering.hwp import open_hwp_printer
from penstock.errors import BadInput, ItemError
from penstock.processes.child import Child
from penstock.processes.scratch import scratch_folder
from penstock.sources import formats
from penstock.sources.ids import hashed
from penstock.sources.inputs import FoundFile, temporary_folder
from penstock.sources.kept_files import is_kept, kept_file
from penstock.sources.names.safe import safe_name

if TYPE_CHECKING:
    from typing import Self

DEADLINE_S = 180.0  # a workbook of 2,000 pages takes 40 s
MAX_SOURCE_BYTES = 1 << 30


class Printer:
    """Prints files, several at once. Holds the process that prints HWP; close it, or use it in a `with`."""

    def __init__(self, downloads: Path | None) -> None:
        self._downloads = downloads
        self._lock = threading.Lock()
        self._hwp: Child[str, bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._hwp is not None:
            self._hwp.close()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def printed(self, found: FoundFile) -> FoundFile:
        """Returns the file as a PDF, or why it could not be printed; as it is, where it has pages or none."""
        if found.problem or not (found.named or found.path.suffix.lower() in formats.SUFFIXES):
            return found
        try:
            kind = _kind(found.path)
            if kind is None:
                return found
            return replace(found, path=self._kept(found, kind), source=str(found.path))
        except OSError:  # inspecting it gives the reason
            return found
        except ItemError as exc:
            return replace(found, problem=exc.message, advice=exc.advice, source=str(found.path))

    @cached_property
    def _scratch(self) -> Path:
        return scratch_folder("printing")

    def _kept(self, found: FoundFile, kind: str) -> Path:
        status = found.path.stat()
        if status.st_size > MAX_SOURCE_BYTES:
            raise BadInput(f"has more than {MAX_SOURCE_BYTES:,} bytes, and is not printed.")
        version = hashed(found.document, found.digest or status.st_mtime_ns, status.st_size)
        name = safe_name(found.path.stem)
        kept = (self._downloads or temporary_folder()) / "printed" / f"{name}-{version}.pdf"
        if not is_kept(kept):
            with kept_file(kept, status.st_mtime_ns) as part:
                self._print(found.path, kind, part)
        return kept

    def _print(self, path: Path, kind: str, part: Path) -> None:
        if kind in BY_RHWP:
            with self._lock:
                part.write_bytes(self._hwp_printer().call(str(path), DEADLINE_S))
            return
        folder = scratch_folder("libreoffice")
        try:
            shutil.copyfile(libreoffice.print_office(path, kind, folder, DEADLINE_S), part)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _hwp_printer(self) -> Child[str, bytes]:
        if self._hwp is None:
            home = self._scratch / "home"
            add_korean_font(home)
            self._hwp = Child(
                open_hwp_printer, name="the HWP printer", confined=True, env={"HOME": str(home)}
            )
        return self._hwp


def _kind(path: Path) -> str | None:
    """Returns what a file is, where something prints that."""
    with path.open("rb") as file:
        kind = formats.sniff(file.read(formats.HEAD_BYTES), path.suffix.lower())
    return kind if kind in BY_RHWP or kind in libreoffice.PRINTED else None

"""OUT/uploads: what was sent, each in a folder of its own, and notes of what is to be deleted.

Not thread-safe: the service that has it lets one thread change it at a time.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.serve.upload_pages import document_of
from penstock.sources.safe_names import safe_name
from penstock.store.atomic_files import make_folder, store_errors, sync_folder

UPLOADS = "uploads"
INCOMING = ".incoming-"  # begins the name of a file that is still being sent
DELETED = ".deleted-"  # begins the name of a file that says which document is to go
FOLDER_DIGITS = 16  # of a hash of name and content: what was sent has a folder of its own


class UploadFolder:
    """The files that were sent to a service."""

    def __init__(self, out: Path) -> None:
        self.path = out / UPLOADS
        self._deleted: set[str] = set()  # since the start: folders whose document has a note

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """Gives a path for a file that is being received. Removes what is left there."""
        path = self.path / f"{INCOMING}{secrets.token_hex(8)}"
        with store_errors(path):
            make_folder(self.path)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def place(self, name: str, digest: str, owner: str) -> Path:
        """Returns where a file belongs: the same bytes under the same name are an owner's same document."""
        name = safe_name(name)
        told = f"{owner}\0{digest}/{name}" if owner else f"{digest}/{name}"
        return self.path / hashlib.sha256(told.encode()).hexdigest()[:FOLDER_DIGITS] / name

    def keep(self, incoming: Path, place: Path) -> None:
        """Moves a file there. A power cut after it loses nothing."""
        with store_errors(place):
            make_folder(place.parent)
            incoming.replace(place)
            sync_folder(place.parent)
            if place.parent.name in self._deleted:
                self._note(document_of(place)).unlink(missing_ok=True)
                self._deleted.discard(place.parent.name)

    def remove(self, document: str) -> None:
        folder = self.path / document.partition("/")[0]
        with store_errors(folder):
            if folder.is_dir():
                shutil.rmtree(folder)

    def note_deletion(self, document: str) -> None:
        """Says on the disk that a document is to go, so that a restart knows."""
        note = self._note(document)
        self._deleted.add(document.partition("/")[0])
        with store_errors(note):
            note.write_text(document, "utf-8")
            sync_folder(self.path)

    def deleted(self) -> set[str]:
        """Returns the documents that are to go."""
        return {note.read_text("utf-8") for note in self._notes()}

    def forget_deletions(self) -> None:
        for note in self._notes():
            note.unlink(missing_ok=True)

    def remove_half_received(self) -> None:
        for half in list(self.path.glob(f"{INCOMING}*")):
            half.unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """Returns what was sent, oldest first."""
        whole = [path for path in self.path.glob("*/*") if path.is_file()]
        return sorted(whole, key=lambda path: path.stat().st_mtime_ns)

    def _notes(self) -> list[Path]:
        return list(self.path.glob(f"{DELETED}*"))

    def _note(self, document: str) -> Path:
        return self.path / f"{DELETED}{document.partition('/')[0]}"

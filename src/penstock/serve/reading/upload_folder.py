"""OUT/uploads: what was sent, each in a folder of its own, and notes of what is to be deleted.

Not thread-safe: the service that has it lets one thread change it at a time.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.serve.reading.upload_pages import document_of
from penstock.sources.names.safe import safe_name
from penstock.store.atomic_files import make_folder, store_errors, sync_folder
from penstock.store.ownership import is_plain_file, refuse_links, remove_empty

UPLOADS = "uploads"
INCOMING = ".incoming-"  # begins the name of a file that is still being sent
DELETED = ".deleted-"  # begins the name of a file that says which document is to go
FOLDER_DIGITS = 16  # of a hash of name and content: what was sent has a folder of its own
OWN_NAME = re.compile(rf"({re.escape(INCOMING)}|{re.escape(DELETED)})?[0-9a-f]{{{FOLDER_DIGITS}}}")


class UploadFolder:
    """The files that were sent to a service."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.path = out / UPLOADS
        self._deleted: set[str] = set()  # since the start: folders whose document has a note

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """Gives a path for a file that is being received. Removes what is left there."""
        path = self.path / f"{INCOMING}{secrets.token_hex(8)}"
        refuse_links(self._out, path)
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
        place = self.path / document
        refuse_links(self._out, place)
        with store_errors(place):
            place.unlink(missing_ok=True)
            remove_empty(place.parent, self.path)

    def note_deletion(self, document: str) -> None:
        """Says on the disk that a document is to go, so that a restart knows."""
        note = self._note(document)
        refuse_links(self._out, note)
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
        for half in self._own(f"{INCOMING}*"):
            half.unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """Returns what was sent, oldest first."""
        folders = [path for path in self._own("*") if path.is_dir()]
        whole = [path for folder in folders for path in folder.iterdir() if is_plain_file(path)]
        return sorted(whole, key=lambda path: path.stat().st_mtime_ns)

    def _notes(self) -> list[Path]:
        return self._own(f"{DELETED}*")

    def _own(self, pattern: str) -> list[Path]:
        """Returns what only this class makes here: no link, and no name that somebody else would choose."""
        if self.path.is_symlink():
            return []
        found = self.path.glob(pattern)
        return [path for path in found if OWN_NAME.fullmatch(path.name) and not path.is_symlink()]

    def _note(self, document: str) -> Path:
        return self.path / f"{DELETED}{document.partition('/')[0]}"

"""What is remembered of a fetched file that was deleted when its pages were read: a small file next to it.

A run that goes on lists the document by its note, and fetches nothing.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from penstock.errors import Failure
from penstock.sources.formats import Kind
from penstock.sources.kept_files import kept_file
from penstock.sources.probe_questions import PartCount

GONE = ".gone"  # follows the name of the file
MAX_NOTE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class FileNote:
    """The version of a file, its kind, and how many pages it has, or why it could not be read."""

    size: int
    modified_ns: int
    kind: Kind | None
    count: PartCount | Failure

    def write(self, path: Path) -> None:
        """Leaves the note for the file `path`, whole or not at all."""
        key = "failure" if isinstance(self.count, Failure) else "count"
        facts = {"size": self.size, "modified_ns": self.modified_ns, "kind": self.kind}
        with kept_file(note_path(path), self.modified_ns) as part:
            part.write_text(json.dumps({**facts, key: asdict(self.count)}), "utf-8")


def note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}{GONE}")


def note_of(path: Path) -> FileNote | None:
    """Returns the note of a file that is gone; None where the file is there, or no note that can be read."""
    place = note_path(path)
    try:
        if os.path.lexists(path) or place.is_symlink() or place.stat().st_size > MAX_NOTE_BYTES:
            return None
        facts = json.loads(place.read_bytes())
        count = Failure(**facts["failure"]) if "failure" in facts else PartCount(**facts["count"])
        return FileNote(
            int(facts["size"]), int(facts["modified_ns"]), cast(Kind | None, facts["kind"]), count
        )
    except (OSError, ValueError, KeyError, TypeError):  # a power cut took it: the file is fetched again
        return None


def is_known(path: str) -> bool:
    """Returns whether a file is there, or was deleted after it was read."""
    return os.path.exists(path) or os.path.isfile(f"{path}{GONE}")  # noqa: PTH110, PTH113  Path's raise where they may not look

"""Lists files of a dataset on the Hub at one commit; each is fetched when its pages are counted.

A fetched file gets a time made of its content, so its pages have the same ids on every machine.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from penstock.errors import BadInput, PenstockError, UsageError
from penstock.redaction import SafeRepr
from penstock.sources.formats import SUFFIXES
from penstock.sources.ids import safe_document
from penstock.sources.kept_files import is_kept
from penstock.sources.names.safe import safe_name
from penstock.sources.remote import hub

_ADDRESS = re.compile(r"hf:/+datasets/([^/@]+/[^/@]+)(?:@([^/]+))?(?:/(.*))?", re.DOTALL)
TIME_DIGITS = 7  # of a content's hash: seconds before 1979, so that no clock takes them for the future


@dataclass(frozen=True, slots=True)
class HubFile(SafeRepr):
    """A file of a dataset, and the folder that its dataset is kept in on this machine."""

    repo: str
    commit: str
    name: str
    size: int
    content: str  # hash
    folder: Path

    @property
    def document(self) -> str:
        return safe_document(PurePosixPath(self.name).parts)

    @property
    def kept(self) -> Path:
        return self.folder.joinpath(*PurePosixPath(self.name).parts)

    def fetch(self) -> Path:
        """Brings the file, unless it is here. Raises BadInput with the reason where that fails."""
        if not is_kept(self.kept, self.size):
            try:
                hub.download_file(self.repo, self.name, self.commit, self.folder)
            except PenstockError as exc:
                raise BadInput(f"cannot be fetched: {exc}") from exc
        seconds = int(self.content[:TIME_DIGITS], 16)
        os.utime(self.kept, (seconds, seconds))
        return self.kept


def hub_files_at(text: str, downloads: Path) -> Iterator[HubFile]:
    """Yields what can be read of a dataset, of a folder of it or by a pattern, in the order of the Hub."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text} is no address of a dataset.", "Write it like hf://datasets/NAME/DATASET/folder."
        )
    repo, revision, below = match[1], match[2], (match[3] or "").strip("/")
    commit = hub.commit_of(repo, revision)
    folder = downloads / safe_name(f"{repo.replace('/', '-')}-{commit[:8]}")
    for name, size, content in hub.tree(repo, commit):
        if name.lower().endswith(SUFFIXES) and _is_below(name, below):
            yield HubFile(repo, commit, name, size, content, folder)


def _is_below(name: str, below: str) -> bool:
    """Returns whether a file is that one, in that folder, or fits that pattern."""
    if glob.has_magic(below):
        return fnmatch.fnmatchcase(name, below)
    return not below or name == below or name.startswith(f"{below}/")

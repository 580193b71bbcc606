"""Makes safe ids and document names from names of files and rows, which may hold anything.

File names can hold newlines, `..`, bytes that are no text, or be CON.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from penstock.item import ELSEWHERE
from penstock.sources.names.safe import safe_path

MAX_STEM = 60  # characters; with its hash still under 255 bytes in Hangul, three bytes each
MAX_ID = 200  # characters of a dataset's own id
STDIN = "stdin"  # the document of standard input, whose ids are of its content
Version = tuple[int, int]  # of a file: its bytes, and its time in nanoseconds
_HASHED = re.compile(r"-[0-9a-f]{10}")


def hashed(*facts: object) -> str:
    """Returns ten hex digits for these facts. They follow a stem, so only files of one name could clash."""
    text = "|".join(map(str, facts)).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:10]


def file_prefix(document: str, version: Version) -> str:
    """Begins the ids of a file's pages: the same for the same file, from whatever folder it is listed."""
    stem = safe_stem(PurePosixPath(document).stem)
    return f"{stem}-{hashed(document, *version)}"


def version_of(status: os.stat_result) -> Version:
    return status.st_size, status.st_mtime_ns


def is_changed(id: str, document: str, path: str) -> bool:
    """Whether the file at `path` is another than the one that was listed: by its size and its time.

    Says no where that cannot be known: ids of other sources, copies on other machines.
    """
    prefix, stem = id.rpartition("/")[0], safe_stem(PurePosixPath(document).stem)
    if document == STDIN or ELSEWHERE in os.environ or not _HASHED.fullmatch(prefix.removeprefix(stem)):
        return False
    try:
        return prefix != file_prefix(document, version_of(Path(path).stat()))
    except OSError:  # opening it later gives the reason
        return False


def safe_stem(name: str) -> str:
    """Keeps letters, digits, marks, `-`, `_` and `.` of the name; all else becomes `_`."""
    kept = "".join(c if _is_letter(c) or c in "-_." else "_" for c in unicodedata.normalize("NFC", name))
    return kept[:MAX_STEM].strip("._ ") or "input"


def safe_document(parts: Sequence[str]) -> str:
    """Returns a relative path with `/`, without `..`, each part safe to create."""
    whole = "/".join(part.replace("\\", "_") for part in parts)
    return str(safe_path("".join("_" if _is_control(c) else c for c in whole)))


def safe_id(value: str) -> str:
    """Returns a dataset's own id unchanged, unless it would break a line or a path."""
    clean = "".join("_" if _is_control(c) else c for c in value)
    if len(clean) > MAX_ID:
        clean = f"{clean[: MAX_ID - 11]}-{hashed(value)}"
    return clean


def natural_key(name: str) -> tuple[tuple[int, str | int], ...]:
    """A sort key that puts page2 before page10 and never compares a number with a word."""
    parts = re.split(r"(\d+)", unicodedata.normalize("NFC", name).casefold())
    return tuple((1, int(part[:4000])) if part.isdecimal() else (0, part) for part in parts)


def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Co", "Zl", "Zp")

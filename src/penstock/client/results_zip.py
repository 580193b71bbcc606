"""A service's ZIP of results, unpacked as if a stranger had sent it.

Its names are those that a service writes, its size has bounds, and it is whole before any of it is put in
place. A file that is there already is replaced only if an earlier answer of a service left it as it is.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from penstock.errors import BROKEN_ZIP, StoreError
from penstock.sources.names.safe import is_safe_name
from penstock.store.atomic_files import make_folder, store_errors

FOLDERS = frozenset(
    ("markdown", "markdown_joined", "overlays", "searchable", "docjson", "docling", "content_list", "html",
     "glm", "crops")
)  # fmt: skip
FILES = frozenset(("ocr_results.jsonl", "parsed_texts.jsonl", "chunks.jsonl", "corpus.jsonl"))
RECORD = "service.json"  # what answers of services have left in OUT: a SHA-256 by name
MAX_RECORD_BYTES = 64 << 20
MAX_DEPTH = 16  # folders in a name
MAX_DIRECTORY_BYTES = 64 << 20
TAIL_BYTES = 1 << 17  # the end of a ZIP, with the longest comment
# what begins the end of a ZIP (the second: ZIP64), and where after it the size of its list of members stands
DIRECTORY_SIZES = ((b"PK\x05\x06", 8, 4), (b"PK\x06\x06", 36, 8))
PIECE = 1 << 20
ASK_AGAIN = "Ask the operator of the service: it does not answer as Penstock does."


@dataclass(frozen=True, slots=True)
class ZipBounds:
    """How large an answer may be. Text packs to a twentieth; what packs to a thousandth is no result."""

    max_zip_bytes: int = 4 << 30
    max_bytes: int = 16 << 30
    max_files: int = 500_000
    max_ratio: int = 100
    small_bytes: int = 64 << 20  # up to here any ratio is right: an empty page repeats itself


def unpack(packed: Path, out: Path, bounds: ZipBounds) -> None:
    """Puts the results below `out`. Raises StoreError, and changes nothing, if it is not what we write."""
    with _staging(out) as staging:
        try:
            digests = _unpacked(packed, staging, bounds)
        except BROKEN_ZIP as exc:
            raise StoreError(f"What the service sent is no ZIP of results: {exc}.", ASK_AGAIN) from exc
        written = _record(out)
        for name, digest in digests.items():
            _check_place(out, PurePosixPath(name), {digest, written.get(name)})
        _write_record(out, {**written, **digests})
        for name in digests:
            make_folder((out / name).parent)
            (staging / name).replace(out / name)


@contextmanager
def _staging(out: Path) -> Iterator[Path]:
    with store_errors(out), tempfile.TemporaryDirectory(prefix=".results-", dir=out) as folder:
        yield Path(folder)


def _unpacked(packed: Path, staging: Path, bounds: ZipBounds) -> dict[str, str]:
    """Writes every member below `staging`. Returns their SHA-256s by name."""
    digests: dict[str, str] = {}
    left = min(bounds.max_bytes, max(bounds.small_bytes, packed.stat().st_size * bounds.max_ratio))
    _check_directory(packed)
    with zipfile.ZipFile(packed) as members:
        if len(members.infolist()) > bounds.max_files:
            raise ValueError(f"it holds more than {bounds.max_files:,} files")
        for member in members.infolist():
            name = _checked_name(member)
            if name in digests:
                raise ValueError(f"it holds {name!r} twice")
            digests[name], size = _copied(members, member, staging / name, left)
            left -= size
    return digests


def _check_directory(packed: Path) -> None:
    """Raises ValueError for a list of members that would not fit in memory: `zipfile` reads all of it."""
    with packed.open("rb") as file:
        file.seek(max(0, packed.stat().st_size - TAIL_BYTES))
        tail = file.read()
    sizes = [
        int.from_bytes(tail[found.end() + at : found.end() + at + width], "little")
        for mark, at, width in DIRECTORY_SIZES
        for found in re.finditer(re.escape(mark), tail)
    ]
    if max((size for size in sizes if size != 0xFFFFFFFF), default=0) > MAX_DIRECTORY_BYTES:
        raise ValueError("its list of files is too long")


def _checked_name(member: zipfile.ZipInfo) -> str:
    """Returns the name of a file that a service writes. Raises ValueError for any other."""
    path = PurePosixPath(member.filename)
    known = (path.parts[0] in FOLDERS) if len(path.parts) > 1 else (member.filename in FILES)
    is_plain = str(path) == member.filename and len(path.parts) <= MAX_DEPTH
    if not known or not is_plain or not all(map(is_safe_name, path.parts)):
        raise ValueError(f"it holds {member.filename[:200]!r}, which no service writes")
    mode = member.external_attr >> 16
    is_packed = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if not is_packed or member.flag_bits & 1 or stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise ValueError(f"{member.filename[:200]!r} is no plain file")
    return member.filename


def _copied(members: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, left: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with members.open(member) as source, path.open("xb") as file:
        while piece := source.read(PIECE):
            size += len(piece)
            if size > left:
                raise ValueError("it unpacks to more than such results can be")
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest(), size


def _check_place(out: Path, name: PurePosixPath, known: set[str | None]) -> None:
    """Raises StoreError for a name that leads through a link, or to a file that is not known."""
    for parent in [*name.parents][:-1]:
        folder = out / parent
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise StoreError(f"{folder} is no folder of ours.", "Choose another OUT.")
    path = out / name
    if path.is_symlink() or (path.exists() and not (path.is_file() and _digest(path) in known)):
        raise StoreError(
            f"{path} is there already, and no service wrote it as it is now.", "Choose another OUT."
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(out: Path) -> dict[str, str]:
    path = out / RECORD
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_RECORD_BYTES:
        return {}
    try:
        read = json.loads(path.read_text("utf-8"))["files"]
        return {name: digest for name, digest in read.items() if isinstance(digest, str)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}  # someone else's: nothing in OUT is known to be ours


def _write_record(out: Path, digests: dict[str, str]) -> None:
    """Notes what is about to be there: after a kill in the middle, the same answer goes in again."""
    path = out / RECORD
    if path.is_symlink() or (path.exists() and not _is_record(path)):
        raise StoreError(f"{path} is there already, and no service wrote it.", "Choose another OUT.")
    with tempfile.NamedTemporaryFile(
        "w", dir=out, prefix=".results-", delete=False, encoding="utf-8"
    ) as file:
        json.dump({"files": digests}, file)
    Path(file.name).replace(path)


def _is_record(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[:10] == b'{"files": '

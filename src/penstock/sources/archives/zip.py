"""Reads ZIPs of documents. A name is only a name; what is locked, or packed like a bomb, fails alone."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from penstock.errors import BROKEN_ZIP, BadInput, first_line
from penstock.sources.archives.members import MAX_MEMBER_BYTES, LeftOut, Member, is_document
from penstock.sources.archives.tar import is_hidden

MAX_MEMBERS = 1_000_000
MAX_RATIO = 1_000  # a page of white packs 1:1000; beyond it, and above 10 MB, it is a bomb
RATIO_FROM = 10 << 20
UTF8, LOCKED = 1 << 11, 1
OLD_NAMES = ("utf-8", "cp949")  # of names that do not say that they are UTF-8: Windows in Korea writes these
BROKEN = (*BROKEN_ZIP, OSError)


def zip_members(path: str) -> Iterator[Member | LeftOut]:
    """Yields the documents of a ZIP in its order. Raises BadInput where it is damaged."""
    try:
        with zipfile.ZipFile(path) as package:
            if len(package.filelist) > MAX_MEMBERS:
                raise BadInput(f"it has {len(package.filelist):,} files, and {MAX_MEMBERS:,} are read.")
            yield from (_member(package, info) for info in package.filelist if not info.is_dir())
    except BROKEN as exc:
        raise BadInput(f"the archive is damaged ({first_line(exc)}).", "Copy or download it again.") from exc


def _member(package: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member | LeftOut:
    name, modified = _name(info), _modified(info)
    left_out = LeftOut(PurePosixPath(name).suffix.lower() or "no ending")
    if is_hidden(name):
        return left_out
    if info.flag_bits & LOCKED:
        advice = "Unpack the archive with its password, and give the files."
        return Member(name, modified, problem="is encrypted in its archive.", advice=advice)
    if info.file_size > MAX_MEMBER_BYTES:
        return Member(name, modified, problem=f"is larger than {MAX_MEMBER_BYTES:,} bytes.")
    if info.file_size > RATIO_FROM and info.file_size > MAX_RATIO * max(1, info.compress_size):
        words = (
            f"unpacks to {info.file_size:,} bytes from {info.compress_size:,}: no document is packed so well."
        )
        return Member(name, modified, problem=words)
    try:
        with package.open(info) as file:
            data = file.read(MAX_MEMBER_BYTES)
    except BROKEN as exc:
        return Member(name, modified, problem=f"cannot be unpacked: {first_line(exc)}.")
    return Member(name, modified, data) if is_document(data, name, with_text=True) else left_out


def _name(info: zipfile.ZipInfo) -> str:
    """Returns the name; Python reads one that does not say its letters as those of old DOS."""
    if info.flag_bits & UTF8:
        return info.filename
    try:
        said = info.filename.encode("cp437")
    except UnicodeEncodeError:
        return info.filename
    for code in OLD_NAMES:
        try:
            return said.decode(code)
        except UnicodeDecodeError:
            continue
    return info.filename


def _modified(info: zipfile.ZipInfo) -> float:
    """Returns its time as that of Greenwich, so that ids are the same on every machine."""
    try:
        return float(time.mktime((*info.date_time, 0, 0, 0))) - time.timezone
    except (ValueError, OverflowError):
        return 0.0

"""Reads tar shards, packed or not. Pictures of one key are the pages of one document, as WebDataset has it.

A key is a file's name up to its first dot: 0001.0.png and 0001.1.png are two pages of 0001.
"""

from __future__ import annotations

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from itertools import groupby
from pathlib import PurePosixPath

from penstock.errors import BadInput, first_line
from penstock.sources.archives.members import MAX_MEMBER_BYTES, LeftOut, Member, is_document
from penstock.sources.formats import sniff_picture

MAX_TIME_S = 253_402_300_799  # the end of the year 9999
BROKEN = (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


def tar_members(path: str) -> Iterator[Member | LeftOut]:
    """Yields the documents of a tar file in its order. Raises BadInput where it is damaged."""
    for _, group in groupby(_members(path), lambda one: _key(one) if isinstance(one, Member) else None):
        several: list[Member] = []
        for one in group:
            if isinstance(one, Member) and _is_picture(one):
                several.append(one)
            else:
                yield one
        if len(several) == 1:
            yield several[0]
            continue
        for page, one in enumerate(several):
            yield Member(_key(one), one.modified, one.data, page=page)


def _members(path: str) -> Iterator[Member | LeftOut]:
    try:
        with tarfile.open(path, "r|*") as tar:
            for info in tar:
                if info.isreg():
                    yield _member(tar, info)
    except BROKEN as exc:
        raise BadInput(f"the archive is damaged ({first_line(exc)}).", "Copy or download it again.") from exc


def _member(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Member | LeftOut:
    suffix, modified = PurePosixPath(info.name).suffix.lower(), _modified(info)
    if info.size > MAX_MEMBER_BYTES:
        return Member(info.name, modified, problem=f"is larger than {MAX_MEMBER_BYTES:,} bytes.")
    file = tar.extractfile(info)
    data = file.read() if file is not None else b""
    if len(data) < info.size:
        raise EOFError("unexpected end of data")
    if is_hidden(info.name) or not is_document(data, info.name):
        return LeftOut(suffix or "no ending")
    return Member(info.name, modified, data)


def _modified(info: tarfile.TarInfo) -> float:
    """Returns a time that a file can have: archives say "nan" and 1e300 too."""
    return info.mtime if 0 <= info.mtime <= MAX_TIME_S else 0.0


def is_hidden(name: str) -> bool:
    """Returns whether it is a hidden file, or what macOS adds to archives."""
    parts = PurePosixPath(name).parts
    return any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)


def _is_picture(member: Member) -> bool:
    return not member.problem and sniff_picture(member.data[:32]) is not None


def _key(member: Member) -> str:
    folder, slash, name = member.name.rpartition("/")
    return f"{folder}{slash}{name.partition('.')[0] or name}"

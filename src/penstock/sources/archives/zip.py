"""Reads ZIPs of documents. A name is only a name; what is locked, or packed like a bomb, fails alone."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from penstock.errors import BROKEN_ZIP, BadInput, first_line
from penstock.sources.archives.members import MAX_MEMBER_BYTES, LeftOut, Member, is_document
from penstock.sources.archives.tar import is_hidden
from penstock.sources.formats import SAVED, sniff_picture
from penstock.sources.names.safe import is_safe_name

MAX_MEMBERS = 1_000_000
MAX_RATIO = 1_000  # a page of white packs 1:1000; beyond it, and above 10 MB, it is a bomb
RATIO_FROM = 10 << 20
PAGES = (".html", ".htm")
UTF8, LOCKED = 1 << 11, 1
OLD_NAMES = ("utf-8", "cp949")  # of names that do not say that they are UTF-8: Windows in Korea writes these
BROKEN = (*BROKEN_ZIP, OSError)


def zip_members(path: str) -> Iterator[Member | LeftOut]:
    """Yields the documents of a ZIP in its order. Raises BadInput where it is damaged."""
    try:
        with zipfile.ZipFile(path) as package:
            if len(package.filelist) > MAX_MEMBERS:
                raise BadInput(f"it has {len(package.filelist):,} files, and {MAX_MEMBERS:,} are read.")
            yield from _members(package, [info for info in package.filelist if not info.is_dir()])
    except BROKEN as exc:
        raise BadInput(f"the archive is damaged ({first_line(exc)}).", "Copy or download it again.") from exc


def _members(package: zipfile.ZipFile, infos: list[zipfile.ZipInfo]) -> Iterator[Member | LeftOut]:
    """Yields what is in the ZIP; what a browser saved with a web page goes with the page."""
    names = {_name(info): info for info in infos}
    pages = {name.removesuffix(suffix): name for name in names for suffix in PAGES if name.endswith(suffix)}
    saved: dict[str, list[str]] = {}
    for name in names:
        found = (pages.get(above) for above in _pages_above(name))
        page = next(filter(None, found), "")
        if page:
            saved.setdefault(page, []).append(name)
    with_page = {name for own in saved.values() for name in own}
    for info in infos:
        name = _name(info)
        if name in with_page:
            continue
        member = _member(package, info)
        if isinstance(member, Member) and not member.problem and name in saved:
            member = replace(
                member, beside=tuple(_pictures(package, name, [names[one] for one in saved[name]]))
            )
        yield member


def _pages_above(name: str) -> Iterator[str]:
    """Yields the names, without their endings, of pages that a file may have been saved with."""
    for folder in map(str, PurePosixPath(name).parents):
        yield from (folder.removesuffix(word) for word in SAVED if folder.endswith(word))


def _pictures(
    package: zipfile.ZipFile, page: str, infos: list[zipfile.ZipInfo]
) -> Iterator[tuple[str, bytes]]:
    left = MAX_MEMBER_BYTES
    depth = len(PurePosixPath(page).parts)
    for info in infos:
        one = _member(package, info) if info.file_size <= left else None
        parts = PurePosixPath(_name(info)).parts[depth:]
        if (
            not isinstance(one, Member)
            or not sniff_picture(one.data[:32])
            or not all(map(is_safe_name, parts))
        ):
            continue
        left -= len(one.data)
        yield "/".join(parts), one.data


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

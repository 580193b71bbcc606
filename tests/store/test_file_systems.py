"""File systems that lack something: a sentence that says so, and nothing is lost."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import StoreError
from penstock.exports.pages import output_names
from penstock.store.atomic_files import TMP, replacing
from penstock.store.lock import holding
from penstock.store.source_order import read_order, write_order


def failing(number: int, only_folders: bool = False) -> object:
    """Returns a function of the system that fails; with `only_folders`, for descriptors of folders."""

    def call(what: Any, *_: object, **__: object) -> None:
        if not only_folders or stat.S_ISDIR(os.fstat(what).st_mode):
            raise OSError(number, os.strerror(number))

    return call


@pytest.mark.parametrize("number", [errno.EXDEV, errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP])
def test_a_rename_that_is_refused_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    target = tmp_path / "run.json"
    with replacing(target, tmp_path) as file:
        file.write(b"old")
    monkeypatch.setattr(os, "replace", failing(number))
    monkeypatch.setattr(os, "rename", failing(number))
    with pytest.raises(StoreError, match=r"Choose an") as raised, replacing(target, tmp_path) as file:
        file.write(b"new")
    assert str(target) in str(raised.value) or number == errno.EPERM
    assert (target.read_text(), list((tmp_path / TMP).glob("*"))) == ("old", [])


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_an_out_that_cannot_be_locked_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(fcntl, "flock", failing(number))
    with pytest.raises(StoreError, match="cannot rename or lock files"), holding(tmp_path / "out"):
        pass


def test_a_drive_that_syncs_only_files_is_good_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", failing(errno.EINVAL, only_folders=True))
    with replacing(tmp_path / "a" / "run.json", tmp_path) as file:
        file.write(b"new")
    assert (tmp_path / "a" / "run.json").read_text() == "new"


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x0b", "\x1c", "\r", "\n"])
def test_a_file_name_with_an_end_of_line_leaves_the_order_readable(tmp_path: Path, mark: str) -> None:
    listed = {"a_b.pdf": {f"/in/a{mark}b.pdf": "a_b-0123456789"}, "c.pdf": {}}
    write_order(tmp_path, listed)
    assert read_order(tmp_path) == listed


def test_names_of_exports_end_as_windows_wants_and_stay_apart() -> None:
    names = output_names(["trailing..pdf", "trailing .pdf", "dots....pdf", "NUL.tar.pdf"], "")
    assert sorted(map(str, names.values())) == ["_NUL.tar", "dots", "trailing .pdf", "trailing..pdf"]

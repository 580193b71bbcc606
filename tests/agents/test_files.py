"""What an agent may name: files inside allowed folders, and bytes; everything else is refused alike."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

from penstock.agents.files import AllowedFiles, GivenFile
from penstock.errors import UsageError

TEXT = b"%PDF-1.4 a file"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "allowed"
    made.mkdir()
    (made / "a.pdf").write_bytes(TEXT)
    (tmp_path / "secret.txt").write_text("secret")
    return made


def copied(folder: Path, path: Path | str, max_bytes: int = 1000) -> tuple[str, str]:
    return AllowedFiles([folder], max_bytes).copy(GivenFile(path=str(path)), folder.parent / "copy")


def test_a_file_in_an_allowed_folder_is_copied(folder: Path) -> None:
    assert copied(folder, folder / "a.pdf") == ("a.pdf", hashlib.sha256(TEXT).hexdigest())
    assert (folder.parent / "copy").read_bytes() == TEXT


def test_bytes_are_taken_with_and_without_the_head_of_a_data_uri(folder: Path) -> None:
    text = base64.b64encode(TEXT).decode()
    files = AllowedFiles([], 1000)
    for content in (text, f"data:application/pdf;base64,{text}"):
        given = GivenFile(content=content, name="x.pdf")
        assert files.copy(given, folder / "copy") == ("x.pdf", hashlib.sha256(TEXT).hexdigest())


@pytest.mark.parametrize("way", ["outside", "dots", "link", "link to a folder", "missing", "nul", "beside"])
def test_no_path_leads_out_and_none_says_what_is_there(folder: Path, way: str) -> None:
    outside = folder.parent / "secret.txt"
    (folder / "link").symlink_to(outside)
    (folder / "up").symlink_to(folder.parent)
    beside = folder.parent / "allowed-not"
    beside.mkdir()
    (beside / "a.pdf").write_bytes(TEXT)
    path = {
        "outside": str(outside),
        "dots": f"{folder}/../secret.txt",
        "link": f"{folder}/link",
        "link to a folder": f"{folder}/up/secret.txt",
        "missing": f"{folder}/none.pdf",
        "nul": f"{folder}/a.pdf\0",
        "beside": f"{beside}/a.pdf",
    }[way]
    with pytest.raises(UsageError, match="that may be read") as refused:
        copied(folder, path)
    assert str(folder) in refused.value.advice


def test_what_is_no_plain_file_is_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(UsageError, match="is no file"):
            copied(folder, folder / name)


def test_large_empty_and_broken_files_are_refused(folder: Path) -> None:
    (folder / "empty").touch()
    with pytest.raises(UsageError, match="empty"):
        copied(folder, folder / "empty")
    with pytest.raises(UsageError, match="at most"):
        copied(folder, folder / "a.pdf", max_bytes=3)
    with pytest.raises(UsageError, match="not base64"):
        AllowedFiles([], 1000).copy(GivenFile(content="???"), folder / "copy")
    with pytest.raises(UsageError, match="either"):
        AllowedFiles([], 1000).copy(GivenFile(), folder / "copy")
    with pytest.raises(UsageError, match="is no folder"):
        AllowedFiles([folder / "none"], 1000)

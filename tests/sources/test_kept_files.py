"""What is kept of something elsewhere is whole or not there, and nobody's file or link is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.sources import kept_files
from penstock.sources.kept_files import kept_file


def test_a_block_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="torn"), kept_file(tmp_path / "kept" / "a.pdf", 0) as part:
        part.write_bytes(b"half")
        raise OSError("torn")
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_link_where_the_part_would_be_is_neither_written_through_nor_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files.secrets, "token_hex", lambda _: "0" * 8)
    mine, link = tmp_path / "mine.txt", tmp_path / "a.pdf.00000000.part"
    mine.write_text("mine")
    link.symlink_to(mine)
    with pytest.raises(FileExistsError), kept_file(tmp_path / "a.pdf", 0) as part:
        part.write_bytes(b"ours")
    assert mine.read_text() == "mine" and link.is_symlink()

"""What a listing brings into OUT before the first run does not stop that run."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.store.manifest import refuse_others


def test_downloads_alone_are_nobodys_files(tmp_path: Path) -> None:
    (tmp_path / "downloads" / "printed").mkdir(parents=True)
    refuse_others(tmp_path, fresh=True)
    (tmp_path / "thesis.md").write_text("mine")
    with pytest.raises(UsageError, match=r"holds thesis\.md\."):
        refuse_others(tmp_path, fresh=True)
    assert (tmp_path / "thesis.md").read_text() == "mine"

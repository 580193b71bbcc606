"""What is kept and shown holds no password, and what people sent is not published."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import EngineError, Failure, UsageError, shown
from penstock.passes.embed import about_vectors
from penstock.passes.upload import files_of
from penstock.recipes.embed import embed_pages
from penstock.redaction import redacted
from penstock.sources.remote import hub
from penstock.store import manifest
from penstock.store.atomic_files import replacing
from penstock.store.shards import write_shard
from penstock.testing.fake_recipe import fake

ADDRESS = "http://me:s3cret@host:8000/v1"


@pytest.mark.parametrize(
    "words",
    [
        ["--server", ADDRESS],
        [f"--server={ADDRESS}"],
        ["--server", "me:s3cret@host:8000"],
        ["--server=me:s3cret@host"],
        ["--password", "s3cret"],
        ["--api-key=s3cret"],
    ],
)
def test_run_json_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["penstock", "parse", "a.pdf", *words])
    manifest.write(tmp_path, fake(), command=manifest.command(), server=[ADDRESS], inputs=["a@b.pdf"])
    text = (tmp_path / manifest.RUN).read_text()
    assert "s3cret" not in text
    kept = json.loads(text)
    assert kept["server"] == ["http://***@host:8000/v1"]
    assert kept["inputs"] == ["a@b.pdf"]


def test_what_is_kept_of_an_embedding_server_is_its_address() -> None:
    plan = embed_pages("openai", model="m", server=ADDRESS, api_key="s3cret")
    assert "s3cret" not in json.dumps(about_vectors(plan))
    assert about_vectors(plan)["server"] == "http://host:8000"


def test_messages_and_failures_hold_no_password_and_steer_no_terminal() -> None:
    hostile = f"Cannot reach {ADDRESS}: \x1b[2J\x9b31m\rtwo\nlines"
    for told in (
        str(EngineError(hostile, hostile)),
        Failure.of(OSError(hostile), "load").message,
    ):
        assert "s3cret" not in told
        assert not set(told) & {"\x1b", "\x9b", "\r"}
        assert "two\nlines" in told
    assert shown("가나다 é 表") == "가나다 é 表"
    assert redacted("see https://host/path@2x.png") == "see https://host/path@2x.png"
    with pytest.raises(UsageError) as wrong:
        raise UsageError(f"{ADDRESS!r} is not the address of a server.")
    assert "s3cret" not in str(wrong.value)


def test_what_people_sent_is_never_published(tmp_path: Path) -> None:
    shard = f"items/{'a' * 24}.parquet"
    for name in ("run.json", "uploads/00aa/private.pdf", "damaged/items-b.parquet"):
        with replacing(tmp_path / name, tmp_path) as file:
            file.write(b"x")
    with replacing(tmp_path / shard, tmp_path) as file:
        write_shard(pa.table({"id": ["a"]}), file)
    (tmp_path / "diary.txt").write_text("mine")
    (tmp_path / "items" / "mine.parquet").write_text("mine")
    own, others = files_of(tmp_path)
    assert [name for name in own if hub.is_uploaded(name)] == ["run.json", shard]
    assert others == ["items/mine.parquet"]

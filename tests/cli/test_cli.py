"""What a user sees: sentences, exit codes, and a run that goes on beside what is broken."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

import penstock
from penstock.testing import FAKE
from tests.support.command import here
from tests.support.made_pdf import locked_pdf

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"


def parse_fake(*arguments: object) -> subprocess.CompletedProcess[str]:
    return here("parse", *arguments, "--recipe", FAKE, "--quiet")


def huge_png() -> bytes:
    """A header that claims 30,000 x 30,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


def cut_jpeg() -> bytes:
    import cv2
    import numpy as np

    noise = np.random.default_rng(1).integers(0, 255, (300, 300, 3), dtype=np.uint8)
    return bytes(cv2.imencode(".jpg", noise)[1])[:4000]


BROKEN = {
    "empty.pdf": (b"", "empty"),
    "text.pdf": (b"just some words\n" * 50, "text.pdf"),
    "cut.jpg": (cut_jpeg(), "cut"),
    "huge.png": (huge_png(), "30000"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence_and_the_rest_is_done(name: str, good: Path, tmp_path: Path) -> None:
    content, word = BROKEN[name]
    (good / name).write_bytes(content)
    shown = parse_fake(good, good / name, "-o", tmp_path / "out")
    assert shown.returncode == 1, shown.stderr
    [line] = [line for line in shown.stderr.splitlines() if line.startswith("failed:")]
    assert name in line
    assert word in line.replace(",", "").replace(" ", "") or word in line
    assert "Traceback" not in shown.stderr
    rows = [json.loads(row) for row in (tmp_path / "out" / "ocr_results.jsonl").read_text().splitlines()]
    assert sorted(row["valid"] for row in rows) == [False, True]


def test_an_encrypted_pdf_says_that_a_password_is_needed(tmp_path: Path) -> None:
    locked = tmp_path / "locked.pdf"
    locked.write_bytes(locked_pdf("1234"))
    shown = parse_fake(locked, "-o", tmp_path / "out")
    assert shown.returncode == 1
    assert "password" in shown.stderr


def test_an_out_that_cannot_be_written_is_a_sentence(good: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    shown = parse_fake(good, "-o", tmp_path / "file" / "out")
    assert shown.returncode == 2
    assert shown.stderr.startswith("penstock: Cannot write")
    assert "Traceback" not in shown.stderr


def test_wrong_calls_exit_with_two(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for arguments, word in (
        (("parse", good, "-o", out, "--no-such-option"), "No such option"),
        (("parse", tmp_path / "nothing-here.pdf", "-o", out), "nothing-here"),
        (("parse", good, "-o", out, "--recipe", "nope"), "no recipe 'nope'"),
        (("parse", good, "-o", out, "--pages", "x"), "not a page range"),
        (("parse", good, "-o", out, "--export", "doc"), "no export 'doc'"),
        (("parse", good, "-o", out, "--layout", "magic"), "--layout magic"),
        (("parse", good, "-o", out, "--lang", "en,xx"), "--lang xx is no language"),
        (("parse", f"{good}/*.nope", "-o", out), "*.nope matches no PDF"),
        (("export", tmp_path / "no-run"), "no pages yet"),
        (("export", tmp_path / "no-run", "--to", ","), "--to names no format"),
    ):
        shown = here(*arguments)
        assert shown.returncode == 2, (arguments, shown.stderr)
        assert word in shown.stderr, shown.stderr
        assert "Traceback" not in shown.stderr


def test_missing_models_are_a_sentence_that_says_what_to_run(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "empty-cache"))
    shown = here("parse", good, "-o", tmp_path / "out", "--quiet")
    assert shown.returncode == 2
    assert "penstock models fetch" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_another_plan_does_not_mix_into_out(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert parse_fake(good, "-o", out).returncode == 0
    shown = here("parse", good, "-o", out, "--quiet")
    assert shown.returncode == 2
    assert "load.dpi: 36 -> 200" in shown.stderr
    assert parse_fake(good, "-o", out, "--fresh").returncode == 0


def test_what_failed_before_is_told_and_exits_with_one_again(good: Path, tmp_path: Path) -> None:
    (good / "bad.pdf").write_text("no PDF")
    out = tmp_path / "out"
    first = parse_fake(good, "-o", out)
    assert first.stderr.splitlines()[0].startswith("failed: bad.pdf is not what its name says")
    again = here("parse", good, "-o", out, "--recipe", FAKE)
    assert (again.returncode, again.stdout.splitlines()[0]) == (
        1,
        "Nothing to do: 2 pages done before; 1 of them failed before.",
    )
    assert "--retry-failed" not in first.stderr + again.stderr  # a file that is no PDF never becomes one


def test_a_password_that_was_missing_is_asked_for_with_retry_failed(tmp_path: Path) -> None:
    file = tmp_path / "locked.pdf"
    file.write_bytes(locked_pdf("open"))
    first = here("parse", file, "-o", tmp_path / "out", "--layout", "rules")
    second = here("parse", file, "-o", tmp_path / "out", "--layout", "rules")
    for shown in (first, second):
        assert shown.stderr.splitlines()[-1] == (
            "Once the option is given or the package is there, --retry-failed reads it again."
        )
    opened = here("parse", file, "-o", tmp_path / "out", "--layout", "rules", "--password", "open")
    assert opened.returncode == 1  # what failed before is left out
    again = here(
        "parse", file, "-o", tmp_path / "out", "--layout", "rules", "--password=open", "--retry-failed"
    )
    assert (again.returncode, again.stdout[:11]) == (0, "1 page read")


def test_a_changed_file_replaces_its_pages_and_a_namesake_does_not(good: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "out", good / "good.pdf"
    twin = tmp_path / "other" / "good.pdf"
    twin.parent.mkdir()
    twin.write_bytes(file.read_bytes())

    def pages() -> list[str]:
        return [page.document for page in penstock.read(out)]

    def read(path: Path) -> int:
        parsed = penstock.parse(path, out=out, recipe=FAKE, executor="inline")
        return sum(not page.resumed for page in parsed)

    assert (read(file), pages()) == (1, ["good.pdf"])
    os.utime(file, ns=(1, 1))
    assert (read(file), pages()) == (1, ["good.pdf"])
    assert (read(twin), sorted(pages())) == (1, ["good.pdf", "other/good.pdf"])
    assert (read(twin), read(file)) == (0, 0)


def test_python_takes_what_one_would_write(good: Path, tmp_path: Path) -> None:
    [page] = penstock.parse(good, pages=1, lang="ko,en", layout="rules", executor="inline")
    assert page.failure is None
    with pytest.raises(penstock.PenstockError, match="holds no run"):
        penstock.read(tmp_path)


def test_what_was_left_out_of_a_folder_is_said_once(good: Path, tmp_path: Path) -> None:
    for name in ("1.svg", "2.svg", "notes.pages"):
        (good / name).write_bytes(b"something else")
    (good / "self.pdf").symlink_to(good / "self.pdf")
    shown = parse_fake(good, "-o", tmp_path / "out")
    assert shown.returncode == 1
    assert shown.stderr.count("left out: 3 files of other kinds (.svg 2, .pages 1)") == 1
    assert "self.pdf cannot be opened: Too many levels of symbolic links." in shown.stderr
    assert [page.failure is None for page in penstock.read(tmp_path / "out")] == [True, False]


def test_an_out_with_a_name_that_is_too_long_is_a_sentence(good: Path) -> None:
    long = "x" * 300
    for words in (["parse", good, "-o", long], ["search", long, "a"], ["check", long], ["export", long]):
        shown = here(*words)
        assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
        assert "File name too long." in shown.stderr


def test_a_run_that_reads_nothing_shows_no_profile(good: Path, tmp_path: Path) -> None:
    (good / "good.pdf").write_bytes(b"")
    shown = here("parse", good, "-o", tmp_path / "out", "--recipe", FAKE)
    assert shown.returncode == 1
    assert shown.stdout.startswith("Nothing could be read: 1 page or file failed.")
    assert "pages/s" not in shown.stdout


def test_fresh_leaves_a_strangers_folder_alone(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "precious"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    shown = parse_fake(good, "-o", out, "--fresh")
    assert shown.returncode == 2
    assert "thesis.txt" in shown.stderr
    assert (out / "thesis.txt").exists()


def test_a_dry_run_counts_and_writes_nothing(good: Path, tmp_path: Path) -> None:
    shown = parse_fake(SAMPLE, good, "-o", tmp_path / "out", "--dry-run", "--json")
    facts = json.loads(shown.stdout)
    assert (facts["documents"], facts["pages"], facts["todo"]) == (2, 5, 5)
    assert not (tmp_path / "out").exists()


def test_a_dry_run_needs_no_folder(good: Path) -> None:
    shown = here("parse", SAMPLE, good, "--recipe", FAKE, "--dry-run")
    assert "2 documents, 5 pages: 0 done, 5 to do" in shown.stdout
    assert shown.stdout.endswith("Nothing was run.\n")


def test_a_dry_run_knows_that_files_which_say_what_they_hold_are_quick(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}.html").write_text("<p>Rain</p>")
    shown = here("parse", *sorted(tmp_path.glob("*.html")), "-o", tmp_path / "out", "--dry-run", "--json")
    facts = json.loads(shown.stdout)
    assert facts["pages"] == 20 and facts["seconds"] <= 2


def test_defaults_come_from_a_file_and_the_environment(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "penstock.toml"
    config.write_text('recipe = "penstock.testing.fake_recipe:fake"\n[parse]\nexport = "jsonl"\n')
    shown = here("parse", good, "-o", tmp_path / "a", "--config", config, "--json")
    assert [Path(path).name for path in json.loads(shown.stdout)["written"]] == [
        "ocr_results.jsonl",
        "parsed_texts.jsonl",
    ]
    monkeypatch.setenv("PENSTOCK_EXPORT", "md")
    shown = here("parse", good, "-o", tmp_path / "b", "--config", config, "--json")
    assert [Path(path).name for path in json.loads(shown.stdout)["written"]] == ["good.md"]
    config.write_text("colour = 1\n")
    shown = here("parse", good, "-o", tmp_path / "c", "--config", config)
    assert shown.returncode == 2
    assert "'colour'" in shown.stderr


def test_the_password_is_never_written(tmp_path: Path) -> None:
    locked = tmp_path / "locked.pdf"
    locked.write_bytes(locked_pdf("1234"))
    secret = "not-the-password-7c1"
    parse_fake(locked, "-o", tmp_path / "out", "--password", secret)
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if secret.encode() in path.read_bytes()]
    assert "***" in json.loads((tmp_path / "out" / "run.json").read_text())["command"]


def test_every_verb_has_help_with_an_example() -> None:
    for verb in ("parse", "export", "profile", "doctor", "models"):
        shown = here(verb, "--help")
        assert shown.returncode == 0
        assert "Example: penstock" in shown.stdout

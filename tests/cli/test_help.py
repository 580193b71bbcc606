"""Help that is grouped and names what there is, and what shells complete."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from penstock.cli.app import VERBS, app
from penstock.cli.options import FORMAT_NAMES, GROUPS, RECIPE_NAMES
from penstock.errors import MissingModel
from penstock.exports.export import PAGE_FORMATS, PHOTO_FORMATS
from penstock.recipes import RECIPES


def help_of(*verb: str) -> str:
    return CliRunner().invoke(app, [*verb, "--help"]).stdout


def test_help_of_parse_says_together_what_belongs_together() -> None:
    lines = help_of("parse").splitlines()
    heads = [line.rstrip(":") for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert heads == ["Arguments", *GROUPS]
    after = lines[lines.index("Servers:") :]
    assert any(line.lstrip().startswith("--server") for line in after[: after.index("Running:")])


def test_help_names_every_recipe_of_pages_and_every_format_and_no_stand_in() -> None:
    told = " ".join(help_of("parse").split()).replace("- ", "-")  # long words are broken at their hyphens
    assert set(RECIPE_NAMES) == set(RECIPES) - {"photos"}
    assert set(FORMAT_NAMES) == set(PAGE_FORMATS)
    assert all(name in told for name in (*RECIPE_NAMES, *FORMAT_NAMES))
    told = " ".join(help_of("export").split()).replace("- ", "-")
    assert all(name in told for name in (*PAGE_FORMATS, *PHOTO_FORMATS))
    assert not [verb for verb in VERBS if "fake" in help_of(verb)]


def completed(shell: str, words: str) -> str:
    """What a shell's script of ours gets, asked as it asks."""
    asked = {"_PENSTOCK_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": words}
    asked |= {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    asked |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    call = "import sys; sys.argv = ['penstock']; from penstock.cli.app import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", call], env={**os.environ, **asked}, capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in ran.stderr
    return ran.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_verbs_options_and_values(shell: str) -> None:
    assert "search" in completed(shell, "penstock se")
    assert "grounded-2" in completed(shell, "penstock parse --recipe gro")
    assert "md,html" in completed(shell, "penstock export out --to md,h")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shells_script_is_printed(shell: str) -> None:
    call = ["penstock", "--show-completion"]
    environment = {**os.environ, "_PENSTOCK_COMPLETE": f"source_{shell}"}
    code = f"import sys; sys.argv = {call!r}; from penstock.cli.app import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert "_PENSTOCK_COMPLETE" in ran.stdout


def test_a_missing_sdk_is_told_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.setitem(sys.modules, "mcp", None)
    done = CliRunner().invoke(app, ["mcp"])
    assert isinstance(done.exception, MissingModel)
    assert (
        str(done.exception) == "The package mcp 2 is not installed. Run: pip install 'penstock-pipeline[mcp]'"
    )

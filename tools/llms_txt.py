"""Writes llms.txt: for language models, every page of the documentation with what it says first.

    python tools/llms_txt.py site/llms.txt

`make docs` does that. The pages are those of the site's menu, mkdocs.yml; each is named by its Markdown in
the repository, which a program reads more easily than the site. llmstxt.org says how such a file looks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

REPO = Path(__file__).resolve().parent.parent
DOCS = REPO / "docs"
MAX_WORDS = 200  # characters of what is said of a page
FIRST = "Start"
SAY_LITTLE = ("Context.", "Needs ", "Recorded ")  # how a sentence begins that tells nothing of its page
MADE = {
    "reference/commands.md": "Every command with its options.",
    "reference/python.md": "Every public name of the Python package.",
    "reference/http.md": "Every path of the HTTP API.",
    "reference/recipes.md": "Every recipe with its stages.",
}
SITE = "https://penstock-pipeline.github.io/penstock/"
SOURCE = "https://raw.githubusercontent.com/penstock-pipeline/penstock/main/docs/"


def main(target: Path) -> None:
    target.write_text(written(), "utf-8")


def written() -> str:
    site = yaml.safe_load((REPO / "mkdocs.yml").read_text("utf-8"))
    sections: dict[str, list[str]] = {}
    for section, title, page in _pages(site["nav"], FIRST):
        sections.setdefault(section, []).append(f"- [{title}]({_address(page)}): {_said(page)}")
    head = f"# {site['site_name']}\n\n> {site['site_description']}\n\n{_note()}"
    return (
        "\n\n".join([head, *(f"## {name}\n\n" + "\n".join(lines) for name, lines in sections.items())]) + "\n"
    )


def _note() -> str:
    return (
        "`pip install penstock-pipeline`; the command and the import are `penstock`. An agent's guide is\n"
        f"[the skill]({SOURCE.removesuffix('docs/')}skills/penstock/SKILL.md)."
    )


def _pages(nav: Any, section: str) -> Iterator[tuple[str, str, str]]:
    """Yields section, title and path of each page of the menu."""
    for entry in nav:
        for title, below in entry.items():
            if isinstance(below, str):
                yield section, title, below
            else:
                yield from _pages(below, title)


def _address(page: str) -> str:
    return SITE + page.removesuffix(".md") + "/" if page in MADE else SOURCE + page


def _said(page: str) -> str:
    """Returns the first sentence below a page's title, as plain words."""
    if page in MADE:
        return MADE[page]
    text = (DOCS / page).read_text("utf-8").partition("\n# ")[2] or (DOCS / page).read_text("utf-8")
    paragraphs = (part for part in text.split("\n\n")[1:] if re.match(r"[\w`*\[]", part))
    words = " ".join(" ".join(paragraphs).split())
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", words).replace("**", "")
    sentences = (part for part in re.split(r"(?<=[.:])\s", words) if not part.startswith(SAY_LITTLE))
    return next(sentences, words)[:MAX_WORDS].rstrip(":")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

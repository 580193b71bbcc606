"""Each promise of the page on reliability names a test that is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PAGE = REPO / "docs" / "reliability.md"
NAMED = re.compile(r"`(?:python -m )?(tests[/.][^`\s]*|::test_[^`]*|benchmarks/[^`\s]*)[^`]*`")


def test_every_test_that_the_page_names_is_there() -> None:
    named = [(line, *_parts(place)) for line, place in _places()]
    assert len(named) > 200
    assert [one for one in named if not _is_there(*one[1:])] == []


def _places() -> list[tuple[int, str]]:
    """The tests of each line; one that begins with colons is in the file before it."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(PAGE.read_text("utf-8").splitlines(), 1):
        for place in NAMED.findall(line):
            file = found[-1][1].partition("::")[0] if place.startswith("::") else ""
            found.append((number, file + place))
    return found


def _parts(place: str) -> tuple[Path, str]:
    file, _, name = place.partition("::")
    return REPO / (file.replace(".", "/") if file.startswith("tests.") else file), name.partition("[")[0]


def _is_there(file: Path, name: str) -> bool:
    if not name:
        return file.exists() or file.with_suffix(".py").exists()
    return file.is_file() and name in _functions(file)


@cache
def _functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}

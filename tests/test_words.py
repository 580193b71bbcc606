"""Words of no reader's everyday English stay out of help texts, error messages and docstrings."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import penstock

SOURCE = Path(penstock.__file__).parent

# plain words for them: reported, the caller, no user, next to, needs, was, at any angle
DIALECT = re.compile(r"\b(anyhow|asks|beside|borne|nobody|stood|told|whoever)\b", re.IGNORECASE)

# sentences with such words, by room; a number here may only go down
LEFT = {"documents": 10, "engines/layout": 3}

# where a word is data: it names a verb of messages that `converted` turns into Python's terms
DATA = {"converted/python_terms.py"}


def test_help_errors_and_docstrings_use_plain_words() -> None:
    dialect = [(room(path), f"{path}: {text}") for path, text in sentences() if DIALECT.search(text)]
    counts = Counter(name for name, _ in dialect)
    more = {name for name, count in counts.items() if count > LEFT.get(name, 0)}
    assert [text for name, text in dialect if name in more] == []


def room(path: Path) -> str:
    """Returns the first folder, and in `engines` the second, too."""
    parts = path.parts[: 2 if path.parts[0] == "engines" else 1]
    return "/".join(parts)


def sentences() -> list[tuple[Path, str]]:
    """Returns the texts with a space in them, docstrings, help and messages, of modules with such a word."""
    found = {path.relative_to(SOURCE): path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    return [
        (path, node.value)
        for path, text in found.items()
        if path.as_posix() not in DATA and DIALECT.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    ]

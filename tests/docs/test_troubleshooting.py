"""The page on troubleshooting quotes sentences that Penstock says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
PAGE = REPO / "docs" / "troubleshooting.md"
ROW = re.compile(r"^\| (`.+?) \|", re.MULTILINE)


@pytest.fixture(scope="module")
def said() -> str:
    """All strings of the package, each followed by a line break."""
    trees = (ast.parse(path.read_text("utf-8")) for path in (REPO / "src" / "penstock").rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return "\n".join(
        node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def quoted_pieces() -> list[str]:
    """The quoted sentences, cut where a name or a number stands, or where advice begins."""
    sentences = [
        quote for row in ROW.findall(PAGE.read_text("utf-8")) for quote in re.findall("`(.+?)`", row)
    ]
    pieces = [piece for sentence in sentences for piece in re.split(r"…|\(\.penstock\)|(?<=[.:]) ", sentence)]
    return sorted({piece.strip() for piece in pieces if len(piece.strip()) > 9})


def test_every_sentence_of_troubleshooting_is_said_somewhere(said: str) -> None:
    pieces = quoted_pieces()
    assert len(pieces) > 40
    assert [piece for piece in pieces if piece.rstrip(".,:'[") not in said] == []

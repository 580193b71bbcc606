"""Sizes are written by one function each: decimal for disks and requests, binary for memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock.sizes import file_size, memory_size

ROOT = Path(penstock.__file__).parent
UNIT = re.compile(r"\b(?:[kMGT]B|[KMGT]iB)\b")


@pytest.mark.parametrize(
    ("size", "on_disk", "in_memory"),
    [
        (0, "0 bytes", "0 bytes"),
        (999, "999 bytes", "999 bytes"),
        (1_500, "1.5 kB", "1.5 KiB"),
        (64 * 1024, "66 kB", "64 KiB"),
        (4_000_000, "4 MB", "3.8 MiB"),
        (512_000_000, "512 MB", "488 MiB"),
        (8_188 << 20, "8.6 GB", "8 GiB"),
        (23_034 << 20, "24.2 GB", "22.5 GiB"),
        (-200_000_000, "-200 MB", "-191 MiB"),
    ],
)
def test_sizes_are_decimal_on_disk_and_binary_in_memory(size: int, on_disk: str, in_memory: str) -> None:
    assert (file_size(size), memory_size(size)) == (on_disk, in_memory)


def computed_sizes(module: Path) -> Iterator[str]:
    """The pieces of f-strings that write a unit right after a number of their own."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if not isinstance(node, ast.JoinedStr):
            continue
        for number, words in zip(node.values, node.values[1:], strict=False):
            is_unit = isinstance(words, ast.Constant) and UNIT.match(str(words.value).lstrip())
            if isinstance(number, ast.FormattedValue) and is_unit:
                yield f"{module.relative_to(ROOT)}:{node.lineno}"


def test_no_other_module_writes_a_unit_after_a_number() -> None:
    modules = [path for path in ROOT.rglob("*.py") if path.name != "sizes.py"]
    assert [found for module in modules for found in computed_sizes(module)] == []

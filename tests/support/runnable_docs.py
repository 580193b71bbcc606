"""The code blocks of a Markdown page, and a way to run them as a reader would.

A block is run unless a comment before it says why not:

    <!-- not run by the tests: needs a model server -->
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import penstock

# the comment, if there is one, stands on the line before the fence
_BLOCK = re.compile(
    r"(?:<!-- not run by the tests: (?P<reason>[^\n]+) -->\n)?^```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
RUNNABLE = ("sh", "python")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """`reason` says why the tests do not run it; empty when they do."""

    language: str
    code: str
    reason: str

    @property
    def is_run(self) -> bool:
        return self.language in RUNNABLE and not self.reason

    @property
    def commands(self) -> list[str]:
        """The code without its comments, which a translation may change."""
        return [re.sub(r"\s*#.*", "", line).strip() for line in self.code.splitlines() if line.strip()]


def code_blocks(page: Path) -> list[CodeBlock]:
    return [
        CodeBlock(found["language"], found["code"], found["reason"] or "")
        for found in _BLOCK.finditer(page.read_text("utf-8"))
    ]


def run_blocks(blocks: list[CodeBlock], folder: Path) -> list[str]:
    """Runs them one after another in the folder; raises AssertionError with the output of one that fails."""
    return [run_block(block, folder, _environment(folder)).stdout for block in blocks if block.is_run]


def run_block(
    block: CodeBlock, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs one with the `bash` and the `python` of that environment's PATH."""
    program = "bash -euc" if block.language == "sh" else "python -c"
    command = ["/usr/bin/env", *program.split(), block.code]  # env looks in the PATH that it is given
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{block.code}\n{done.stdout}\n{done.stderr}"
    return done


def _environment(folder: Path) -> dict[str, str]:
    """PATH begins with a folder whose `penstock` and `python` are the ones under test."""
    tools = folder / ".tools"
    if not tools.exists():
        tools.mkdir()
        _script(tools / "penstock", "-m penstock")
        _script(tools / "python", "")
    source = str(Path(penstock.__file__).parent.parent)
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": source}


def _script(path: Path, arguments: str) -> None:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
    path.chmod(0o755)

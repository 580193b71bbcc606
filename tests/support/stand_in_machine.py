"""A machine with cards that are not there: `nvidia-smi` names them, `vllm` writes down how it was started.

Both are small scripts on PATH, so what the program really starts is what a test reads.
"""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

_KEPT = (
    "CUDA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "PENSTOCK_VISION",
    "VLLM_USE_V2_MODEL_RUNNER",
    "VLLM_CPU_KVCACHE_SPACE",
)
_VLLM = """#!/bin/sh
# one line a start: the words between tabs, then the variables; it ends as a vLLM does that cannot start
{
    for word in "$@"; do printf '%s\\t' "$word"; done
    printf '|\\t'
    for name in KEPT; do eval "printf '%s=%s\\t' $name \\"\\${$name-}\\""; done
    printf '\\n'
} >> RECORD
echo "ValueError: this stand-in never starts" >&2
exit 1
"""


@dataclass(frozen=True)
class Started:
    """How a server was started: the words after `vllm`, and the variables it was given."""

    words: tuple[str, ...]
    variables: dict[str, str]

    def value(self, flag: str) -> str:
        """The value of a flag. Asserts that it is given once: vLLM would take the last in silence."""
        assert self.words.count(flag) == 1, (flag, self.words)
        return self.words[self.words.index(flag) + 1]


class Machine:
    """Cards by name and MiB. `started` reads what was asked of `vllm` since the last time."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, cards: list[tuple[str, int]]) -> None:
        folder.mkdir()
        self._record = folder / "started"
        listing = "".join(f"{n}, {name}, {mib}\n" for n, (name, mib) in enumerate(cards))
        self._script(folder / "nvidia-smi", f"#!/bin/sh\nprintf %s {shlex.quote(listing)}\n")
        script = _VLLM.replace("KEPT", " ".join(_KEPT)).replace("RECORD", shlex.quote(str(self._record)))
        self._script(folder / "vllm", script)
        monkeypatch.setenv("PENSTOCK_VLLM", str(folder / "vllm"))
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def _script(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def started(self) -> list[Started]:
        lines = self._record.read_text().splitlines() if self._record.exists() else []
        self._record.unlink(missing_ok=True)
        return [_read(line) for line in lines]


def _read(line: str) -> Started:
    words, _, variables = line.partition("\t|\t")
    pairs = (pair.partition("=") for pair in variables.split("\t") if pair)
    return Started(tuple(words.split("\t")), {name: value for name, _, value in pairs if value})


def planned(told: str) -> list[Started]:
    """What `engine start --dry-run --json` says it would start."""
    return [
        Started(tuple(row["command"][1:]), {k: v for k, v in row["env"].items() if k in _KEPT})
        for row in json.loads(told)
    ]

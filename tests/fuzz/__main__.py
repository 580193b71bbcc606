"""Reads mutated files and words: none may be lost, hang, raise, or take more memory than allowed.

    python -m tests.fuzz --seconds 3600 [--seed 1] [--data FOLDER] [--keep FOLDER] [--office]

Half of the time goes to files, half to words, in rounds; with --office all of it to Office files and HWP.
What breaks is kept. The last line is JSON; the exit code is 1 if anything broke.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tests.fuzz import files, texts
from tests.fuzz.mutations import mutated

FILES_A_ROUND = 300
MEMORY_MB = 1024  # for a reader: what a small machine has
CODE_MB = 400  # programs and libraries, which are mapped and not allocated


Seeds = dict[str, list[bytes]]  # files that are right, by ending


@dataclass
class Findings:
    """Counts, and everything that must not be."""

    file_cases: int = 0
    pages: int = 0
    failed: int = 0
    text_cases: dict[str, int] = field(default_factory=dict)
    worst_ms: dict[str, float] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def text_round(found: Findings, chance: random.Random, home: Path, keep: Path, seconds: float) -> None:
    targets = texts.targets(home)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for target in targets:
            data = mutated(chance, target.seeds, texts.MAX_BYTES)
            found.text_cases[target.name] = found.text_cases.get(target.name, 0) + 1
            try:
                ms = 1000 * texts.tried(target, data)
            except Exception as exc:
                found.broken.append(f"{target.name}: {type(exc).__name__}: {exc}")
                kept(keep, f"{target.name}-{len(found.broken)}", data, traceback.format_exc())
            else:
                found.worst_ms[target.name] = max(found.worst_ms.get(target.name, 0.0), round(ms, 1))


def file_round(found: Findings, chance: random.Random, home: Path, keep: Path, seeds: Seeds) -> None:
    account = files.read_mutated(home, chance, seeds, FILES_A_ROUND)
    found.file_cases += account.files
    found.pages += account.pages
    found.failed += account.failed
    for name in account.lost:
        found.broken.append(f"no row for {name}")
        for path in (home / "in").glob(f"{name}.*"):
            kept(keep, path.name, path.read_bytes(), "no row")
    if files.most_memory_mb() > MEMORY_MB + CODE_MB:
        found.broken.append(f"a reader had {files.most_memory_mb():.0f} MB")


def kept(folder: Path, name: str, data: bytes, why: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name.replace("/", "_")).write_bytes(data)
    (folder / f"{name.replace('/', '_')}.txt").write_text(why)


def run(seconds: float, seed: int, data: Path | None, keep: Path, office: bool = False) -> Findings:
    seeds = {kind: made for kind, made in files.seeds(data).items() if not office or kind in files.OFFICE}
    os.environ["PENSTOCK_READER_MEMORY_MB"] = str(MEMORY_MB)
    found, began = Findings(), time.monotonic()
    for number in count():
        if time.monotonic() - began >= seconds:
            break
        # a seed a round: what a slow machine finds in the second is in the second of a fast one, too
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            chance = random.Random(f"files {seed} {number}")
            file_round(found, chance, Path(folder) / "files", keep, seeds)
            if not office:
                chance = random.Random(f"texts {seed} {number}")
                text_round(found, chance, Path(folder), keep, time.monotonic() - started)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="folder with more files that are right")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="folder for what breaks")
    parser.add_argument("--office", action="store_true", help="Office files and HWP alone")
    options = parser.parse_args()
    found = run(options.seconds, options.seed, options.data, options.keep, options.office)
    for line in found.broken[:20]:
        print(line)
    figures = {
        "cases": found.file_cases + sum(found.text_cases.values()),
        "files": found.file_cases,
        "pages": found.pages,
        "failed": found.failed,
        "texts": found.text_cases,
        "worst_ms": found.worst_ms,
        "most_memory_mb": round(files.most_memory_mb()),
        "broken": len(found.broken),
    }
    print(json.dumps(figures))
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())

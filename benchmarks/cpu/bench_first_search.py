"""Measures how long one question takes from the shell: `penstock search`, a new process each time.

    python benchmarks/cpu/bench_first_search.py [OUT]

OUT is a run that was embedded and indexed; without it the script makes one of the sample. "in turn" is what
the command would take if one process loaded everything (the index, the embedder, Kiwi) one after the other.
Last line: JSON.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import SAMPLE, finish

RUNS = 5
QUESTIONS = {"korean": "설치 방법", "english": "how far each gate stood open"}
IN_TURN = """
import sys
from pathlib import Path
from penstock.passes.embed import embed_question
from penstock.retrieval.searcher import Searcher
from penstock.store.out import Out
with Searcher(Out(sys.argv[1])) as searcher:
    searcher.search(sys.argv[2], embed_question(Path(sys.argv[1]), sys.argv[2]))
"""


def penstock(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "penstock", *arguments]


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def medians(out: Path, question: str) -> dict[str, float]:
    """Both ways by turns, so that what else the machine does hits them alike."""
    ways = {
        "search_s": penstock("search", str(out), question, "--json"),
        "in_turn_s": [sys.executable, "-c", IN_TURN, str(out), question],
    }
    taken = [{way: seconds(command) for way, command in ways.items()} for _ in range(RUNS)]
    return {way: round(statistics.median(run[way] for run in taken), 2) for way in ways}


def made(folder: Path) -> Path:
    for verb in (["parse", str(SAMPLE), "-o"], ["embed"], ["index"]):
        subprocess.run(penstock(*verb, str(folder), "--json"), check=True, stdout=subprocess.DEVNULL)
    return folder


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        out = Path(sys.argv[1]) if len(sys.argv) > 1 else made(Path(folder) / "out")
        found = {name: medians(out, question) for name, question in QUESTIONS.items()}
    for name, row in found.items():
        print(f"{name}: {row['search_s']} s, in turn {row['in_turn_s']} s")
    finish("first_search", **found)


if __name__ == "__main__":
    main()

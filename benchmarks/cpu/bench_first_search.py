"""Measures what one question costs from the shell: `penstock search`, a new process each time.

    python benchmarks/cpu/bench_first_search.py [OUT]

OUT is a run that was embedded and indexed; without it the script makes one of 20 pages, the sample's over and
over. "large" is what the same command takes where the index has no small files, as of a large run. Seconds
are of CPU time, of the process and its children: what else the machine does changes them least.
Last line: JSON.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish, write_long_pdf
from penstock.retrieval.small_index import ROWS

RUNS, PAGES = 5, 20
QUESTIONS = {"korean": "설치 방법", "english": "how far each gate stood open"}


def penstock(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "penstock", *arguments]


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median(out: Path, question: str) -> float:
    command = penstock("search", str(out), question, "--json")
    return round(statistics.median(cpu_seconds(command) for _ in range(RUNS)), 2)


def made(folder: Path) -> Path:
    document = write_long_pdf(folder / "pages.pdf", PAGES, (0, 1, 2, 3))
    out = folder / "out"
    for verb in (["parse", str(document), "-o"], ["embed"], ["index"]):
        subprocess.run(penstock(*verb, str(out), "--json"), check=True, stdout=subprocess.DEVNULL)
    return out


def without_small_files(out: Path, folder: Path) -> Path:
    """A copy of the run whose index is asked as a large one is."""
    large = folder / "large"
    shutil.copytree(out, large)
    for path in large.glob(f"index/*/{ROWS}"):
        path.unlink()
    return large


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as name:
        folder = Path(name)
        out = Path(sys.argv[1]) if len(sys.argv) > 1 else made(folder)
        ways = {"small": out, "large": without_small_files(out, folder)}
        found = {
            name: {f"{way}_cpu_s": median(run, question) for way, run in ways.items()}
            for name, question in QUESTIONS.items()
        }
    for name, row in found.items():
        print(f"{name}: {row['small_cpu_s']} s of CPU, as a large run {row['large_cpu_s']} s")
    finish("first_search", **found)


if __name__ == "__main__":
    main()

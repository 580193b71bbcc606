"""Measures that memory is flat: the peak of 1,000 born-digital pages against that of 100, and of scans.

    python benchmarks/cpu/bench_memory.py [--few 100] [--many 1000] [--scans 24]

Counts this process and its children. Bounds: within 10 %, and under 1.5 GB.
Each count runs in a process of its own, so one peak cannot hide in another's. Needs the built-in models.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import penstock

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import PeakMemory, finish, write_long_pdf, write_scans


def peak_mb(source: Path) -> float:
    with tempfile.TemporaryDirectory() as out, PeakMemory() as memory:
        for page in penstock.parse(source, out=Path(out) / "out"):
            assert page.failure is None, page.failure
    return memory.mb


def peak_in_own_process(source: Path) -> float:
    shown = subprocess.run(
        [sys.executable, __file__, "--one", str(source)], check=True, capture_output=True, text=True
    )
    return float(shown.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--many", type=int, default=1000)
    parser.add_argument("--scans", type=int, default=24)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(peak_mb(options.one))
        return
    with tempfile.TemporaryDirectory() as room:
        few = peak_in_own_process(write_long_pdf(Path(room) / "few.pdf", options.few))
        many = peak_in_own_process(write_long_pdf(Path(room) / "many.pdf", options.many))
        write_scans(Path(room) / "scans", options.scans)
        scans = peak_in_own_process(Path(room) / "scans")
    print(
        f"{options.few} pages: {few:.0f} MB   {options.many} pages: {many:.0f} MB"
        f"   {options.scans} scans: {scans:.0f} MB"
    )
    finish("memory", few_mb=few, many_mb=many, ratio=many / few, scans_mb=scans)


if __name__ == "__main__":
    main()

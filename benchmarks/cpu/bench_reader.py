"""Measures ten one-page files through one Reader, and the same files through ten calls of `convert`.

    python benchmarks/cpu/bench_reader.py [--full] [--scans]

Regions are found by rules; `--full` has the recipe's own model find them. `--scans` reads pictures of the
sample's pages, so that a model reads the letters, too. CPU seconds are of this process and of all it started:
what else the machine does changes them least. One document is converted first, so that neither way pays for
imports. Last line: JSON.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import penstock
from benchmarks.lib.common import all_cpu_s, finish, write_long_pdf, write_scans

FILES = 10


def by_reader(paths: list[Path], options: dict[str, Any]) -> list[str]:
    with penstock.Reader(**options) as reader:
        return [reader.convert(path).text for path in paths]


def by_calls(paths: list[Path], options: dict[str, Any]) -> list[str]:
    return [penstock.convert(path, **options).text for path in paths]


def measured(read: Callable[[], list[str]]) -> tuple[list[str], float, float]:
    """Returns what was read, CPU seconds and seconds."""
    cpu, began = all_cpu_s(), time.perf_counter()
    texts = read()
    return texts, round(all_cpu_s() - cpu, 2), round(time.perf_counter() - began, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--full", action="store_true", help="find regions by the recipe's model")
    parser.add_argument("--scans", action="store_true", help="read pictures of the pages")
    given = parser.parse_args()
    options: dict[str, Any] = {} if given.full else {"layout": "rules"}
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as name:
        folder = Path(name)
        paths = (
            write_scans(folder, FILES)
            if given.scans
            else [write_long_pdf(folder / f"{number}.pdf", 1, (number % 3,)) for number in range(FILES)]
        )
        by_calls(paths[:1], options)
        one, reader_cpu_s, reader_s = measured(lambda: by_reader(paths, options))
        other, convert_cpu_s, convert_s = measured(lambda: by_calls(paths, options))
    if one != other:
        raise SystemExit("The two ways read different texts.")
    print(f"one Reader: {reader_cpu_s} s of CPU, {reader_s} s")
    print(f"ten calls:  {convert_cpu_s} s of CPU, {convert_s} s")
    finish(
        "reader", files=FILES, full=given.full, scans=given.scans, reader_cpu_s=reader_cpu_s,
        convert_cpu_s=convert_cpu_s, reader_s=reader_s, convert_s=convert_s,
    )  # fmt: skip


if __name__ == "__main__":
    main()

"""Measures what a long list of inputs costs: memory a row, rows a CPU second, and when the first page comes.

    python benchmarks/cpu/bench_lists.py [--few 20000] [--many 200000] [--books names]

Each row names a picture of its own (a hard link). `listing` reads the list as a run does, page by page, and
keeps no page; `names` is what it remembers of the rows, without reading a file; `driver` adds the books that
the driver keeps of the documents. Each is measured in a process of its own, so that one peak cannot hide in
another's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from penstock.page import Page
from penstock.sources import list_items
from penstock.sources.names.seen import SeenNames
from penstock.store.source_order import ListedDocuments, note_file

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8ffff3f0005fe02fea135810000000049454e44ae426082"
)
LINKS = 30_000  # of one file; file systems allow 65,000
IN_A_FOLDER = 1_000
BOOKS = ("names", "listing", "driver")


def write_list(room: Path, rows: int) -> Path:
    """Writes pictures with names as crawls have them, and the list of their paths."""
    path = room / "list.txt"
    with path.open("w") as file:
        for number in range(rows):
            if number % LINKS == 0:
                first = room / f"first-{number}.png"
                first.write_bytes(PIXEL)
            folder = room / f"crawl-{number // IN_A_FOLDER:05d}"
            if number % IN_A_FOLDER == 0:
                folder.mkdir()
            name = folder / f"annual report {number:09d}.png"
            os.link(first, name)
            file.write(f"{name}\n")
    return path


def peak_bytes() -> int:
    """Returns the most memory that this process had, without those that it started (Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def remember(path: Path, rows: int) -> dict[str, float]:
    """Remembers the path and the document's name of each row, as the listing does."""
    paths, documents = SeenNames(), SeenNames()
    before, cpu = peak_bytes(), time.process_time()
    with path.open() as file:
        for line in file:
            paths.add(line.rstrip("\n"))
            documents.add(Path(line).name)
    seconds = time.process_time() - cpu
    return {"first_s": 0.0, "rows_a_cpu_s": rows / seconds, "grown_mb": (peak_bytes() - before) / 2**20}


def read_list(path: Path, rows: int, books: str) -> dict[str, float]:
    if books == "names":
        return remember(path, rows)
    documents = ListedDocuments()
    note: Callable[[str, tuple[int, int]], object] = lambda *_: None  # noqa: E731
    if books == "driver":
        note = documents.note
    before = peak_bytes()
    began, cpu = time.perf_counter(), time.process_time()
    items = list_items([f"@{path}"], Page, on_document=note)
    count = sum(1 for _ in islice(items, 1))
    first_s = time.perf_counter() - began
    for page in items:
        assert page.failure is None, page.failure
        count += 1
        if books == "driver":
            note_file(documents.files, page)
    assert count == rows, count
    seconds = time.process_time() - cpu
    grown = peak_bytes() - before
    return {"first_s": first_s, "rows_a_cpu_s": rows / seconds, "grown_mb": grown / 2**20}


def in_own_process(path: Path, rows: int, books: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", str(path), "--rows", str(rows), "--books", books]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(shown.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--few", type=int, default=20_000)
    parser.add_argument("--many", type=int, default=200_000)
    parser.add_argument(
        "--room", type=Path, help="where the pictures are written, in a folder that goes again"
    )
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--books", choices=BOOKS, help="measures only these")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(read_list(given.one, given.rows, given.books or BOOKS[-1])))
        return
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=given.room) as room:
        lists = {}
        for rows in (given.few, given.many):
            folder = Path(room, str(rows))
            folder.mkdir()
            lists[rows] = write_list(folder, rows)
        for books in [given.books] if given.books else BOOKS:
            few, many = (in_own_process(lists[rows], rows, books) for rows in (given.few, given.many))
            a_row = (many["grown_mb"] - few["grown_mb"]) * 2**20 / (given.many - given.few)
            print(f"{books:8} {few['grown_mb']:8.1f} MB {many['grown_mb']:8.1f} MB {a_row:8.1f} bytes a row")
            figures |= {f"{books}_bytes_a_row": a_row, f"{books}_few_mb": few["grown_mb"]}
            figures |= {f"{books}_many_mb": many["grown_mb"], f"{books}_rows_a_cpu_s": many["rows_a_cpu_s"]}
            figures |= {f"{books}_first_s": many["first_s"]}
    finish("lists", few=given.few, many=given.many, **figures)


if __name__ == "__main__":
    main()

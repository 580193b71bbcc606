"""An index of 100,000 chunks: how long it takes to build, to open and to ask, and how much memory.

Text is real: sentences of the test data's Korean history of Debian and of the sample document, put together
anew for every chunk. Vectors are given (512 numbers): near copies of a few thousand directions, as topics
are. Eight chunks make a page. Last line: JSON.

    python benchmarks/bench_search.py [--chunks 100000] [--text FILE.pdf]
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium

from common import SAMPLE, PeakMemory, finish, timed
from penstock.store.index import ABOUT, FOLDER, PageRow, RegionRow, Widths, build_rows
from penstock.store.manifest import cores
from penstock.store.search import Searcher

WIDTH = 512
TOPICS = 2_000
REGIONS_A_PAGE = 8
CHARS = 200  # of a chunk
QUESTIONS = 200
WARM_UP = 20
DATA = Path(os.environ.get("PENSTOCK_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def sentences(paths: list[Path]) -> list[str]:
    text = " ".join(
        page.get_textpage().get_text_range() for path in paths for page in pdfium.PdfDocument(path)
    )
    parts = re.split(r"(?<=[.다])\s+", " ".join(text.split()))
    return [part for part in parts if 20 <= len(part) <= CHARS]


def chunk(chance: random.Random, known: list[str]) -> str:
    text = ""
    while len(text) < CHARS:
        text += chance.choice(known) + " "
    return text[: CHARS + 40]


def pages(count: int, known: list[str]) -> Iterator[PageRow]:
    chance, numbers = random.Random(4), np.random.default_rng(4)
    topics = numbers.normal(size=(TOPICS, WIDTH)).astype(np.float32)
    for page in range(count):
        near = topics[numbers.integers(0, TOPICS, REGIONS_A_PAGE)]
        near = near + 0.5 * numbers.normal(size=near.shape).astype(np.float32)
        texts = [chunk(chance, known) for _ in range(REGIONS_A_PAGE)]
        regions = tuple(
            RegionRow(index=n, label="text", box=(0, 100 * n, 1000, 100 * n + 90), text=text, vector=vector)
            for n, (text, vector) in enumerate(zip(texts, near, strict=True))
        )
        yield PageRow(
            id=f"doc{page // 50:05d}/{page % 50:05d}",
            document=f"doc{page // 50:05d}",
            page=page % 50 + 1,
            text="\n".join(texts),
            digest=str(page),
            text_vector=near.mean(axis=0),
            regions=regions,
        )


def ask(out: Path, known: list[str]) -> dict[str, float]:
    chance, numbers = random.Random(5), np.random.default_rng(4)
    topics = numbers.normal(size=(TOPICS, WIDTH)).astype(np.float32)
    open_s, searcher = timed(Searcher, out)
    first_s, _ = timed(searcher.search, "데비안 설치 방법", topics[0] / np.linalg.norm(topics[0]))
    times, parts = [], []
    for number in range(QUESTIONS + WARM_UP):
        known_words = chance.choice(known).split()
        words = " ".join(chance.sample(known_words, min(3, len(known_words))))
        vector = topics[chance.randrange(TOPICS)]
        began = time.perf_counter()
        found = searcher.search(words, vector / np.linalg.norm(vector))
        if number >= WARM_UP:
            times.append(1000 * (time.perf_counter() - began))
            parts.append(len(found))
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    return {
        "open_ms": round(1000 * open_s, 1),
        "first_ms": round(1000 * first_s, 1),
        "p50_ms": round(float(p50), 2),
        "p95_ms": round(float(p95), 2),
        "p99_ms": round(float(p99), 2),
        "hits": min(parts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--text", type=Path, action="append")
    parser.add_argument("--keep", type=Path, help="build here, and use what is there")
    chosen = parser.parse_args()
    korean = DATA / "korean_text" / "project-history.ko.pdf"
    known = sentences(chosen.text or [SAMPLE, *([korean] if korean.is_file() else [])])
    out = chosen.keep or Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        with PeakMemory() as memory:
            widths = Widths(text=WIDTH, region=WIDTH)
            build_s = 0.0
            if not (out / FOLDER / ABOUT).is_file():
                rows = pages(chosen.chunks // REGIONS_A_PAGE, known)
                build_s, _ = timed(build_rows, out / FOLDER, rows, widths, True, cores())
            figures = ask(out, known)
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 2**20
        print(f"{chosen.chunks} chunks built in {build_s:.0f} s, {size:.0f} MB; {figures}")
        finish(
            "search",
            chunks=chosen.chunks,
            build_s=round(build_s, 1),
            peak_mb=round(memory.mb),
            index_mb=round(size),
            **figures,
        )
    finally:
        if not chosen.keep:
            shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    main()

"""Measures an index of 100,000 chunks: how long it takes to build, open and ask, its memory, its recall.

Text is real: sentences of the test data's Korean history of Debian and of the sample document, put together
anew for every chunk. Vectors are given (512 numbers): copies of a few thousand directions, as topics are,
each with as much noise as direction. Eight chunks make a page; each is a region with its vector and a chunk
with its section. Recall is the share of the 10 nearest vectors that a comparison with all of them finds.
Last line: JSON.

    python benchmarks/cpu/bench_search.py [--chunks 100000] [--text FILE.pdf]
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pypdfium2 as pdfium

from penstock.processes.resources import cores
from penstock.retrieval.index import REGIONS, build_rows, connect
from penstock.retrieval.index_folder import FOLDER, open_index, read_about
from penstock.retrieval.index_rows import ChunkRow, PageRow, RegionRow, Widths
from penstock.retrieval.searcher import Searcher, probes
from penstock.store.out import Out

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, SAMPLE, PeakMemory, finish, memory_mb, timed

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 512
TOPICS = 2_000
NOISE, ASKED_NOISE = 1.0, 0.5  # against a topic's length: of chunks and of questions
REGIONS_A_PAGE = 8
CHARS = 200  # of a chunk
QUESTIONS = 200
WARM_UP = 100  # each looks into 31 of 316 partitions: after these, all have been read
COMPARED, NEAREST = 100, 10  # questions and vectors of the recall


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
        near = near + NOISE * numbers.normal(size=near.shape).astype(np.float32)
        texts = [chunk(chance, known) for _ in range(REGIONS_A_PAGE)]
        regions = tuple(
            RegionRow(index=n, label="text", box=(0, 100 * n, 1000, 100 * n + 90), text=text, vector=vector)
            for n, (text, vector) in enumerate(zip(texts, near, strict=True))
        )
        document, number = f"doc{page // 50:05d}", page % 50 + 1
        id = f"{document}/{number:05d}"
        chunks = tuple(
            ChunkRow(
                id=f"{id}#c{n}",
                document=document,
                pages=(number,),
                page_ids=(id,),
                label="text",
                text=text,
                section=f"{number}. {known[page % len(known)][:40]}",
            )
            for n, text in enumerate(texts)
        )
        yield PageRow(
            id=id,
            document=document,
            page=number,
            text="\n".join(texts),
            digest=str(page),
            text_vector=near.mean(axis=0),
            regions=regions,
            chunks=chunks,
        )


def questions(known: list[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    chance, numbers = random.Random(5), np.random.default_rng(4)
    topics = numbers.normal(size=(TOPICS, WIDTH)).astype(np.float32)
    while True:
        words = chance.choice(known).split()
        vector = topics[chance.randrange(TOPICS)]
        vector = vector + ASKED_NOISE * numbers.normal(size=WIDTH).astype(np.float32)
        yield " ".join(chance.sample(words, min(3, len(words)))), vector / np.linalg.norm(vector)


def ask(out: Path, known: list[str]) -> dict[str, float]:
    asked = questions(known)
    open_s, searcher = timed(Searcher, Out(out))
    times, work, parts = [], [], []
    with searcher:
        first_s, _ = timed(searcher.search, *next(asked))
        for number, (words, vector) in enumerate(itertools.islice(asked, QUESTIONS + WARM_UP)):
            began, cpu = time.perf_counter(), time.process_time()
            found = searcher.search(words, vector)
            if number >= WARM_UP:
                times.append(1000 * (time.perf_counter() - began))
                work.append(1000 * (time.process_time() - cpu))
                parts.append(len(found))
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    return {
        "open_ms": round(1000 * open_s, 1),
        "first_ms": round(1000 * first_s, 1),
        "p50_ms": round(float(p50), 2),
        "p95_ms": round(float(p95), 2),
        "p99_ms": round(float(p99), 2),
        "cpu_ms": round(float(np.median(work)), 2),
        "hits": min(parts),
    }


def recall(out: Path, known: list[str]) -> float:
    """Of the 10 nearest regions, the share that the index finds as search asks it."""
    reading = open_index(out / FOLDER)
    table = connect(reading.home).open_table(REGIONS)
    shares = []
    for _, vector in itertools.islice(questions(known), COMPARED):
        query = table.search(vector).distance_type("cosine").select(["id", "_distance"]).limit(NEAREST)
        near = {row["id"] for row in query.nprobes(probes(table.count_rows())).to_list()}
        true = {row["id"] for row in query.bypass_vector_index().to_list()}
        shares.append(len(near & true) / len(true))
    return round(float(np.mean(shares)), 4)


def built(out: Path, chunks: int, known: list[str]) -> tuple[float, float]:
    """Seconds of the clock and of the cores; none where the index is there already."""
    if read_about(out / FOLDER):
        return 0.0, 0.0
    rows, widths = pages(chunks // REGIONS_A_PAGE, known), Widths(text=WIDTH, region=WIDTH)
    before = time.process_time()
    seconds, _ = timed(build_rows, out / FOLDER, rows, widths, True, cores())
    return seconds, time.process_time() - before


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
        with PeakMemory() as memory:  # not while questions are timed: looking takes its milliseconds
            build_s, cpu_s = built(out, chosen.chunks, known)
        figures = ask(out, known)
        peak_mb = max(memory.mb, memory_mb())
        figures["recall_at_10"] = recall(out, known)
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 2**20
        print(f"{chosen.chunks} chunks built in {build_s:.0f} s, {size:.0f} MB; {figures}")
        finish(
            "search",
            chunks=chosen.chunks,
            build_s=round(build_s, 1),
            build_cpu_s=round(cpu_s, 1),
            peak_mb=round(peak_mb),
            index_mb=round(size),
            **figures,
        )
    finally:
        if not chosen.keep:
            shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    main()

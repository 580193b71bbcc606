"""Simulates a corpus read on 1 to 1,000 cards, by ranks or one driver of Ray: where it stops growing and why.

    python benchmarks/cpu/simulate_scale.py [--pages 10000000] [--real 1,2,4,8]

`FIGURES` holds what goes in, each with its origin. `--real` reads made documents with that many ranks on this
machine, whose stand-in stage waits instead of working, and tells how far the simulation is off. The last line
is JSON.
"""

from __future__ import annotations

import argparse
import bisect
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_work
from penstock.processes.resources import cores
from penstock.sources import list_items
from penstock.sources.partition import Partition
from penstock.testing.fake_recipe import fake

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import all_cpu_s, finish, write_long_pdf

CARDS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
PAGES_A_DOCUMENT = 10.0  # assumed: crawled PDFs; few are very long
SPREAD = 1.2  # of the logarithm of a document's pages, assumed
FAKE_S = 1.0  # a page of the stand-in, which has two workers


@dataclass(frozen=True)
class Figures:
    """Seconds and rates. "Assumed" is what no measurement of ours stands behind."""

    pages_per_s: float = 17.58  # one H200, GLM-OCR at 0.7 scale, log 2026-11-15
    opening_s: float = 156.0  # two servers start, log; paid by every rank, and again after a preemption
    listed_per_s: float = 1000 / 0.1  # 1,000 names a request; 0.1 s a request is assumed
    shared_out_per_s: float = 294_103.0  # names hashed by one core: bench_bookkeeping.py
    counted_per_s: float = 400.0  # documents opened to count their pages: this script measures it
    handed_out_per_s: float = (
        28_507.0  # pages by a driver whose machines put their rows: bench_bookkeeping.py
    )
    document_bytes: float = 1e6  # assumed: crawled PDFs
    read_back_per_s: float = 49_239.0  # ids of a ledger by one core: bench_bookkeeping.py
    row_bytes: float = 20_000.0  # store/ledger.py
    names_per_s: float = 57_005.0  # of other ranks' documents, read back by one core: bench_bookkeeping.py
    store_bytes_per_s: float = 500e6  # of one machine, assumed
    put_s: float = 0.03  # a conditional put, store/remote.py; crops of a shard go 16 at a time
    crops_a_page: float = 1.2  # assumed
    rows_a_shard: float = 256.0  # store/ledger.py
    preempted_an_hour: float = 0.02  # of one card, assumed
    speeds: float = 0.03  # of cards of one kind, standard deviation, assumed


FIGURES = Figures()


def documents(pages: int, chance: random.Random) -> list[int]:
    """Returns how many pages each document has, as crawls have them: a few hold a share of all."""
    mean = PAGES_A_DOCUMENT / 2.718281828 ** (SPREAD**2 / 2)
    sizes: list[int] = []
    while pages > 0:
        sizes.append(min(pages, max(1, round(mean * chance.lognormvariate(0, SPREAD)))))
        pages -= sizes[-1]
    return sizes


def shares(sizes: Sequence[int], ranks: int, chance: random.Random) -> list[int]:
    """Returns the pages of each rank: a document falls to one by chance, as by its hash."""
    found = [0] * ranks
    for size in sizes:
        found[int(chance.random() * ranks)] += size
    return found


def rank_s(own: int, of: Sequence[int], figures: Figures, chance: random.Random) -> dict[str, float]:
    """Returns what one rank spends its seconds on. `of` are the pages of all ranks."""
    count, pages = sum(of) / PAGES_A_DOCUMENT, max(1, own)
    listing = count / figures.listed_per_s + count / figures.shared_out_per_s
    reading = pages / (figures.pages_per_s * max(0.5, chance.gauss(1, figures.speeds)))
    puts = puts_s(pages, figures)
    known = own / 2  # its rows, which a rank that is started again reads back: half, on average
    again = known / figures.read_back_per_s + known * figures.row_bytes / figures.store_bytes_per_s
    again += count / 2 / figures.names_per_s
    hours = (figures.opening_s + listing + reading + puts) / 3600
    times = poisson(figures.preempted_an_hour * hours, chance)
    return {
        "opening": figures.opening_s, "listing": listing, "reading": reading, "puts": puts,
        "preemption": times * (figures.opening_s + listing + again),
    }  # fmt: skip


def puts_s(pages: float, figures: Figures) -> float:
    """Returns the seconds that shards take and their crops, 16 of these at a time."""
    a_shard = figures.put_s * (1 + figures.rows_a_shard * figures.crops_a_page / 16)
    return pages / figures.rows_a_shard * a_shard


def poisson(mean: float, chance: random.Random) -> int:
    total, times = chance.expovariate(1), 0
    while total < mean:
        total, times = total + chance.expovariate(1), times + 1
    return times


def by_ranks(sizes: Sequence[int], cards: int, figures: Figures, seed: int) -> dict[str, Any]:
    """The last rank decides; what it lost its time to is told as a share of it."""
    chance = random.Random(seed)
    of = shares(sizes, cards, chance)
    times = [rank_s(own, of, figures, chance) for own in of]
    last = max(times, key=lambda parts: sum(parts.values()))
    seconds, ideal = sum(last.values()), sum(of) / figures.pages_per_s / cards
    lost = {**last, "stragglers": last["reading"] - ideal}
    del lost["reading"]
    return told(cards, seconds, ideal, sum(of), lost)


def by_driver(sizes: Sequence[int], cards: int, figures: Figures) -> dict[str, Any]:
    """Work goes to who is free, so nothing straggles. Machines put what they read, to a store; the driver
    fetches documents to count their pages, hands pages out, and brings the rows at the end."""
    pages = sum(sizes)
    ideal, puts = pages / figures.pages_per_s / cards, puts_s(pages / cards, figures)
    away = figures.preempted_an_hour * figures.opening_s / 3600  # share of time that a card is not there
    listed_s = 1 / figures.counted_per_s + figures.document_bytes / figures.store_bytes_per_s
    paces = {
        "cards": (ideal + puts) / (1 - away),
        "driver hands out": pages / figures.handed_out_per_s,
        "driver fetches and counts": len(sizes) * listed_s,
    }
    slowest = max(paces, key=lambda name: paces[name])
    rows = pages * figures.row_bytes / figures.store_bytes_per_s
    seconds = figures.opening_s + paces[slowest] + rows
    lost = {"opening": figures.opening_s, "puts": puts, "rows": rows}
    lost["preemption"] = paces["cards"] - ideal - puts
    if slowest != "cards":
        lost[slowest] = paces[slowest] - paces["cards"]
    return told(cards, seconds, ideal, pages, lost)


def told(cards: int, seconds: float, ideal: float, pages: int, lost: dict[str, float]) -> dict[str, Any]:
    worst = max(lost, key=lambda name: lost[name])
    return {
        "cards": cards, "hours": seconds / 3600, "pages_per_s": pages / seconds, "share": ideal / seconds,
        "lost_to": worst, "lost": {name: max(0.0, part) / seconds for name, part in lost.items()},
    }  # fmt: skip


def curve(pages: int, figures: Figures) -> dict[str, list[dict[str, Any]]]:
    sizes = documents(pages, random.Random(1))
    rows: dict[str, list[dict[str, Any]]] = {"ranks": [], "driver": []}
    for cards in CARDS:
        rows["ranks"].append(by_ranks(sizes, cards, figures, seed=cards))
        rows["driver"].append(by_driver(sizes, cards, figures))
    for way, found in rows.items():
        print(f"{way}: {pages:,} pages, {len(sizes):,} documents")
        for row in found:
            print(
                f"  {row['cards']:5} cards {row['hours']:9.2f} h {row['pages_per_s']:9,.0f} pages/s"
                f" {row['share']:6.1%} of linear, most lost to {row['lost_to']}"
                f" ({row['lost'][row['lost_to']]:.1%})"
            )
    return rows


def one_rank(inputs: str, out: str, partition: str, gate: Any, answers: Any) -> None:
    """Waits until all ranks stand ready, then reads what falls to it."""
    options = ParseOptions(inputs=(inputs,), recipe=fake(seconds=FAKE_S), partition=partition)
    gate.wait(300)
    began = time.time()
    work = parse_work(options, Path(out))
    work.finish()
    answers.put((began, time.time(), work.run.tally.done))


def real_s(inputs: Path, ranks: int) -> float:
    """Returns the seconds from the start of all ranks to the end of the last."""
    context = multiprocessing.get_context("spawn")
    gate, answers = context.Barrier(ranks), context.Queue()
    with tempfile.TemporaryDirectory() as out:
        given = [(str(inputs), out, f"{rank}/{ranks}", gate, answers) for rank in range(1, ranks + 1)]
        started = [context.Process(target=one_rank, args=args) for args in given]
        for process in started:
            process.start()
        times = [answers.get(timeout=600) for _ in started]
        for process in started:
            process.join(60)
    return float(max(end for _, end, _ in times) - min(begin for begin, _, _ in times))


def checked(inputs: Path, sizes: dict[str, int], numbers: Sequence[int]) -> list[dict[str, float]]:
    """Reads with each number of ranks and simulates the same. One rank's overhead is taken from the first."""
    figures = replace(
        FIGURES, pages_per_s=2 / FAKE_S, opening_s=0.0, preempted_an_hour=0.0, speeds=0.0, crops_a_page=0.0,
        put_s=0.0,
    )  # fmt: skip
    rows: list[dict[str, float]] = []
    opening = 0.0
    for ranks in numbers:
        parts = [Partition(rank, ranks) for rank in range(1, ranks + 1)]
        of = [sum(size for name, size in sizes.items() if part.holds(name)) for part in parts]
        real = real_s(inputs, ranks)
        times = [sum(rank_s(own, of, figures, random.Random(0)).values()) for own in of]
        opening = opening if rows else real - max(times)
        # here ranks share cores, and opening is what they need them for
        simulated = max(times) + opening * max(1.0, ranks / cores())
        row = {"ranks": ranks, "real_s": real, "simulated_s": simulated, "off": simulated / real - 1}
        rows.append(row)
        print(
            "{ranks} ranks: {real_s:.1f} s, simulated {simulated_s:.1f} s ({off:+.1%})".format(**row),
            flush=True,
        )
    return rows


def counted_per_s(count: int = 2000) -> float:
    """Measures how many documents of ten pages a listing opens in a CPU second of both of its processes."""
    starting_s = listing_cpu_s(1)
    return (count - 1) / (listing_cpu_s(count) - starting_s)


def listing_cpu_s(count: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "0.pdf"
        data = write_long_pdf(path, round(PAGES_A_DOCUMENT), pages=(0,)).read_bytes()
        for number in range(1, count):
            path.with_name(f"{number}.pdf").write_bytes(data)
        began = all_cpu_s()
        for _ in list_items([folder], Page):
            pass
        return all_cpu_s() - began


def real(numbers: Sequence[int], count: int) -> list[dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        chance, sizes = random.Random(4), dict[str, int]()
        for number in range(count):
            name = f"d{number:03d}.pdf"
            sizes[name] = bisect.bisect((0.4, 0.7, 0.9), chance.random()) * 3 + 1  # 1, 4, 7 or 10 pages
            write_long_pdf(Path(folder) / name, sizes[name])
        return checked(Path(folder), sizes, numbers)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--real", default="", help="numbers of ranks to run here, such as 1,2,4,8")
    parser.add_argument("--documents", type=int, default=48, help="of the real runs")
    given = parser.parse_args()
    numbers = [int(number) for number in given.real.split(",") if number]
    found = real(numbers, given.documents) if numbers else []
    figures = replace(FIGURES, counted_per_s=counted_per_s())
    print(f"{figures.counted_per_s:,.0f} documents counted a second")
    shown = curve(given.pages, figures)
    finish("simulate_scale", pages=given.pages, figures=asdict(figures), real=found, curve=shown)


if __name__ == "__main__":
    main()

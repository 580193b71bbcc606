"""Measures what a run's own books cost on one core: rows committed, ids read back, ids that are left out.

    python benchmarks/cpu/bench_bookkeeping.py [--rows 1000000] [--ids 100000000]

Rows are real: pages with a region, written to shards, read back as a resumed run reads them. Ids are
simulated: names of documents that are shared out among ranks and looked up among those that are done. Memory
is measured by the process's own peak (Linux).
"""

from __future__ import annotations

import argparse
import gc
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import psutil

from penstock.driver import Tally
from penstock.executors.channel import Channel
from penstock.executors.handout import Handout
from penstock.executors.machine import MachineReport
from penstock.item import Item
from penstock.page import Page
from penstock.region import Region
from penstock.sources.partition import Partition
from penstock.store.ledger import Ledger, ShardWriter
from penstock.store.schema import PAGES
from penstock.store.source_order import DOCUMENTS, RANKS, ListedDocuments, read_order, write_rank_order

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish

TEXT = "수압관은 저수지의 물을 발전소의 수차까지 이끄는 굵은 강철관이다. " * 8
PAGES_A_DOCUMENT = 10
SAMPLE_IDS = 1_000_000  # of the simulated ids; each costs the same


def pages(count: int) -> Iterator[Page]:
    region = Region(label="text", box=(0.0, 0.0, 100.0, 20.0), content=TEXT)
    for number in range(count):
        document, part = divmod(number, PAGES_A_DOCUMENT)
        name = f"crawl/{document % 1000:03d}/{document:09d}.pdf"
        yield Page(
            id=f"{document:09d}-0123456789/{part:05d}", uri=f"/data/{name}", document=name, part=part,
            width=1000, height=1400, regions=(region,), markdown=TEXT,
        )  # fmt: skip


def rss() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def cpu(began: float) -> float:
    return time.process_time() - began


def measure(rows: int, ids: int) -> dict[str, float]:
    found: dict[str, float] = {"rows": rows, "ids": ids}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        began = time.process_time()
        writer = ShardWriter(out, PAGES)
        for page in pages(rows):
            writer.add(page)
        writer.commit()
        found["committed_rows_a_cpu_s"] = rows / cpu(began)
        shards = list((out / "items").iterdir())
        found["bytes_a_row_on_disk"] = sum(shard.stat().st_size for shard in shards) / rows
        before, began = rss(), time.process_time()
        entries = Ledger(out, PAGES).entries()
        found["read_back_ids_a_cpu_s"] = rows / cpu(began)
        found["memory_bytes_an_id"] = (rss() - before) / rows
        began = time.process_time()
        left = sum(page.id not in entries for page in pages(rows))
        found["left_out_ids_a_cpu_s"] = rows / cpu(began)
        assert left == 0
    return {**found, **driven(), **shared_out(ids), **names_of_others()}


def driven(count: int = 100_000, machines: int = 8, at_once: int = 64) -> dict[str, float]:
    """Hands pages out to machines that publish their own rows, and counts what comes back as they send it."""
    source: Channel[Item] = Channel(count)
    for page in pages(count):
        source.put(page)
    handout, tally = Handout(source, at_once), Tally()
    seconds = 0.0
    while tally.done < count:
        for machine in map(str, range(machines)):
            began = time.process_time()
            given = pickle.dumps(handout.next_for(machine))
            seconds += cpu(began)
            report = pickle.dumps(MachineReport(tuple(pickle.loads(given))))  # the machine's own time
            began = time.process_time()
            back = pickle.loads(report).items
            handout.came_back(machine, back)
            for page in back:
                tally.count(page)
            seconds += cpu(began)
    return {"driver_pages_a_cpu_s": count / seconds}


def names_of_others(count: int = 200_000) -> dict[str, float]:
    """Reads the names of documents that other ranks wrote, as a rank that goes on must."""
    listed = ListedDocuments(of_rank=True)
    for number in range(count):
        name = f"crawl/{number % 1000:03d}/{number:09d}.pdf"
        listed.note(name, (number, 0))
        listed.files[name] = {f"/data/{name}": f"{number:09d}-0123456789"}
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder, RANKS, "1-of-2")
        write_rank_order(own, listed)
        before, began = rss(), time.process_time()
        order = read_order(Path(folder))
        seconds = cpu(began)
        size = (own / DOCUMENTS).stat().st_size
    assert len(order) == count
    return {
        "names_read_back_a_cpu_s": count / seconds,
        "memory_bytes_a_name": (rss() - before) / count,
        "bytes_a_name_on_disk": size / count,
    }


def shared_out(ids: int) -> dict[str, float]:
    """Shares out names among ranks. Beyond SAMPLE_IDS the rate is that of the first."""
    rank = Partition(3, 1000)
    names = (f"crawl/{number % 1000:03d}/{number:09d}.pdf" for number in range(ids))
    began = time.process_time()
    mine = sum(map(rank.holds, islice(names, SAMPLE_IDS)))
    seconds = cpu(began)
    count = min(ids, SAMPLE_IDS)
    return {
        "shared_out_ids_a_cpu_s": count / seconds,
        "cpu_s_to_share_out_all_ids": ids * seconds / count,
        "share_of_one_of_1000_ranks": 1000 * mine / count,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--ids", type=int, default=100_000_000)
    given = parser.parse_args()
    found = measure(given.rows, given.ids)
    for name, value in found.items():
        print(f"{name.replace('_', ' '):32} {value:,.2f}")
    per_id = found["memory_bytes_an_id"]
    print(f"100,000,000 ids of one OUT would take {per_id * 1e8 / 2**30:.0f} GiB in the process that resumes")
    finish("bookkeeping", **found)


if __name__ == "__main__":
    main()

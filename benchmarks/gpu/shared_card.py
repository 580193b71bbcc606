"""Measures two workers that share one card against one worker alone: Ray nodes, or ranks without Ray.

    PYTHONPATH=src python benchmarks/gpu/shared_card.py --by ray     # nodes of a cluster, on this machine
    PYTHONPATH=src python benchmarks/gpu/shared_card.py --by ranks   # --partition 1/2 and 2/2; no Ray
    PYTHONPATH=src python benchmarks/gpu/shared_card.py --smoke      # on a CPU: few pages, a small network

Each worker loads JPEG pages and runs PP-DocLayoutV3 in a process of its own, with the network's real shape
and random weights unless --model names one. Rates are taken between the first tenth and the last tenth of
the pages, so opening does not count. Then one of two workers is killed; with Ray a node is added in its
place, with ranks the same command is started again. Each page must be there once, none failed. The last line
is JSON.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import torch

from penstock import sources
from penstock.page import Page
from penstock.passes.parse import ParseOptions, parse_work
from penstock.plan import Plan
from penstock.processes.resources import cores
from penstock.stage import Batch
from penstock.stages.doclayout import DocLayout
from penstock.stages.load import Load
from penstock.store.out import Out

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.gpu.layout_gpu import random_checkpoint
from benchmarks.lib.bare_load import write_pages
from benchmarks.lib.common import REPOSITORY, finish
from benchmarks.lib.known_pages import HEIGHT, WIDTH

DRAWN = 64  # pages that differ; the others are links to them, each a document of its own
READY_S = 300.0
SILENT_S = 600.0  # of all ranks; what starts a process that compiles takes minutes


def plan_of(model: str, workers: int, batch: int) -> Plan:
    """The two stages that a card and its feeding need. Workers share the machine's cores."""
    load = Load(give="encoded", text_layer=False, workers=max(1, cores() // 4 // workers))
    layout = DocLayout(model=model, batch=Batch(max_items=batch, linger_ms=200.0))
    return Plan(load, layout, name="shared-card")


def rate(times: list[float]) -> float:
    first, last = len(times) // 10, len(times) - len(times) // 10 - 1
    return (last - first) / (times[last] - times[first])


def checked(found: list[tuple[str, bool]], count: int) -> dict[str, int]:
    """Raises SystemExit unless each page is there once and none failed."""
    pages = Counter(id for id, _ in found)
    figures = {"pages": len(pages), "twice": len(found) - len(pages), "failed": sum(bad for _, bad in found)}
    if figures != {"pages": count, "twice": 0, "failed": 0}:
        raise SystemExit(f"Of {count} pages: {figures}")
    return figures


@contextmanager
def cluster(nodes: int) -> Iterator[Any]:
    """A head that only hands out, and nodes that each take the card for theirs."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = f"{REPOSITORY / 'src'}:{REPOSITORY}:{os.environ.get('PYTHONPATH', '')}"
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(nodes):
        add_node(made)
    ray.init(address=made.address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def add_node(made: Any) -> None:
    made.add_node(num_cpus=max(1, cores() // 2), num_gpus=int(torch.cuda.is_available()))


def by_ray(pages: Path, plan: Plan, workers: int, count: int, kill: bool = False) -> dict[str, Any]:
    from penstock.executors.ray import Ray

    times: list[float] = []
    found: list[tuple[str, bool]] = []
    with cluster(workers) as made:
        executor = Ray()
        for item in executor.stream(plan, sources.list_items([str(pages)], Page)):
            times.append(time.perf_counter())
            found.append((item.id, item.failure is not None))
            if kill and len(times) == count // 4:
                made.remove_node(sorted(made.worker_nodes, key=str)[0], allow_graceful=False)
                add_node(made)
        machines = len(executor.machines())
    return {**checked(found, count), "machines": machines, "pages_per_s": rate(times)}


def one_rank(inputs: str, out: str, partition: str, plan: Plan, gate: Any, end: Any) -> None:
    """Waits until all ranks stand ready, then reads what falls to it; sends the time of each page."""
    work = parse_work(ParseOptions(inputs=(inputs,), recipe=plan, partition=partition), Path(out))
    gate.wait(READY_S)
    for _ in work:
        end.send(time.time())
    end.close()


def by_ranks(pages: Path, plan: Plan, workers: int, count: int, kill: bool = False) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    times: list[float] = []
    with tempfile.TemporaryDirectory() as out:

        def start(rank: int, gate: Any) -> tuple[Any, Any]:
            here, there = context.Pipe(duplex=False)  # one each: a rank that is killed locks no other's
            given = (str(pages), out, f"{rank}/{workers}", plan, gate, there)
            process = context.Process(target=one_rank, args=given)
            process.start()
            there.close()
            return here, process

        gate, alone = context.Barrier(workers), context.Barrier(1)
        ranks = dict(start(rank, gate) for rank in range(1, workers + 1))
        first = next(iter(ranks))
        while ranks:
            ready: list[Any] = wait(list(ranks), timeout=SILENT_S)
            if not ready:
                raise TimeoutError(f"no rank said anything for {SILENT_S:g} s")
            for rank in ready:
                try:
                    times.append(rank.recv())
                except EOFError:
                    ranks.pop(rank).join()
            if kill and first in ranks and len(times) >= count // 4:
                kill = False
                ranks[first].kill()
                ranks.update([start(1, alone)])
        found = [(page.id, page.failure is not None) for page in Out(out).read_pages()]
    return {**checked(found, count), "machines": workers, "pages_per_s": rate(sorted(times))}


def measure(options: argparse.Namespace, pages: Path, model: str) -> dict[str, Any]:
    way: Callable[..., dict[str, Any]] = {"ray": by_ray, "ranks": by_ranks}[options.by]
    results: dict[str, Any] = {"alone": [], "shared": []}
    for number in range(options.repeats):
        for name, workers in (("alone", 1), ("shared", 2)):
            plan = plan_of(model, workers, options.batch)
            results[name].append(way(pages, plan, workers, options.pages))
            print(f"{name} {number + 1}: {results[name][-1]['pages_per_s']:.1f} pages/s", flush=True)
    alone, shared = (max(row["pages_per_s"] for row in results[name]) for name in ("alone", "shared"))
    results["shared_to_alone"] = shared / alone
    results["killed"] = way(pages, plan, 2, options.pages, kill=True)
    print(f"shared by two: {shared / alone:.2f} times one alone; one of two killed: {results['killed']}")
    return results


def options_of(arguments: list[str]) -> argparse.Namespace:
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("--by", choices=["ray", "ranks"], default="ranks")
    parser.add_argument("--model", default="", help="a checkpoint's folder; default: random weights")
    parser.add_argument("--pages", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.pages, options.repeats, options.batch = 24, 1, 2
    return options


def main() -> None:
    options = options_of(sys.argv[1:])
    width, height = (WIDTH // 10, HEIGHT // 10) if options.smoke else (WIDTH, HEIGHT)
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        pages.mkdir()
        write_pages(str(pages), range(min(DRAWN, options.pages)), width, height)
        for number in range(DRAWN, options.pages):
            (pages / f"{number:05d}.jpg").hardlink_to(pages / f"{number % DRAWN:05d}.jpg")
        model = options.model or random_checkpoint(f"{folder}/model", options.smoke)
        results = measure(options, pages, model)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    finish("shared_card", by=options.by, device=device, pages=options.pages, **results)


if __name__ == "__main__":
    sys.exit(main())

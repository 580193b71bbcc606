"""Measures the Ray executor's share of linear: stand-ins of fixed duration on clusters of 1, 2 and 4 nodes.

    python benchmarks/cpu/bench_ray.py --pages 400 --seconds 0.25

All nodes are on this machine (`ray.cluster_utils`), and the work is waiting, so what is measured is what
handing out and bringing back costs, not the machine. Rates are taken between the first tenth and the last
tenth of the pages: starting takes seconds, once. Prints a line a size; the last
line is JSON. Needs penstock-pipeline[ray].
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from penstock import sources
from penstock.executors.ray import Ray
from penstock.page import Page
from penstock.testing.fake_recipe import fake

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish, write_long_pdf

WORKERS = 2  # of the fake recipe's last stage, on each node


def rate(nodes: int, pdf: Path, seconds: float) -> float:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        times = [
            time.perf_counter()
            for _ in Ray().stream(fake(seconds=seconds), sources.list_items([str(pdf)], Page))
        ]
    finally:
        ray.shutdown()
        cluster.shutdown()
    first, last = len(times) // 10, len(times) - len(times) // 10
    return (last - first) / (times[last] - times[first])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--nodes", default="1,2,4")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        pdf = write_long_pdf(Path(folder) / "many.pdf", options.pages)
        for nodes in map(int, options.nodes.split(",")):
            ideal = nodes * WORKERS / options.seconds
            got = rate(nodes, pdf, options.seconds)
            results.append({"nodes": nodes, "pages_per_s": got, "ideal": ideal, "share": got / ideal})
            print(f"{nodes} nodes: {got:.1f} pages/s of {ideal:.1f} ({got / ideal:.1%})", flush=True)
    finish("bench_ray", pages=options.pages, seconds=options.seconds, results=results)


if __name__ == "__main__":
    main()

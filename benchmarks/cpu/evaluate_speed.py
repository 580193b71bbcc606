"""Measures how fast scoring is: a whole benchmark, TEDS against plain APTED, and ten thousand CER pairs.

    python benchmarks/cpu/evaluate_speed.py [DATA]

DATA is the folder of test data (PENSTOCK_DATA); without it the benchmark is left out. The last line is JSON.
`cold_command` is a whole `penstock eval score omnidocbench`, start of Python included.
CPU seconds are printed beside wall seconds: on a busy machine only they can be compared.
"""

from __future__ import annotations

import json
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rapidfuzz.distance import Levenshtein

from penstock_eval.benchmarks.omnidocbench import OmniDocBench
from penstock_eval.metrics.tables import TagTokens, compare_tables, document, read_table
from penstock_eval.metrics.text import character_error_rate
from penstock_eval.scoring import score_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA

CER_PAIRS = 10_000
CER_LETTERS = 2_000


def timed(work: Callable[[], object]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall_s": round(time.perf_counter() - wall, 3), "cpu_s": round(time.process_time() - cpu, 3)}


def cold_command(data: Path, version: str) -> dict[str, float]:
    """The whole command in a process of its own, as one would time the official program."""
    words = ["eval", "score", "omnidocbench", str(data / "predictions_end2end"), "--data", str(data)]
    before, wall = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "penstock", *words, "--protocol", version],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"wall_s": round(time.perf_counter() - wall, 3), "cpu_s": round(cpu, 3)}


def table(rows: int, columns: int, seed: int, lost: float = 0.0) -> str:
    generator = random.Random(seed)
    body = "".join(
        "<tr>" + "".join(f"<td>{generator.randrange(10**6)}</td>" for _ in range(columns)) + "</tr>"
        for _ in range(rows)
        if generator.random() >= lost
    )
    return document(f"<table>{body}</table>")


def plain_apted(first: str, second: str) -> float:
    """TEDS' distance by the apted package, nodes and costs as the official metric has them."""
    from apted import APTED, Config
    from lxml import html

    class Node:
        def __init__(self, element: html.HtmlElement) -> None:
            self.tag = element.tag
            self.text = element.text or "" if element.tag == "td" else ""
            self.children = [] if element.tag == "td" else [Node(child) for child in element]

    class Costs(Config):
        def rename(self, node1: Node, node2: Node) -> float:
            if node1.tag != node2.tag:
                return 1.0
            longest = max(len(node1.text), len(node2.text))
            return Levenshtein.distance(node1.text, node2.text) / longest if longest else 0.0

        def children(self, node: Node) -> list[Node]:
            return node.children

    trees = [Node(html.fromstring(source).xpath("body/table")[0]) for source in (first, second)]
    return float(APTED(*trees, Costs()).compute_edit_distance())


def teds_speed(rows: int, columns: int) -> dict[str, float]:
    first, second = table(rows, columns, 1), table(rows, columns, 2, 0.05)
    tokens = TagTokens()
    ours = timed(
        lambda: compare_tables(read_table(first, tokens), read_table(second, tokens))
    )  # TEDS and TEDS-S
    found: dict[str, float] = {"cells": rows * columns, "ours_cpu_s": ours["cpu_s"]}
    if rows * columns <= 500:
        plain = timed(lambda: (plain_apted(first, second), plain_apted(first, second)))
        found |= {"apted_cpu_s": plain["cpu_s"], "times_faster": round(plain["cpu_s"] / ours["cpu_s"], 1)}
    return found


def cer_speed() -> dict[str, float]:
    generator = random.Random(4)
    letters = "abcdefghijklmnopqrstuvwxyz 가나다라마바사"
    truths = ["".join(generator.choices(letters, k=CER_LETTERS)) for _ in range(100)]
    pairs = [(truth, "".join(c if generator.random() > 0.05 else "x" for c in truth)) for truth in truths]
    many = pairs * (CER_PAIRS // len(pairs))
    return timed(lambda: character_error_rate([t for t, _ in many], [p for _, p in many]))


def main() -> None:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else DATA) / "omnidocbench_demo"
    results: dict[str, object] = {"cores": os.cpu_count(), "python": platform.python_version()}
    if data.is_dir():
        for workers in (0, os.cpu_count()):
            name = "omnidocbench_18_pages_" + ("inline" if workers == 0 else "processes")
            bench = OmniDocBench(version="v1.5")
            results[name] = timed(
                lambda b=bench, w=workers: score_folder(b, data, data / "predictions_end2end", workers=w)
            )
            print(name, results[name], flush=True)
        for version in ("v1.5", "v1.6"):
            results[f"cold_command_{version}"] = cold_command(data, version)
            print("cold_command", version, results[f"cold_command_{version}"], flush=True)
    results["teds"] = [teds_speed(rows, columns) for rows, columns in ((21, 10), (50, 10), (500, 10))]
    print("teds", results["teds"], flush=True)
    results["cer_10000_pairs_of_2000"] = cer_speed()
    print("cer", results["cer_10000_pairs_of_2000"], flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()

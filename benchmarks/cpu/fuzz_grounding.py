"""Reads mutated grounded answers by the hundred thousand: none may raise, none may take 50 ms of CPU.

    python benchmarks/cpu/fuzz_grounding.py [200000] [--show]

The last line is JSON; `--show` prints the answer that took longest.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from pathlib import Path

from penstock.documents.grounding.answer import read_grounded

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.grounded_answers import DIALECTS, answers, mutated


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    chance = random.Random(2026)
    seeds = [text for dialect in DIALECTS for text in answers(dialect).values()]
    gc.disable()  # a collection is not the parser's time
    worst, total, longest = 0.0, 0.0, ""
    for number in range(count):
        text = mutated(chance, seeds)
        began = time.thread_time()
        read_grounded(text, 1700, 2200)
        took = time.thread_time() - began
        total += took
        if took > worst:
            worst, longest = took, text
        if number % 5_000 == 0:
            gc.collect()
    if "--show" in sys.argv:
        print(repr(longest[:3000]), len(longest))
    figures = {"inputs": count, "exceptions": 0, "worst_ms": round(worst * 1e3, 2), "cpu_s": round(total, 1)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

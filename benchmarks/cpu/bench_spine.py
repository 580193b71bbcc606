"""Measures what the spine costs: everything that is not the models' time.

    python benchmarks/cpu/bench_spine.py [--pages 400] [--repeats 5]

Inline: pages through stages that do nothing, committed to a store, in ms a page (bound: 2).
Local: pages through stages that burn CPU without the GIL, against the same burns on bare threads
(bound: 3 %). Needs nothing else.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from penstock.driver import Run
from penstock.executors.inline import Inline
from penstock.executors.local import Local
from penstock.page import Page
from penstock.plan import Plan
from penstock.processes.resources import cores
from penstock.stage import Stage, Worker
from penstock.store.schema import PAGES
from penstock.testing.fake_stages import FakeLayout, FakeRecognise

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish, spread, timed

BLOCK = bytes(1 << 20)
BLOCKS_A_PAGE = 60  # about 40 ms of hashing: the lightest real stage takes more


def burn(blocks: int) -> None:
    digest = hashlib.sha256()
    for _ in range(blocks):
        digest.update(BLOCK)


@dataclass(frozen=True, kw_only=True)
class Burn(Stage):
    name: ClassVar[str] = "burn"
    writes: ClassVar[tuple[str, ...]] = ("width", "height")
    blocks: int = BLOCKS_A_PAGE

    def open(self) -> Worker[Page]:
        return BurnWorker(self.blocks)


class BurnWorker(Worker[Page]):
    def __init__(self, blocks: int) -> None:
        self._blocks = blocks

    def __call__(self, items: list[Page]) -> list[Page]:
        for _ in items:
            burn(self._blocks)
        return [replace(item, width=100, height=100) for item in items]


def pages(count: int) -> list[Page]:
    return [Page(id=f"doc/{n:06d}", uri="doc", document="doc", part=n) for n in range(count)]


def committed(executor: Inline | Local, plan: Plan, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = Run(plan, executor, Path(folder) / "out", PAGES)
        for _ in run.items(pages(count)):
            pass
        assert run.tally.done == count


def inline_ms(count: int) -> float:
    plan = Plan(Burn(blocks=0), FakeLayout(), FakeRecognise())
    return timed(committed, Inline(), plan, count)[0] / count * 1000


def local_overhead(count: int) -> float:
    plan = Plan(Burn(workers=cores()), FakeLayout(), FakeRecognise())
    with ThreadPoolExecutor(cores()) as pool:
        bare = timed(lambda: list(pool.map(burn, [BLOCKS_A_PAGE] * count)))[0]
    return timed(committed, Local(), plan, count)[0] / bare - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    inline = [inline_ms(options.pages) for _ in range(options.repeats)]
    local = [local_overhead(options.pages) for _ in range(options.repeats)]
    print(
        f"inline: {spread(inline)['median']:.2f} ms a page"
        f"    local: {spread(local)['median']:+.1%} over bare threads"
    )
    finish("spine", inline_ms_a_page=spread(inline), local_overhead=spread(local))


if __name__ == "__main__":
    main()

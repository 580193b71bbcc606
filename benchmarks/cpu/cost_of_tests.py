"""CPU seconds of each test file, with the processes it starts.

    python benchmarks/cpu/cost_of_tests.py tests/serve [-m slow]

What the process took that forks readers of files is told when it ends: with the last file. A busy machine
costs up to half as much again, so compare what ran side by side.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import defaultdict
from collections.abc import Generator

import pytest

COLLECTION = "collection"


class Costs:
    """A plugin of pytest that adds up what tests take."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        before = cpu_seconds()
        try:
            return (yield)
        finally:
            self._add(COLLECTION, before)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = cpu_seconds()
        try:
            return (yield)
        finally:
            self._add(item.nodeid.partition("::")[0], before)

    def _add(self, name: str, before: float) -> None:
        self.seconds[name] += cpu_seconds() - before


def cpu_seconds() -> float:
    """Returns what this process and those it has waited for have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(words: list[str]) -> int:
    costs = Costs()
    which = [] if "-m" in words else ["-m", "not slow"]
    status = pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *which, *words], plugins=[costs])
    rounded = {name: round(seconds, 2) for name, seconds in costs.seconds.items()}
    for name, seconds in sorted(rounded.items(), key=lambda cost: -cost[1]):
        print(f"{seconds:8.2f} s  {name}")
    print(json.dumps({"cpu_s": round(sum(rounded.values()), 1), "files": rounded}))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

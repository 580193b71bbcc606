"""A stage of your own: it sets the words you care about in bold.

It comes after the stages of the recipe `documents`, on every page.

python examples/own_stage.py [FILE]      (without FILE: the sample that ships with Penstock)
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from importlib import resources
from typing import ClassVar

import penstock
from penstock.recipes.documents import documents


@dataclass(frozen=True, kw_only=True)
class Emphasise(penstock.Stage):
    """The spec: small, frozen, it pickles. Its fields are part of the plan's fingerprint."""

    name: ClassVar[str] = "emphasise"
    reads: ClassVar[tuple[str, ...]] = ("markdown",)  # a plan checks that an earlier stage writes it
    writes: ClassVar[tuple[str, ...]] = ("markdown",)
    words: tuple[str, ...] = ()

    def open(self) -> Emphasiser:
        """Called once for each worker, where it will run. Load weights here."""
        return Emphasiser(self.words)


class Emphasiser(penstock.Worker[penstock.Page]):
    """The worker: gets pages in batches and returns the same pages in the same order.

    One that holds a file or a process also defines `close()`.
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        self._pattern = re.compile("|".join(map(re.escape, words)))

    def __call__(self, items: list[penstock.Page]) -> list[penstock.Page]:
        return [replace(page, markdown=self._pattern.sub(r"**\g<0>**", page.markdown)) for page in items]


def main() -> None:
    sample = resources.files("penstock") / "sample" / "sample.pdf"
    path = sys.argv[1] if len(sys.argv) > 1 else str(sample)
    plan = penstock.Plan(*documents(), Emphasise(words=("penstock", "수압관")), name="emphasised")
    for page in penstock.parse(path, recipe=plan, pages="1-2"):
        print(page.markdown)


if __name__ == "__main__":
    main()

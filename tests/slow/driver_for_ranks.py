"""One rank of a run that a test may kill: inputs, address of OUT, home of mirrors, RANK/RANKS."""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.passes.parse import ParseOptions, parse_work
from penstock.store.remote import mirrored
from penstock.testing.fake_recipe import fake


def main(folder: str, address: str, home: str, partition: str) -> None:
    options = ParseOptions(inputs=(folder,), recipe=fake(), partition=partition)
    with mirrored(address, Path(home), everything=False) as out:
        for page in parse_work(options, out):
            print(page.id, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

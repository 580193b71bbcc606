"""Reads files as they come with one Reader: its models are loaded once. Two threads share it.

python examples/reader.py [FILE ...]      (without: the sample that ships with Penstock, twice)
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import resources

import penstock


def main() -> None:
    sample = str(resources.files("penstock") / "sample" / "sample.pdf")
    sources = sys.argv[1:] or [sample, sample]
    with penstock.Reader(layout="rules") as reader, ThreadPoolExecutor(2) as pool:

        def first_words(source: str) -> str:
            try:
                with reader.convert(source, pages="1") as doc:
                    return f"{doc.name}: {doc.text[:60]!r}"
            except penstock.PenstockError as exc:  # the next file is read all the same
                return f"{source}: {exc}"

        for line in pool.map(first_words, sources):
            print(line)


if __name__ == "__main__":
    main()

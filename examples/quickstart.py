"""Reads a document and prints each page as Markdown.

python examples/quickstart.py [FILE]      (without FILE: the sample that ships with Penstock)
"""

from __future__ import annotations

import sys
from importlib import resources

import penstock


def main() -> None:
    sample = resources.files("penstock") / "sample" / "sample.pdf"
    path = sys.argv[1] if len(sys.argv) > 1 else str(sample)
    for page in penstock.parse(path):
        print(page.markdown)


if __name__ == "__main__":
    main()

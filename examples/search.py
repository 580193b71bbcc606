"""Parse, embed, index, search: questions to your own documents, on a CPU.

pip install 'penstock-pipeline[search]'
python examples/search.py OUT QUESTION [FILE...]      (without FILE: the sample that ships with Penstock)

Run it again with another question: what is in OUT already is not done again.
"""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

import penstock


def make_searchable(files: list[str], out: Path) -> None:
    for page in penstock.parse(files, out=out, layout="rules"):
        print(f"read {page.document}, page {page.part + 1}")
    print(penstock.embed(out).sentence())
    penstock.index(out)


def main() -> None:
    out, question, *files = sys.argv[1:]
    sample = str(resources.files("penstock") / "sample" / "sample.pdf")
    make_searchable(files or [sample], Path(out))
    for hit in penstock.search(out, question, top=3):
        print(f"\n{hit.document}, page {hit.page}: {hit.section}\n  {hit.snippet}")


if __name__ == "__main__":
    main()

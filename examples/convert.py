"""Reads one document and shows what can be asked of it: sections, tables, pictures, chunks.

python examples/convert.py [FILE or https://...]      (without: the sample that ships with Penstock)
"""

from __future__ import annotations

import sys
from importlib import resources

import penstock


def main() -> None:
    sample = resources.files("penstock") / "sample" / "sample.pdf"
    source = sys.argv[1] if len(sys.argv) > 1 else str(sample)
    with penstock.convert(source, layout="rules") as doc:
        for section in doc.sections:
            print(f"{'#' * (section.level + 1)} {section.heading} ({len(section.content)} characters)")
        for table in doc.tables:
            print(f"page {table.page}: a table of {len(table.rows)} rows")
        for figure in doc.figures:
            print(f"page {figure.page}: a picture of {figure.image.width} x {figure.image.height} pixels")
        print(sum(1 for _ in doc.chunks()), "chunks for retrieval")
        print(doc.save("converted"))


if __name__ == "__main__":
    main()

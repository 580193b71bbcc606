"""Scores what JPEG quality costs: the same pages, read as they are and as they would be sent.

    python benchmarks/quality/sent_quality.py [PDF...] [--pages 4]

The pages of PDFs (the sample without any) are rendered at 200 dpi; the built-in engines read each as it
is, moved by a pixel, and encoded at each quality. Distances are edits over characters from what was read
of the page as it is: what moving by a pixel changes is chance. The last line is JSON.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from rapidfuzz.distance import Levenshtein

from penstock.engines.image.crop import as_jpeg
from penstock.engines.image.decode import decode
from penstock.engines.ocr.reader import PageReader

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.clock import mean_ms
from benchmarks.lib.common import SAMPLE, finish

DPI = 200  # as pages are rendered for model servers
QUALITIES = (50, 60, 70, 75, 80, 85, 90, 95)


def rendered(path: Path, count: int) -> list[Any]:
    document = pdfium.PdfDocument(path)
    step = max(1, len(document) // count)
    numbers = range(0, len(document), step)[:count]
    return [
        document[n].render(scale=DPI / 72, rev_byteorder=True).to_numpy()[:, :, :3].copy() for n in numbers
    ]


def text_of(reader: PageReader, pixels: Any) -> str:
    lines = reader.find(pixels)
    return "\n".join(line.text for line in reader.read(pixels, lines, reader.script(pixels, lines)))


def distance(read: Sequence[str], true: Sequence[str]) -> float:
    edits = sum(Levenshtein.distance(a, b) for a, b in zip(read, true, strict=True))
    return edits / sum(map(len, true))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pdfs", nargs="*", type=Path, default=[SAMPLE])
    parser.add_argument("--pages", type=int, default=4, help="of each PDF, evenly chosen")
    options = parser.parse_args()
    pages = [page for path in options.pdfs for page in rendered(path, options.pages)]
    reader = PageReader()
    true = [text_of(reader, page) for page in pages]
    moved = distance([text_of(reader, page[1:, 1:].copy()) for page in pages], true)
    print(f"{len(pages)} pages, {sum(map(len, true))} characters; moved by a pixel: {moved:.4f}")
    rows = []
    for quality in QUALITIES:
        sent = [as_jpeg(page, quality) for page in pages]
        row = {
            "quality": quality,
            "kb_a_page": sum(map(len, sent)) / len(sent) / 1e3,
            "encode_ms": mean_ms(lambda page, quality=quality: as_jpeg(page, quality), pages),
            "distance": distance([text_of(reader, decode(jpeg).pixels) for jpeg in sent], true),
        }
        rows.append(row)
        print("  ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
    finish("sent_quality", pages=len(pages), moved=moved, rows=rows)


if __name__ == "__main__":
    main()

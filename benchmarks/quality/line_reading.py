"""Scores how lines are read: margins beside them, the second look, the second network, and which way up.

    python benchmarks/quality/line_reading.py [DATA] [--pages 9]

Receipts of DATA (PENSTOCK_DATA): lines are found once and read in several ways; recall of words, and CPU
seconds of reading. Korean pages of DATA in four positions each: how many are turned back, how many wrongly.
The last line is JSON.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import cv2
import numpy as np
import pypdfium2 as pdfium

from penstock.box import Pixels
from penstock.engines.ocr import reader as page_reader
from penstock.engines.ocr import recognise
from penstock.engines.ocr.orient import Orienter
from penstock.engines.ocr.reader import PageReader
from penstock.region import LineBox
from penstock_eval.benchmarks.pages import composed, word_scores

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, finish
from benchmarks.quality.score_all import receipt_text

DPI = 200
KOREAN = "korean_text/project-history.ko.pdf"
AS_IT_IS = recognise.MIN_WIDTH


@dataclass(frozen=True, slots=True, eq=False)
class Receipt:
    """A scan, where its lines are, and what it says."""

    pixels: Pixels
    lines: tuple[LineBox, ...]
    truth: str

    @property
    def cuts(self) -> list[Pixels]:
        return [recognise.cut(self.pixels, line) for line in self.lines]

    @property
    def widest(self) -> int:
        """Columns of the widest line at the network's height."""
        return max(recognise.at_height(cut).shape[1] for cut in self.cuts)


Way = Callable[[Receipt], Sequence[str]]


def receipts_of(data: Path, reader: PageReader) -> list[Receipt]:
    folder, found = data / "sroie_sample", []
    for boxes in sorted((folder / "box").glob("*.csv")):
        pixels = cv2.cvtColor(cv2.imread(str(folder / "img" / f"{boxes.stem}.jpg")), cv2.COLOR_BGR2RGB)
        picture = np.asarray(pixels, dtype=np.uint8)
        found.append(Receipt(picture, reader.find(picture), composed(receipt_text(boxes))))
    return found


def ways_to_read(reader: PageReader) -> dict[str, Way]:
    def padded(columns: Callable[[Receipt], int]) -> Way:
        def read(receipt: Receipt) -> list[str]:
            recognise.MIN_WIDTH = columns(receipt)
            try:
                return [one.text for one in reader.ocr.read_cuts(receipt.cuts)]
            finally:
                recognise.MIN_WIDTH = AS_IT_IS

        return read

    def whole(sure_alone: float) -> Way:
        def read(receipt: Receipt) -> list[str]:
            usual, page_reader.SURE_ALONE = page_reader.SURE_ALONE, sure_alone
            try:
                return [one.text for one in reader.read(receipt.pixels, receipt.lines, "unclear")]
            finally:
                page_reader.SURE_ALONE = usual

        return read

    return {
        "PP-OCR, padded to the widest line of the receipt": padded(lambda receipt: receipt.widest),
        "PP-OCR, not padded": padded(lambda receipt: 1),
        "PP-OCR, padded to 160 columns": padded(lambda receipt: 160),
        "PP-OCR, padded to 320 columns": padded(lambda receipt: 320),
        "160 columns, doubtful lines softened": whole(0.0),
        "the same, and letters of the second network": whole(page_reader.SURE_ALONE),
    }


def scores_of(receipts: Sequence[Receipt], read: Way) -> dict[str, float]:
    began = time.process_time()
    texts = [composed("\n".join(read(receipt))) for receipt in receipts]
    spent = time.process_time() - began
    recalls = [word_scores(one.truth, text)[0] for one, text in zip(receipts, texts, strict=True)]
    return {"word_recall": round(fmean(recalls), 4), "cpu_s": round(spent, 1)}


def turned(data: Path, count: int, orienter: Orienter) -> dict[str, int]:
    """Korean pages in four positions: how many of the turned ones are turned back, how many pages wrongly."""
    document = pdfium.PdfDocument(data / KOREAN)
    numbers = range(1, len(document))[:: -(-(len(document) - 1) // count)]  # the first is a title
    found = {"pages": len(numbers), "turned": 0, "turned_back": 0, "wrongly_turned": 0}
    for number in numbers:
        upright = document[number].render(scale=DPI / 72).to_numpy()[:, :, 2::-1]
        for quarters in range(4):
            seen = np.ascontiguousarray(np.rot90(upright, quarters))
            way = orienter.upright(seen)
            found["turned"] += quarters > 0
            found["turned_back"] += quarters > 0 and way == 90 * quarters
            found["wrongly_turned"] += way not in (0, 90 * quarters)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--pages", type=int, default=9, help="of Korean, in four positions each")
    options = parser.parse_args()
    absent = [name for name in ("sroie_sample", KOREAN) if not (options.data / name).exists()]
    if absent:
        print(f"Left out, because {options.data} lacks them: {', '.join(absent)}.")
    scores: dict[str, dict[str, float]] = {}
    way_up: dict[str, int] = {}
    if "sroie_sample" not in absent:
        reader = PageReader(("en",))
        receipts = receipts_of(options.data, reader)
        for name, read in ways_to_read(reader).items():
            scores[name] = scores_of(receipts, read)
            said = scores[name]
            print(f"{name}: {said['word_recall']:.4f} of words, {said['cpu_s']} CPU s", flush=True)
        reader.close()
    if KOREAN not in absent:
        orienter = Orienter(effort="balanced")
        way_up = turned(options.data, options.pages, orienter)
        orienter.close()
        print(
            f"{way_up['pages']} Korean pages in four positions: {way_up['turned_back']} of {way_up['turned']}"
            f" turned back, {way_up['wrongly_turned']} turned wrongly"
        )
    finish("line_reading", absent=absent, receipts=scores, korean_way_up=way_up)


if __name__ == "__main__":
    main()

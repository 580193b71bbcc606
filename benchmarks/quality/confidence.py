"""What a confidence is worth: whether pages and lines with a low one hold the errors. Fits the weights, too.

    python benchmarks/quality/confidence.py [DATA] [--pages 4] [--fit]

Pictures of DATA (PENSTOCK_DATA) are read by the built-in readers; every line is compared with the nearest
part of its page's truth. Weights are fitted on the tune half of each source (`--fit` prints them for
src/penstock/documents/confidence/calibration.py), and all figures are of the check half.

For each signal alone and for all together: the part of all character errors that the worst 20 % of the pages
hold, by how many of a page's characters are likely wrong by that signal; the area under that curve (0.5 by
chance), over all pages and within each source; and the expected calibration error over ten bins of lines.
`page length` knows nothing of errors, `errors themselves` all. Text that no line holds counts as errors, too.
The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

import cv2
import numpy as np
import pypdfium2 as pdfium
from numpy.typing import NDArray
from rapidfuzz import fuzz

from penstock.box import Pixels
from penstock.documents.confidence.calibration import (
    LINE_FEATURES,
    likely_right,
    likely_right_words,
    line_features,
    weighed,
)
from penstock.documents.confidence.comparison import distance, plain
from penstock.engines.ocr.reader import PageReader
from penstock.region import TextLine

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, finish
from benchmarks.quality.ground.sample import HALVES, Half, Sample, Truth, chosen
from benchmarks.quality.ground.scores import modern
from benchmarks.quality.ground.sources import listed
from benchmarks.quality.score_all import receipt_text

SOURCES = (
    "ehri_typewritten", "tapuscorpus_typewritten_fr", "degraded_korean", "rendered_korean",
    "rendered_multilang", "ocrd_gt_structure_text", "austrian_newspapers",
)  # fmt: skip
RECEIPTS = "sroie_sample"
DPI = 150  # of pages of PDFs: a scan's
MARGIN = 8  # letters around the part of the truth that is nearest to a line
COVERED = 0.8  # of what is read, as letters of the truth
ELSEWHERE, PLAIN_TO_SEE = 0.5, 0.93  # wrong letters of a line, and how surely it was read
WORST = 0.2  # of the pages
RIDGE, ROUNDS = 1.0, 30
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Read:
    """A line that was read, with how many of its letters are wrong."""

    line: TextLine
    letters: int
    errors: int
    words: tuple[tuple[int, int], ...] = ()  # letters and errors of each word of the line

    @property
    def is_left_out(self) -> bool:
        """Whether the truth leaves it out: letterheads, marks of libraries, code of which it has a part.

        All 9 of these lines on 59 pages were looked at.
        """
        return self.errors > ELSEWHERE * self.letters and self.line.confidence > PLAIN_TO_SEE


@dataclass(frozen=True, slots=True)
class Judged:
    """A page's lines. `missing` are letters of the truth that no line holds."""

    source: str
    half: Half
    lines: tuple[Read, ...]
    missing: int
    truth: int  # letters

    @property
    def is_covered(self) -> bool:
        """Whether the truth is all of the page: of some registers and title pages it is a few words."""
        return self.truth > COVERED * sum(line.letters for line in self.lines)

    @property
    def errors(self) -> int:
        return self.missing + sum(line.errors for line in self.lines)


def samples_of(data: Path, pages: int) -> Iterator[Sample]:
    for source in SOURCES:
        yield from chosen(listed(data / "devset", source), pages)
    yield from chosen(receipts(data / RECEIPTS), pages)


def receipts(folder: Path) -> Iterator[Sample]:
    for boxes in sorted((folder / "box").glob("*.csv")):
        picture = folder / "img" / f"{boxes.stem}.jpg"
        yield Sample(RECEIPTS, boxes.stem, picture, None, lambda boxes=boxes: Truth(text=receipt_text(boxes)))  # type: ignore[misc]


def picture(sample: Sample) -> Pixels:
    if sample.part is None:
        pixels = cv2.imread(str(sample.path))
        assert pixels is not None
        return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)
    page = pdfium.PdfDocument(sample.path)[sample.part]
    return np.ascontiguousarray(page.render(scale=DPI / 72).to_numpy()[:, :, 2::-1])


def text_of(truth: Truth) -> str:
    return plain(modern(truth.text or " ".join(e.text or e.html or e.latex for e in truth.elements)))


def read(samples: Iterable[Sample], work: Path) -> Iterator[tuple[Sample, list[TextLine]]]:
    """Yields what is read on each page; what was read before is not read again."""
    reader = PageReader(effort="balanced")
    for sample in samples:
        file = work / sample.source / f"{sample.key}.json"
        if not file.is_file():
            pixels = picture(sample)
            found = reader.find(pixels)
            lines = reader.read(pixels, found, reader.script(pixels, found))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps([asdict(line) for line in lines]), encoding="utf-8")
            print(f"  {sample.source} {sample.key}: {len(lines)} lines", flush=True)
        rows = json.loads(file.read_text(encoding="utf-8"))
        yield sample, [TextLine(**row) for row in rows if row["text"].strip()]
    reader.close()


def judged(sample: Sample, lines: Sequence[TextLine]) -> Judged:
    fold = str.casefold if sample.source == RECEIPTS else str  # its truth is in capitals
    truth = fold(text_of(sample.truth()))
    found = tuple(
        Read(line, len(said), errors_of(said, truth), words_of(line, said, truth, fold))
        for line in lines
        if (said := fold(plain(modern(line.text))))
    )
    found = tuple(one for one in found if not one.is_left_out)
    missing = max(0, len(truth) - sum(line.letters for line in found))
    return Judged(sample.source, sample.half, found, missing, len(truth))


def errors_of(said: str, truth: str) -> int:
    """Returns the edit distance to the part of the truth that is nearest."""
    return min(len(said), distance(said, nearest(said, truth), within=True))


def nearest(said: str, truth: str) -> str:
    place = fuzz.partial_ratio_alignment(said, truth)
    if place is None or len(said) > len(truth):
        return truth
    return truth[max(0, place.dest_start - MARGIN) : place.dest_end + MARGIN]


def words_of(
    line: TextLine, said: str, truth: str, fold: Callable[[str], str]
) -> tuple[tuple[int, int], ...]:
    """Returns letters and errors of each word, by the part of the truth that is nearest to its line."""
    near = nearest(said, truth)
    words = [fold(plain(modern(word))) for word in line.text.split()]
    return tuple((len(word), min(len(word), distance(word, near, within=True))) for word in words)


def fitted(lines: Sequence[tuple[Sequence[float], int, int, float]]) -> list[float]:
    """Returns weights by Newton's method. A line: features, right letters, letters, how much it counts."""
    features = np.array([row[0] for row in lines])
    right, letters, counts = (np.array([row[n] for row in lines], float) for n in (1, 2, 3))
    weights = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (counts * (right - letters * chance)) - RIDGE * weights
        spread = counts * letters * chance * (1 - chance)
        bend = (features.T * spread) @ features + RIDGE * np.eye(len(weights))
        weights += np.linalg.solve(bend, slope)
    return [round(float(weight), 4) for weight in weights]


def fit(pages: Sequence[Judged]) -> dict[str, list[float]]:
    """Fits each reader's weights; sources count alike."""
    totals: defaultdict[str, int] = defaultdict(int)
    for page in pages:
        totals[page.source] += sum(one.letters for one in page.lines)
    rows: defaultdict[str, list[tuple[Sequence[float], int, int, float]]] = defaultdict(list)
    scale = fmean(totals.values())
    for page in pages:
        for one in page.lines:
            row = (
                line_features(one.line),
                one.letters - one.errors,
                one.letters,
                scale / totals[page.source],
            )
            rows[one.line.reader].append(row)
    return {reader: fitted(own) for reader, own in rows.items()}


Signal = Callable[[TextLine], float]


def signals(weights: dict[str, list[float]]) -> dict[str, Signal]:
    def alone(name: str) -> Signal:
        place = LINE_FEATURES.index(name)
        return lambda line: weighed((1.0,), (line_features(line)[place],))

    def together(line: TextLine) -> float:
        return weighed(weights.get(line.reader, weights["ppocr"]), line_features(line))

    return {
        "mean": alone("mean"),
        "least": alone("least"),
        "agreement": lambda line: 1.0 - line_features(line)[LINE_FEATURES.index("disagreement")],
        "looked once": lambda line: 1.0 - line_features(line)[LINE_FEATURES.index("looked twice")],
        "together": together,
        "as shipped": likely_right,
    }


def of_pages(pages: Sequence[Judged], signal: Signal) -> list[tuple[float, int]]:
    """Returns how many characters of each page are likely wrong, and how many are."""
    return [
        (sum(one.letters * (1.0 - signal(one.line)) for one in page.lines), page.errors) for page in pages
    ]


def held(rows: Sequence[tuple[float, int]], share: float = WORST) -> float:
    """Returns the part of all errors that the worst pages hold, a page in part where it is cut."""
    return float(np.interp(share, *curve(rows)))


def curve(rows: Sequence[tuple[float, int]]) -> tuple[Floats, Floats]:
    errors = np.array([errors for _, errors in sorted(rows, key=lambda row: -row[0])], float)
    return np.linspace(0, 1, len(rows) + 1), np.concatenate([[0.0], errors.cumsum() / max(1.0, errors.sum())])


def area(rows: Sequence[tuple[float, int]]) -> float:
    pages, errors = curve(rows)
    return float(np.trapezoid(errors, pages))


def calibration_error(lines: Sequence[Read], signal: Signal) -> float:
    """Returns the mean distance of what a signal says and what is right, over bins with as many letters."""
    return calibrated((signal(one.line), one.letters, one.letters - one.errors) for one in lines)


def words_calibrated(lines: Sequence[Read]) -> dict[str, float]:
    """Returns how well words are known by their own confidence, and by that of their line.

    `found` is the part of the wrong letters that stands in the tenth of letters that is doubted most.
    """
    rows: dict[str, list[tuple[float, int, int]]] = {"own": [], "line's": []}
    for one in lines:
        own = likely_right_words(one.line)
        for sure, (letters, errors) in zip(own, one.words, strict=bool(own)):
            if letters:
                rows["own"].append((sure, letters, letters - errors))
                rows["line's"].append((likely_right(one.line), letters, letters - errors))
    found = {f"{name} calibration error": round(calibrated(own), 4) for name, own in rows.items()}
    found |= {f"{name} found": round(doubted(own), 4) for name, own in rows.items()}
    return {**found, "words": float(len(rows["own"]))}


def doubted(rows: Sequence[tuple[float, int, int]], share: float = 0.1) -> float:
    ranked = sorted(rows)
    letters = np.cumsum([0, *(row[1] for row in ranked)])
    errors = np.cumsum([0, *(row[1] - row[2] for row in ranked)])
    return float(np.interp(share * letters[-1], letters, errors) / max(1, errors[-1]))


def calibrated(pieces: Iterable[tuple[float, int, int]], bins: int = 10) -> float:
    rows = sorted(pieces)
    said, letters, right = (np.array(column, float) for column in zip(*rows, strict=True))
    place = np.minimum(bins - 1, (letters.cumsum() - letters / 2) / letters.sum() * bins).astype(int)
    apart = 0.0
    for number in range(bins):
        own = place == number
        if own.any():
            apart += abs(float((said[own] * letters[own]).sum() - right[own].sum()))
    return apart / float(letters.sum())


def table(pages: Sequence[Judged], found: dict[str, Signal]) -> tuple[list[str], dict[str, dict[str, float]]]:
    lines = [one for page in pages for one in page.lines]
    figures: dict[str, dict[str, float]] = {}
    text = [
        "| signal | errors in the worst 20 % of pages | area | within sources | calibration error |",
        "|---|---|---|---|---|",
    ]
    for name, signal in found.items():
        own = shares(pages, partial(of_pages, signal=signal)) | {"ece": calibration_error(lines, signal)}
        figures[name] = {key: round(value, 4) for key, value in own.items()}
        text.append(
            f"| {name} | {own['held']:.3f} | {own['area']:.3f} | {own['within']:.3f} | {own['ece']:.4f} |"
        )
    for name, rank in (("page length", by_length), ("errors themselves", by_errors)):
        own = shares(pages, rank)
        figures[name] = {key: round(value, 4) for key, value in own.items()}
        text.append(f"| {name} | {own['held']:.3f} | {own['area']:.3f} | {own['within']:.3f} | – |")
    return text, figures


def shares(
    pages: Sequence[Judged], rank: Callable[[Sequence[Judged]], list[tuple[float, int]]]
) -> dict[str, float]:
    sources = [[page for page in pages if page.source == name] for name in {page.source for page in pages}]
    rows = rank(pages)
    within = fmean(area(rank(own)) for own in sources if sum(page.errors for page in own))
    return {"held": held(rows), "area": area(rows), "within": within}


def by_length(pages: Sequence[Judged]) -> list[tuple[float, int]]:
    return [(float(sum(one.letters for one in page.lines)), page.errors) for page in pages]


def by_errors(pages: Sequence[Judged]) -> list[tuple[float, int]]:
    return [(float(page.errors), page.errors) for page in pages]


def _errors(pages: Sequence[Judged], source: str) -> int:
    return sum(page.errors for page in pages if page.source == source)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--pages", type=int, default=4, help="of each half of each source")
    parser.add_argument("--out", type=Path, default=Path("build/confidence"))
    parser.add_argument("--fit", action="store_true", help="print fitted weights")
    given = parser.parse_args()
    every = [judged(sample, lines) for sample, lines in read(samples_of(given.data, given.pages), given.out)]
    pages = [page for page in every if page.is_covered]
    if not pages:
        raise SystemExit(f"{given.data} holds none of these pages: name the folder of test data.")
    tune, check = ([page for page in pages if page.half == half] for half in HALVES)
    weights = fit(tune)
    if given.fit:
        for reader, own in weights.items():
            print(f'    "{reader}": {tuple(own)},')
    text, figures = table(check, signals(weights))
    hardest = max({page.source for page in check}, key=lambda name: _errors(check, name))
    rest_text, rest = table([page for page in check if page.source != hardest], signals(weights))
    print("\n".join([*text, "", f"Without {hardest}:", "", *rest_text]))
    for source in dict.fromkeys(page.source for page in check):
        own_pages = [page for page in check if page.source == source]
        own_lines = [one for page in own_pages for one in page.lines]
        wrong = sum(one.errors for one in own_lines) / max(1, sum(one.letters for one in own_lines))
        own_error = calibration_error(own_lines, likely_right)
        print(f"{source}: {len(own_pages)} pages, {wrong:.3f} wrong, calibration error {own_error:.4f}")
    words = words_calibrated([one for page in check for one in page.lines])
    print(words)
    finish(
        "confidence",
        words=words,
        pages=[len(tune), len(check)],
        signals=figures,
        weights=weights,
        without={hardest: rest},
    )


if __name__ == "__main__":
    main()

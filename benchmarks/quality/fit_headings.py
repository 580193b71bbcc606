"""Fits the weights by which lines of a text layer are told to be headings (documents/headings/score.py).

    python benchmarks/quality/fit_headings.py [DATA] [--layout model] [--out build/generalise]

DATA holds `devset` (PENSTOCK_DATA). A logistic regression over all pages of the tune half of the sources
whose headings are known; each source counts alike, and a part of each heading counts as if its document set
headings with one sign fewer. It prints the weights, how well they tell these lines, and how well they tell
those of a source when they are fitted on the others. The last line is JSON.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, finish
from benchmarks.quality.corrections import laid_out
from benchmarks.quality.ground.markdown_truth import BORN_DIGITAL
from benchmarks.quality.ground.reading import page_file
from benchmarks.quality.ground.sample import Sample
from benchmarks.quality.ground.scores import ALIKE, modern
from benchmarks.quality.ground.sources import listed
from penstock.documents.headings.by_type import CHAPTER_NUMBER, weighed_runs
from penstock.documents.headings.score import TextRun, may_head
from penstock.documents.reading.corrections import correct_headings, corrected
from penstock.documents.reading.page_reading import Engines, PageReading
from penstock.documents.reading.regions import with_loose_words
from penstock.documents.reading.steps import STEPS
from penstock.documents.reading.strays import UNLINED
from penstock.page import Page
from penstock_eval.metrics.invented import letters_of

RIDGE = 1.0
PLAINER = 0.3  # of a heading's count, for what it would be with fewer signs
PART, MIN_PART = 0.35, 4  # of a heading's letters, and letters: a line of it, where a region was cut
WITHIN = 85.0  # of 100: below it the page's truth does not have the line
MARGIN = 0.07  # of the page's height: what is repeated there is no heading

Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A run of lines: what is known of it, and whether it is a heading."""

    source: str
    page: str
    text: str
    features: dict[str, float]
    is_heading: bool


def weighed(sample: Sample, page: Page) -> Iterator[Weighed]:
    """Yields the runs of a page whose truth is known."""
    truth = sample.truth()
    wanted = [letters_of(modern(text)) for text in truth.headings or ()]
    whole = letters_of(modern(" ".join(element.text for element in truth.elements)))
    reading = PageReading(page, without=frozenset({correct_headings.__name__}))
    for step, corrections in STEPS:
        reading = corrected(step(reading, cast(Engines, None)), corrections)  # a layer needs no engine
        if step is with_loose_words:
            break
    pairs = [(draft.region, draft.words) for draft in reading.drafts]
    runs, score = weighed_runs(pairs, UNLINED, page.width, page.height, page.pixels)
    for run in (run for own in runs for run in own if may_head(run)):
        is_heading = _is_heading(run, wanted, page.height)
        if is_heading is None or (not is_heading and not _is_known(run, whole, page.height)):
            continue
        yield Weighed(sample.source, sample.key, run.text, score.features(run), is_heading)


def _is_heading(run: TextRun, wanted: Sequence[str], height: float) -> bool | None:
    """Whether a run is one of the headings or a line of it; None where it is not known."""
    said = letters_of(modern(run.text))
    if run.box[3] < MARGIN * height or run.box[1] > (1 - MARGIN) * height:
        return any(fuzz.ratio(said, text) >= ALIKE for text in wanted) and run.label == "paragraph_title"
    if CHAPTER_NUMBER.fullmatch(run.text.strip()):
        return True if any(text.startswith(said) for text in wanted) else None
    parts = (text for text in wanted if len(said) >= max(MIN_PART, PART * len(text)))
    return any(fuzz.ratio(said, text) >= ALIKE for text in wanted) or any(said in text for text in parts)


def _is_known(run: TextRun, whole: str, height: float) -> bool:
    """Whether the truth has the line, or it stands in a margin, which the truth leaves out."""
    if run.box[1] < 0.1 * height or run.box[3] > 0.9 * height:
        return True
    return fuzz.partial_ratio(letters_of(modern(run.text)), whole) >= WITHIN


def plainer(features: dict[str, float]) -> list[dict[str, float]]:
    """Returns a heading as documents would set it that use one font for all, or size alone."""
    found = []
    if features["other font"] and (features["bold"] or features["larger"]):
        found.append(features | {"other font": 0.0})
    if features["bold"] and features["larger"]:
        found.append(features | {"other font": 0.0, "bold": 0.0, "heavier": 0.0})
    return found


def fitted(rows: Sequence[Weighed]) -> Rows:
    """Returns the weights and, last, the bias."""
    sources = Counter(row.source for row in rows)
    shown: list[tuple[Weighed, dict[str, float], float]] = []
    for row in rows:
        alone = len(rows) / sources[row.source]
        others = plainer(row.features) if row.is_heading else []
        shown.append((row, row.features, alone * (1 - PLAINER * bool(others))))
        shown += [(row, other, alone * PLAINER / len(others)) for other in others]
    features = np.array([[*known.values(), 1.0] for _, known, _ in shown])
    heads = np.array([float(row.is_heading) for row, _, _ in shown])
    counts = np.array([count for *_, count in shown]) / len(sources)
    bare = np.r_[np.ones(features.shape[1] - 1), 0.0]

    def loss(weights: Rows) -> tuple[float, Rows]:
        said = features @ weights
        lost = np.sum(counts * (np.logaddexp(0, said) - heads * said)) + RIDGE * np.sum(bare * weights**2) / 2
        slope = features.T @ (counts * (1 / (1 + np.exp(-said)) - heads)) + RIDGE * bare * weights
        return float(lost), slope

    return cast(Rows, minimize(loss, np.zeros(len(bare)), jac=True, method="L-BFGS-B").x)


def told(weights: Rows, row: Weighed) -> float:
    return float(np.dot([*row.features.values(), 1.0], weights))


def scores(weights: Rows, rows: Sequence[Weighed]) -> dict[str, float]:
    given = [row for row in rows if told(weights, row) > 0]
    right, true = sum(row.is_heading for row in given), sum(row.is_heading for row in rows)
    return {
        "precision": round(right / max(1, len(given)), 3),
        "F1": round(2 * right / max(1, len(given) + true), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--layout", default="model")
    parser.add_argument("--out", type=Path, default=Path("build/generalise"))
    parser.add_argument("--errors", action="store_true", help="print the lines that the weights tell wrong")
    given = parser.parse_args()
    samples = [
        s for source in BORN_DIGITAL for s in listed(given.data / "devset", source) if s.half == "tune"
    ]
    files = {page_file(sample, given.out / given.layout): sample for sample in samples}
    pages = laid_out([str(file) for file in files], given.layout, len(files))
    rows = [row for page in pages for row in weighed(files[Path(page.uri).resolve()], page)]
    weights = fitted(rows)
    for name, weight in zip([*rows[0].features, "bias"], weights, strict=True):
        print(f'    "{name}": {weight:.2f},')
    by_source = {source: _of_source(source, rows, weights) for source in BORN_DIGITAL}
    for source, found in by_source.items():
        print(source, found)
    for row in rows if given.errors else ():
        if (told(weights, row) > 0) != row.is_heading:
            print(
                f"{'missed' if row.is_heading else 'false'} {told(weights, row):+.1f} {row.page} {row.text!r}"
            )
    finish("fit_headings", lines=len(rows), all=scores(weights, rows), sources=by_source)


def _of_source(source: str, rows: Sequence[Weighed], weights: Rows) -> dict[str, object]:
    own = [row for row in rows if row.source == source]
    others = [row for row in rows if row.source != source]
    return {
        "lines": len(own),
        "headings": sum(row.is_heading for row in own),
        "fitted on all": scores(weights, own),
        "fitted on the others": scores(fitted(others), own),
    }


if __name__ == "__main__":
    main()

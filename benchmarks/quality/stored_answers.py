"""What the confidence of a served model's answers is worth, on answers that others stored with their truth.

    python benchmarks/quality/stored_answers.py [DATA] [--fit]

Of DATA (PENSTOCK_DATA): the regions' texts and the tables that OmniDocBench ships with its demo pages, each
read once more from its picture as `--second-reader builtin` does; and the pages of DP-Bench as docling read
them, with markitdown as the second reader, since their pictures are not there. None of these was stored with
the probabilities of its tokens, so these are not scored, nor are answers that were cut off, repeated or
refused. Weights are fitted on the tune half of the pages (`--fit` prints them for
src/penstock/documents/confidence/calibration.py), figures are of the check half, with the columns of
confidence.py. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import cv2
import numpy as np
from rapidfuzz.distance import Levenshtein

from penstock.documents.confidence.answers import answer_confidence, answer_signals
from penstock.documents.confidence.calibration import ANSWERS, weighed
from penstock.documents.confidence.comparison import plain
from penstock.region import Signals
from penstock.workers.second_reader import SecondReader

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, finish
from benchmarks.quality.confidence import area, fitted, held
from benchmarks.quality.ground.sample import HALVES, half_of

DEMO, DPBENCH = "omnidocbench_demo", "dpbench"
MIN_BOX = 8  # pixels of a region's side


@dataclass(frozen=True, slots=True)
class Stored:
    """One answer with its truth, and what reads the same picture: its file, or the text of another tool."""

    source: str
    page: str
    said: str
    truth: str
    picture: bytes = b""
    other: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    source: str
    page: str
    signals: Signals
    letters: int
    errors: int


def omnidocbench(folder: Path) -> Iterator[Stored]:
    for kind, key in (("text_ocr", "text"), ("table", "html")):
        found = json.loads((folder / "recognition" / f"OmniDocBench_demo_{kind}.json").read_text("utf-8"))
        for page in found:
            name = page["page_info"]["image_path"]
            pixels = cv2.imread(str(folder / "images" / name))
            for one in page["layout_dets"]:
                if "pred" in one and one.get(key):
                    picture = cut(pixels, one["poly"])
                    yield Stored(f"OmniDocBench {kind}", name, one["pred"], one[key], picture)


def cut(pixels: np.ndarray, outline: Sequence[float]) -> bytes:
    x0, y0, x1, y1 = (round(max(0.0, v)) for v in (outline[0], outline[1], outline[4], outline[5]))
    piece = pixels[y0 : max(y1, y0 + MIN_BOX), x0 : max(x1, x0 + MIN_BOX)]
    return bytes(cv2.imencode(".png", piece)[1])


def dpbench(folder: Path) -> Iterator[Stored]:
    for file in sorted((folder / "ground-truth" / "markdown").glob("*.md")):
        tools = [folder / "prediction" / name / "markdown" / file.name for name in ("docling", "markitdown")]
        if all(tool.is_file() for tool in tools):
            said, other = (tool.read_text("utf-8") for tool in tools)
            yield Stored("DP-Bench", file.stem, said, file.read_text("utf-8"), other=other or " ")


def stored(data: Path) -> Iterator[Stored]:
    for folder, answers in ((DEMO, omnidocbench), (DPBENCH, dpbench)):
        if (data / folder).is_dir():
            yield from answers(data / folder)


def judged(answers: Sequence[Stored]) -> Iterator[Judged]:
    reader = SecondReader("builtin")
    for one in answers:
        [other] = reader.read([one.picture]) if one.picture else [one.other]
        said, truth = plain(one.said), plain(one.truth)
        if said and truth:
            errors = min(len(said), Levenshtein.distance(said, truth))
            yield Judged(one.source, one.page, answer_signals(one.said, "stop", other), len(said), errors)
    reader.close()


def features(signals: Signals) -> list[float]:
    """Returns what these answers have of the features of `ANSWERS`: one, and what the readers differ by."""
    apart = (signals.agreement, signals.digits)  # with the letters known, their script had no weight
    return [1.0, *(0.0 if value is None else 1.0 - value for value in apart)]


def fit(rows: Sequence[Judged]) -> list[float]:
    """Returns the weights of `features`; sources count alike."""
    totals: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        totals[row.source] += row.letters
    scale = fmean(totals.values())
    return fitted(
        [(features(r.signals), r.letters - r.errors, r.letters, scale / totals[r.source]) for r in rows]
    )


Signal = Callable[[Signals], float]


def signals_of(weights: Sequence[float]) -> dict[str, Signal]:
    def alone(name: str) -> Signal:
        def value(signals: Signals) -> float:
            found = getattr(signals, name)
            return 1.0 if found is None else float(found)

        return value

    return {
        "agreement": alone("agreement"), "numbers": alone("digits"), "script": alone("script"),
        "together": lambda signals: weighed(weights, features(signals)),
        "as shipped": lambda signals: answer_confidence(signals) or 0.0,
    }  # fmt: skip


def of_pages(rows: Iterable[Judged], signal: Signal) -> list[tuple[float, int]]:
    pages: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        pages[row.source, row.page][0] += row.letters * (1.0 - signal(row.signals))
        pages[row.source, row.page][1] += row.errors
    return [(wrong, int(errors)) for wrong, errors in pages.values()]


def calibration_error(rows: Sequence[Judged], signal: Signal, bins: int = 10) -> float:
    said = np.array([signal(row.signals) for row in rows])
    letters = np.array([row.letters for row in rows], float)
    right = np.array([row.letters - row.errors for row in rows], float)
    order = np.argsort(said, kind="stable")
    said, letters, right = said[order], letters[order], right[order]
    place = np.minimum(bins - 1, (letters.cumsum() - letters / 2) / letters.sum() * bins).astype(int)
    apart = [abs((said * letters)[place == n].sum() - right[place == n].sum()) for n in range(bins)]
    return float(sum(apart) / letters.sum())


def figures(rows: Sequence[Judged], signal: Signal) -> dict[str, float]:
    pages = of_pages(rows, signal)
    found = {"held": held(pages), "area": area(pages), "ece": calibration_error(rows, signal)}
    return {name: round(value, 4) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--fit", action="store_true", help="print fitted weights")
    given = parser.parse_args()
    rows = list(judged(list(stored(given.data))))
    if not rows:
        raise SystemExit(f"{given.data} holds none of these answers: name the folder of test data.")
    tune, check = ([row for row in rows if half_of(row.page) == half] for half in HALVES)
    weights = fit(tune)
    if given.fit:
        one, *apart = weights
        print((*ANSWERS[:3], round(one - ANSWERS[0], 4), *(round(value, 4) for value in apart), *ANSWERS[6:]))
    found: dict[str, dict[str, dict[str, float]]] = {}
    for source in ("all", *dict.fromkeys(row.source for row in check)):
        own = [row for row in check if source in ("all", row.source)]
        found[source] = {name: figures(own, signal) for name, signal in signals_of(weights).items()}
        wrong = sum(row.errors for row in own) / sum(row.letters for row in own)
        print(f"\n{source}: {len({row.page for row in own})} pages, {len(own)} answers, {wrong:.3f} wrong\n")
        print("| signal | errors in the worst 20 % of pages | area | calibration error |\n|---|---|---|---|")
        for name, row in found[source].items():
            print(f"| {name} | {row['held']:.3f} | {row['area']:.3f} | {row['ece']:.4f} |")
    finish("stored_answers", answers=[len(tune), len(check)], weights=weights, check=found)


if __name__ == "__main__":
    main()

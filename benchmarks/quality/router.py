"""What `--recipe auto` saves: which pages it sends to a server, and what of all errors is on them.

    python benchmarks/quality/router.py [DATA] [--pages 2] [--fit]

By pages with a truth below DATA (PENSTOCK_DATA). Weights of the causes of doubt are fitted on the tune half
of the sources of `devset` (`--fit` prints them for src/penstock/documents/confidence/page_doubts.py); figures
are of the check half. How much of a page was read wrong is the mean of what is known of it: edit distance of
its text and of its formulas, 1 less TEDS of its tables.

1. With a server that reads without errors: the part of all errors on the pages that are sent. `by chance`
   sends as many pages at random, `by truth` the worst.
2. With readers that are here: the 18 demo pages of OmniDocBench read with `--effort fast`, those in doubt
   again with `balanced`; quality is 1 less what is wrong. `stored` are the answers that OmniDocBench ships
   with these pages, of a model without a name.

The last line is JSON.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean

import cv2
import numpy as np
import pypdfium2 as pdfium
from scipy.optimize import nnls

import penstock
from penstock.box import Pixels
from penstock.documents.confidence.page_doubts import WEIGHTS, PageDoubts, doubts_of
from penstock.engines.image.handwriting import Handwriting
from penstock.page import Page
from penstock_eval.benchmarks.omnidocbench import page_values
from penstock_eval.omnidocbench.page import score_page
from penstock_eval.omnidocbench.protocols import V1_5
from penstock_eval.omnidocbench.truth import TruePage
from penstock_eval.omnidocbench.truth import read_pages as true_pages

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, finish
from benchmarks.quality.confidence import area, held
from benchmarks.quality.ground.reading import page_file, read_pages
from benchmarks.quality.ground.sample import HALVES, Half, chosen
from benchmarks.quality.ground.scores import score
from benchmarks.quality.ground.sources import listed

SOURCES = (
    "docbank_papers", "pdf_parse_bench", "jose_papers", "latexml_math", "cremma_handwriting_fr",
    "ehri_typewritten", "degraded_korean", "rendered_multilang", "rendered_korean",
    "ocrd_gt_structure_text", "tapuscorpus_typewritten_fr",
)  # fmt: skip
DEMO = "omnidocbench_demo"
EFFORTS = ("fast", "balanced")
GUESS, PULL = (5.0, 0.2, 0.3, 0.2, 0.8), 0.05  # weights before any page was seen, and how much they count
ACCEPTED = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 1.0)


@dataclass(frozen=True, slots=True)
class Judged:
    """A page's doubts, and what of it was read wrong."""

    source: str
    half: Half
    doubts: PageDoubts
    wrong: float


@dataclass(frozen=True, slots=True)
class Both:
    """A page of the demo: doubts of its quick reading, and the quality of both readings and of the answer."""

    doubts: PageDoubts
    quick: float
    careful: float
    stored: float


@cache
def handwriting() -> Handwriting:
    return Handwriting()


def looked_at(page: Page) -> PageDoubts:
    assert page.pixels is not None
    return doubts_of(page, handwriting().likelihood(page.pixels))


def with_picture(page: Page, file: Path) -> Page:
    pixels = picture(file)
    if pixels.shape[:2] != (page.height, page.width):
        pixels = np.asarray(cv2.resize(pixels, (page.width, page.height)), np.uint8)
    return replace(page, pixels=pixels)


def picture(file: Path) -> Pixels:
    if file.suffix == ".pdf":
        return np.ascontiguousarray(pdfium.PdfDocument(file)[0].render(scale=2).to_numpy()[:, :, 2::-1])
    pixels = cv2.imread(str(file))
    assert pixels is not None
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)


def judged(data: Path, pages: int, work: Path) -> Iterator[Judged]:
    samples = [sample for name in SOURCES for sample in chosen(listed(data / "devset", name), pages)]
    found = read_pages(samples, work, {})
    for sample in samples:
        file = page_file(sample, work)
        page, values = found.get(file), score(sample, found.get(file)).values
        parts = {
            "text": values.get("text"), "formulas": values.get("formulas"),
            "tables": 1.0 - values["tables"] if "tables" in values else None,
            "letters": 1.0 - values["letters"] if "letters" in values else None,
        }  # fmt: skip
        known = [value for value in parts.values() if value is not None]
        if page is not None and known and not page.rotation:
            doubts = looked_at(with_picture(page, file))
            yield Judged(sample.source, sample.half, doubts, fmean(known))


def typed(doubts: PageDoubts) -> PageDoubts:
    """Returns the doubts of a page that nobody looked at for handwriting."""
    return replace(doubts, parts=(*doubts.parts[:-1], 0.0))


def fitted(pages: Sequence[Judged]) -> dict[str, float]:
    """Returns weights of the causes, none below zero; sources count alike. Few pages move a weight little."""
    counts = Counter(page.source for page in pages)
    share = np.sqrt([1.0 / counts[page.source] for page in pages])
    causes = np.array([page.doubts.parts for page in pages]) * share[:, None]
    wrong = np.array([page.wrong for page in pages]) * share
    guess = np.array(GUESS)
    pulled = np.sqrt(PULL) * np.eye(len(guess)) / guess
    weights, _ = nnls(
        np.vstack([causes, pulled]), np.concatenate([wrong, np.full(len(guess), np.sqrt(PULL))])
    )
    return dict(zip(WEIGHTS, (round(float(weight), 3) for weight in weights), strict=True))


def ranking(pages: Sequence[Judged]) -> dict[str, float]:
    """Returns what the estimate is worth: rows are pages, errors are thousandths of a page."""
    rows = [(page.doubts.likely_wrong, round(1000 * page.wrong)) for page in pages]
    said, true = zip(*((page.doubts.likely_wrong, page.wrong) for page in pages), strict=True)
    return {
        "pages": len(pages), "area": round(area(rows), 3), "held by the worst 20 %": round(held(rows), 3),
        "mean said": round(fmean(said), 3), "mean true": round(fmean(true), 3),
        "correlation": round(float(np.corrcoef(said, true)[0, 1]), 3),
    }  # fmt: skip


def both(data: Path, work: Path) -> Iterator[Both]:
    folder = data / DEMO
    quick, careful = (read_demo(folder, work / f"omnidocbench-{effort}", effort) for effort in EFFORTS)
    for truth in true_pages(folder / "OmniDocBench_demo.json"):
        name = Path(truth.image).name
        answer = (folder / "predictions_end2end" / f"{truth.stem}.md").read_text(encoding="utf-8")
        doubts = looked_at(with_picture(quick[name], folder / "images" / name))
        texts = (quick[name].markdown, careful[name].markdown, answer)
        yield Both(doubts, *(quality(truth, text) for text in texts))


def read_demo(folder: Path, out: Path, effort: str) -> dict[str, Page]:
    for _ in penstock.parse(str(folder / "images"), out=out, effort=effort):
        pass
    return {Path(page.uri).name: page for page in penstock.read(out)}


def quality(truth: TruePage, markdown: str) -> float:
    values = page_values(score_page(truth, markdown, V1_5, table_deadline_s=20.0))
    found = [1.0 - values[name] for name in ("text_edit", "formula_edit") if name in values]
    return fmean([*found, *([values["table_teds"]] if "table_teds" in values else [])])


def mixed(pages: Sequence[Both], again: Sequence[bool]) -> float:
    return fmean(page.careful if one else page.quick for page, one in zip(pages, again, strict=True))


def by_effort(pages: Sequence[Both]) -> Iterator[dict[str, float]]:
    """Yields for each threshold what reading the doubtful pages again with more effort brings."""
    least, most = fmean(page.quick for page in pages), fmean(page.careful for page in pages)
    gains = sorted((page.careful - page.quick for page in pages), reverse=True)
    for accepted in ACCEPTED:
        again = [page.doubts.likely_wrong > accepted for page in pages]
        share = sum(again) / len(pages)
        yield {
            "accepted": accepted, "pages again": share, "quality": mixed(pages, again),
            "by chance": least + share * (most - least),
            "by truth": least + sum(gains[: sum(again)]) / len(pages),
        }  # fmt: skip


def by_perfect_server(pages: Sequence[Judged]) -> Iterator[dict[str, float]]:
    """Yields for each threshold what of all errors is on the pages that are sent."""
    every = sum(page.wrong for page in pages)
    worst = sorted((page.wrong for page in pages), reverse=True)
    for accepted in ACCEPTED:
        sent = [page.wrong for page in pages if page.doubts.likely_wrong > accepted]
        yield {
            "accepted": accepted, "pages sent": len(sent) / len(pages), "errors sent": sum(sent) / every,
            "by chance": len(sent) / len(pages), "by truth": sum(worst[: len(sent)]) / every,
        }  # fmt: skip


def table(rows: Sequence[Mapping[str, float]]) -> list[str]:
    lines = [f"| {' | '.join(rows[0])} |", "|---" * len(rows[0]) + "|"]
    return [*lines, *(f"| {' | '.join(f'{value:.3g}' for value in row.values())} |" for row in rows)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--pages", type=int, default=2, help="of each half of each source")
    parser.add_argument("--out", type=Path, default=Path("build/router"))
    parser.add_argument("--fit", action="store_true", help="print fitted weights")
    given = parser.parse_args()
    pages = list(judged(given.data, given.pages, given.out / "devset"))
    tune, check = ([page for page in pages if page.half == half] for half in HALVES)
    if given.fit:
        print(fitted(tune))
        for page in pages:
            print(
                page.source, page.half, [round(part, 3) for part in page.doubts.parts], round(page.wrong, 3)
            )
    found: dict[str, dict[str, float]] = {
        half: ranking(own) for half, own in zip(HALVES, (tune, check), strict=True)
    }
    for half, figures in found.items():
        print(half, figures)
    unseen = [replace(page, doubts=typed(page.doubts)) for page in check]
    found["check, handwriting not looked for"] = ranking(unseen)
    demo, sent = list(both(given.data, given.out)), list(by_perfect_server(check))
    again = list(by_effort(demo))
    means = {
        name: round(fmean(getattr(page, name) for page in demo), 4) for name in ("quick", "careful", "stored")
    }
    print("\n".join([*table(sent), "", str(means), *table(again)]))
    finish(
        "router", ranking=found, weights=fitted(tune), sent=rounded(sent), demo=means, again=rounded(again)
    )


def rounded(rows: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    return [{name: round(value, 4) for name, value in row.items()} for row in rows]


if __name__ == "__main__":
    main()

"""How the built-in recipe reads pages that no rule was chosen by, beside those that rules were chosen by.

    python benchmarks/quality/generalise.py [DATA] [--pages 4] [--source NAME ...] [--half check]
                                            [--tables]
                                            [--layout model] [--effort balanced]

DATA holds `devset` (PENSTOCK_DATA). Each source is cut in two by document: rules are chosen on the tune half
and believed on the check half. Each source counts alike, however many pages it has. `--pages` are of each
half of each source, the same ones every time: a second run of a work folder only scores. `--tables` leaves
out the pages whose truth has no table. Intervals are 95 %
bootstrap intervals over the pages of each source. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA
from benchmarks.quality.ground.reading import cpu_s_a_page, page_file, read_pages
from benchmarks.quality.ground.sample import HALVES, Half, Sample, chosen
from benchmarks.quality.ground.scores import SCORES, Scored, mean_score, score, source_score
from benchmarks.quality.ground.sources import SOURCES, listed

RESAMPLES = 300
ENDS = (0.025, 0.975)
SEED = 20261118


@dataclass(frozen=True, slots=True)
class Column:
    """One half's pages by source."""

    half: Half
    pages: dict[str, list[Scored]]

    def source(self, name: str, source: str) -> float | None:
        return source_score(name, self.pages.get(source, []))

    def mean(self, name: str) -> float | None:
        return mean_score(name, list(self.pages.values()))

    def sources_with(self, name: str) -> int:
        return sum(self.source(name, source) is not None for source in self.pages)

    def interval(self, name: str) -> tuple[float, float]:
        """Resamples the pages within each source."""
        generator = np.random.default_rng(SEED)
        means: list[float] = []
        for _ in range(RESAMPLES):
            drawn = [
                [own[i] for i in generator.integers(len(own), size=len(own))] for own in self.pages.values()
            ]
            if (mean := mean_score(name, drawn)) is not None:
                means.append(mean)
        low, high = np.quantile(means or [np.nan], ENDS).tolist()
        return low, high


def read_and_score(given: argparse.Namespace, work: Path) -> tuple[Column, Column]:
    devset = given.data / "devset"
    pages = [page for source in given.source for page in chosen(_listed(devset, source, given), given.pages)]
    samples = [page for page in pages if given.half in ("both", page.half)]
    if not samples:
        raise SystemExit(
            f"{given.data / 'devset'} holds no pages of these sources: name the folder of test data."
        )
    options = {"layout": given.layout, "effort": given.effort}
    found = read_pages(samples, work, options)
    scored = [score(sample, found.get(page_file(sample, work))) for sample in samples]
    tune, check = (_column(half, scored) for half in HALVES)
    return tune, check


def _listed(devset: Path, source: str, given: argparse.Namespace) -> list[Sample]:
    found = listed(devset, source)
    return [page for page in found if any(e.html for e in page.truth().elements)] if given.tables else found


def _column(half: Half, scored: Sequence[Scored]) -> Column:
    pages: dict[str, list[Scored]] = {}
    for each in scored:
        if each.sample.half == half:
            pages.setdefault(each.sample.source, []).append(each)
    return Column(half, pages)


def table(tune: Column, check: Column) -> list[str]:
    """Returns the means over sources as Markdown."""
    lines = ["| score | sources | tune | check | interval | distance |", "|---|---|---|---|---|---|"]
    for name in SCORES:
        first, second = tune.mean(name), check.mean(name)
        if first is None and second is None:
            continue
        low, high = check.interval(name)
        apart = "–" if first is None or second is None else f"{second - first:+.3f}"
        sources = f"{tune.sources_with(name)}, {check.sources_with(name)}"
        interval = "–" if second is None else f"{low:.3f} to {high:.3f}"
        lines.append(f"| {name} | {sources} | {_number(first)} | {_number(second)} | {interval} | {apart} |")
    return lines


def source_table(tune: Column, check: Column) -> list[str]:
    """Returns each source's scores, tune / check."""
    lines = ["| source | pages | scores: tune / check |", "|---|---|---|"]
    for source in dict.fromkeys((*tune.pages, *check.pages)):
        pages = f"{len(tune.pages.get(source, []))}, {len(check.pages.get(source, []))}"
        found = [(name, tune.source(name, source), check.source(name, source)) for name in SCORES]
        words = [
            f"{name} {_number(a)} / {_number(b)}" for name, a, b in found if a is not None or b is not None
        ]
        lines.append(f"| {source} | {pages} | {', '.join(words)} |")
    return lines


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def figures(column: Column) -> dict[str, object]:
    return {
        "pages": sum(map(len, column.pages.values())),
        "means": {name: round(mean, 4) for name in SCORES if (mean := column.mean(name)) is not None},
        "sources": {
            source: {n: round(v, 4) for n in SCORES if (v := column.source(n, source)) is not None}
            for source in column.pages
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--layout", default="model")
    parser.add_argument("--effort", default="balanced")
    parser.add_argument("--source", nargs="*", default=list(SOURCES), choices=list(SOURCES), metavar="SOURCE")
    parser.add_argument("--half", choices=("both", *HALVES), default="both")
    parser.add_argument("--pages", type=int, default=4, help="of each half of each source")
    parser.add_argument("--tables", action="store_true", help="only pages whose truth has a table")
    parser.add_argument("--out", type=Path, default=Path("build/generalise"))
    given = parser.parse_args()
    work = given.out / f"{given.layout}-{given.effort}"
    tune, check = read_and_score(given, work)
    cpu = cpu_s_a_page(work)
    print("\n".join([*source_table(tune, check), "", *table(tune, check)]))
    print(", ".join(f"{kind}: {seconds} CPU s a page" for kind, seconds in cpu.items()))
    result = {"benchmark": "generalise", "layout": given.layout, "effort": given.effort, "cpu_s_page": cpu}
    print(json.dumps({**result, **{column.half: figures(column) for column in (tune, check)}}))


if __name__ == "__main__":
    main()

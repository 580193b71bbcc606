"""Measures born-digital pages: Penstock against the bare layout model, and the rules that need no model.

    python benchmarks/cpu/bench_born_digital.py [--pages 120] [--rules-pages 600] [--repeats 3]

Bound: at least 85 % of the rate at which the layout model alone, on all cores, can look at the same
pages once rendered: the model as its package has it. Ours is rewritten to run twice as fast, and
the share of that rate is told beside. `--layout rules` is reported in pages a second. Needs the built-in
models.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pypdfium2 as pdfium

import penstock
from penstock.engines.layout import cdla
from penstock.engines.layout.cdla import CdlaLayout
from penstock.engines.weights import registry
from penstock.processes.resources import cores

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import SAMPLE, finish, spread, timed, write_long_pdf


def as_packaged(count: int) -> float:
    """The same with the model's file as it comes."""
    ours = cdla.network
    cdla.network = lambda: registry.path("layout-cdla")  # type: ignore[return-value]  # a Network takes a file too
    try:
        return bare_layout(count)
    finally:
        cdla.network = ours


def bare_layout(count: int) -> float:
    """Pages a second of the model alone: one session, a thread a core, pictures in memory."""
    document = pdfium.PdfDocument(SAMPLE)
    pictures = [document[n].render(scale=200 / 72).to_numpy()[:, :, :3] for n in (0, 1, 2)]
    engine = CdlaLayout(threads=1)
    engine.detect(pictures[0])
    with ThreadPoolExecutor(cores()) as pool:
        seconds, _ = timed(lambda: list(pool.map(engine.detect, [pictures[n % 3] for n in range(count)])))
    engine.close()
    return count / float(seconds)


def ours(path: Path, count: int, layout: str) -> float:
    """Pages a second from the first page to the last, opening of weights included."""
    with tempfile.TemporaryDirectory() as out:
        seconds, pages = timed(lambda: list(penstock.parse(path, out=Path(out) / "out", layout=layout)))
    assert len(pages) == count and not any(page.failure for page in pages)
    return count / float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--rules-pages", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    shares, of_ours, rules = [], [], []
    with tempfile.TemporaryDirectory() as room:
        pdf = write_long_pdf(Path(room) / "model.pdf", options.pages)
        long_pdf = write_long_pdf(Path(room) / "rules.pdf", options.rules_pages)
        for number in range(options.repeats):
            packaged, bare = as_packaged(options.pages), bare_layout(options.pages)
            whole = ours(pdf, options.pages, "model")
            shares.append(whole / packaged)
            of_ours.append(whole / bare)
            rules.append(ours(long_pdf, options.rules_pages, "rules"))
            print(
                f"run {number + 1}: layout model as packaged {packaged:.2f} pages/s, rewritten {bare:.2f},"
                f" penstock {whole:.2f} ({whole / packaged:.0%} and {whole / bare:.0%});"
                f" rules {rules[-1]:.1f} pages/s"
            )
    finish(
        "born_digital",
        share_of_packaged_layout_rate=spread(shares),
        share_of_our_layout_rate=spread(of_ours),
        rules_pages_per_s=spread(rules),
    )


if __name__ == "__main__":
    main()

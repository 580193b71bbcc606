"""Measures whether chunks and pass 2 help search: recall by words of the search tests' fixed questions.

    python benchmarks/cpu/bench_enriched_search.py [OUT]

OUT is a run over the Korean test data (korean_pdf and korean_text of PENSTOCK_DATA) and the sample; without
it they are parsed here, which takes half a minute. Without the data nothing is measured. Page questions ask
for a page, figure questions for the picture or table itself (`--label` of search). Last line: JSON.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from penstock import enrich, parse
from penstock.retrieval.index import build
from penstock.store.out import Out

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.questions import FIGURE_QUESTIONS, QUESTIONS, VISUAL, recall

from benchmarks.lib.common import DATA, SAMPLE, finish

WITHOUT_CHUNKS = {"chunk_bm25": 0.0}


def figures_of(out: Path, weights: dict[str, float] | None) -> dict[str, float]:
    return {
        "page_recall_at_1": recall(out, QUESTIONS, 1, weights=weights),
        "page_recall_at_5": recall(out, QUESTIONS, 5, weights=weights),
        "figure_recall_at_1": recall(out, FIGURE_QUESTIONS, 1, VISUAL, weights),
        "figure_recall_at_5": recall(out, FIGURE_QUESTIONS, 5, VISUAL, weights),
    }


def parsed(out: Path) -> None:
    for _ in parse([DATA / "korean_pdf", DATA / "korean_text", SAMPLE], out=out):
        pass


def main() -> None:
    if len(sys.argv) < 2 and not DATA.is_dir():
        print(f"no test data at {DATA}: nothing to measure")
        finish("enriched_search")
        return
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        out = Path(folder) / "out"
        if len(sys.argv) > 1:
            unwanted = shutil.ignore_patterns("enrich", "index", "html", ".lock")
            shutil.copytree(sys.argv[1], out, ignore=unwanted)
        else:
            parsed(out)
        build(Out(out))
        plain, chunks = figures_of(out, WITHOUT_CHUNKS), figures_of(out, None)
        list(enrich(out, text_engine="rule"))
        build(Out(out))
        finish("enriched_search", without=plain, chunks=chunks, chunks_and_summaries=figures_of(out, None))


if __name__ == "__main__":
    main()

"""Measures how fast the embedding pass is, how busy it keeps the engine, and how fast the bare engine is.

Takes the built-in text engine by default, over made-up pages of real text; with --engine openai and
--server any server. gpu/embed_gpu.py measures the network alone on a GPU. Last line: JSON.

    python benchmarks/cpu/bench_embed.py --pages 60
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium

from penstock.engines.embed.embedder import open_embedder, takes_images
from penstock.page import Page
from penstock.passes.embed import EmbedOptions, embed_out
from penstock.plan import Plan
from penstock.region import Region
from penstock.retrieval.to_embed import list_pages
from penstock.stages.embed import BATCH
from penstock.stages.load import Load
from penstock.store import manifest
from penstock.store.ledger import ShardWriter
from penstock.store.out import Out
from penstock.store.schema import PAGES

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import SAMPLE, finish, timed, write_scans


def make_run(out: Path, count: int, scans: list[Path]) -> None:
    """`count` pages as a run leaves them: eight paragraphs of the sample's text, and a picture to load."""
    texts = [page.get_textpage().get_text_range() for page in pdfium.PdfDocument(SAMPLE)]
    paragraphs = itertools.cycle([p for text in texts for p in text.split(". ") if len(p) > 60])
    manifest.write(out, Plan(Load(text_layer=False), name="bench"))
    writer = ShardWriter(out, PAGES)
    for number in range(count):
        regions = tuple(
            Region(
                index=n,
                label="text",
                box=(0, 10 * n, 90, 10 * n + 9),
                content=f"{number}. {next(paragraphs)}",
            )
            for n in range(8)
        )
        scan = scans[number % len(scans)]
        page = Page(
            id=f"page{number:05d}",
            uri=str(scan),
            document="bench",
            part=number,
            media="image",
            width=100,
            height=100,
            regions=regions,
        )
        writer.add(page)
    writer.commit()


def bare(engine: str, settings: dict[str, Any], out: Path, scans: list[Path]) -> float:
    """Pages a second of the engine alone, fed in batches from memory with what the pass gives it."""
    opened = open_embedder(engine, settings)
    reads_images = takes_images(engine)
    pages = list(list_pages(Out(out), "visual" if reads_images else "all"))
    images = [path.read_bytes() for path in scans]

    def work() -> None:
        for start in range(0, len(pages), BATCH):
            batch = pages[start : start + BATCH]
            opened.texts([page.text for page in batch])
            if reads_images:
                opened.images(
                    [images[(start + n) % len(images)] for n in range(len(batch))], [""] * len(batch)
                )
            elif words := [part.words for page in batch for part in page.parts]:
                opened.texts(words)

    work() if reads_images else opened.texts(["warm"])
    seconds, _ = timed(work)
    opened.close()
    return len(pages) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="use")
    parser.add_argument("--model")
    parser.add_argument("--server")
    parser.add_argument("--pages", type=int, default=60)
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        settings = {k: v for k, v in {"model": chosen.model, "server": chosen.server}.items() if v}
        scans = write_scans(folder / "scans", 16, dpi=150)
        make_run(folder / "out", chosen.pages, scans)
        alone = bare(chosen.engine, settings, folder / "out", scans)
        done = embed_out(folder / "out", EmbedOptions(engine=chosen.engine, settings=settings))
        rate = done.pages / done.seconds
        print(done.sentence())
        finish(
            "embed",
            engine=chosen.engine,
            pages=done.pages,
            pages_per_s=round(rate, 2),
            bare_pages_per_s=round(alone, 2),
            share_of_bare=round(rate / alone, 3),
            busy=done.busy,
            shapes=done.shapes,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

"""Leaves out one correction of the layout model after the other, and shows how many pages change.

    python benchmarks/quality/corrections.py INPUT... [--layout model] [--max-pages 40]

A correction that changes no page of a wide ground, or changes pages for the worse, may go: score the pages
that it changes (`--keep FOLDER` writes their Markdown with it and without it). The last line is JSON.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from penstock.documents.reading.corrections import CORRECTIONS
from penstock.page import Page
from penstock.recipes.documents import documents
from penstock.sources.listing import list_items
from penstock.stages.recognise import Recognise
from penstock.workers.builtin_readers import Readers
from penstock.workers.compose import ComposeWorker
from penstock.workers.recognise import RecogniseWorker

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import finish


def laid_out(inputs: Sequence[str], layout: str, max_pages: int) -> Iterator[Page]:
    """Yields pages as they come to be read."""
    plan = documents(layout=layout, cores=1)  # type: ignore[arg-type]
    names = [stage.name for stage in plan.stages]
    workers = [stage.open() for stage in plan.stages[: names.index("recognise")]]
    for item in islice(list_items(inputs, Page), max_pages):
        items: list[Page] = [item]
        for worker in workers:
            items = worker(items)  # type: ignore[assignment, arg-type]
        yield from items
    for worker in workers:
        worker.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--layout", default="model")
    parser.add_argument("--max-pages", type=int, default=40)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    plan = documents(layout=given.layout, cores=1)
    stages = {stage.name: stage for stage in plan.stages}
    recognise = stages["recognise"]
    assert isinstance(recognise, Recognise)
    compose = ComposeWorker(stages["compose"])  # type: ignore[arg-type]
    readers = Readers(recognise.lang, recognise.effort)
    ways = {name: RecogniseWorker(recognise, readers, {name} - {""}) for name in ("", *CORRECTIONS)}
    changed = dict.fromkeys(CORRECTIONS, 0)
    pages = 0
    for page in laid_out(given.inputs, given.layout, given.max_pages):
        pages += 1
        texts = {name: compose(worker([page]))[0].markdown for name, worker in ways.items()}
        for name in CORRECTIONS:
            changed[name] += texts[name] != texts[""]
            if given.keep is not None and texts[name] != texts[""]:
                folder = given.keep / name
                folder.mkdir(parents=True, exist_ok=True)
                stem = page.id.replace("/", "_")
                (folder / f"{stem}.with.md").write_text(texts[""], encoding="utf-8")
                (folder / f"{stem}.without.md").write_text(texts[name], encoding="utf-8")
    for name, count in changed.items():
        print(f"{name:28} changes {count} of {pages} pages")
    finish("corrections", pages=pages, changed=changed)


if __name__ == "__main__":
    main()

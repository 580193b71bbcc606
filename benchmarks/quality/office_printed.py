"""Office files and HWP that others made, printed: how much of their own words has a box on a page.

    python benchmarks/quality/office_printed.py [--kinds hwp,hwpx,docx]

Reads the folder `devset/formats` of the test data with `--office both`. A file that cannot be printed is
named with its reason. `characters` are those of regions that come from the file itself, `placed` the part of
them in boxes of their own. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from penstock.page import Page
from penstock.region import STRUCTURE
from penstock.sources import list_items
from penstock.stages.load import Load
from penstock.workers.load import LoadWorker
from penstock.workers.office.printed_file import NO_PLACE

DATA = Path(os.environ.get("PENSTOCK_DATA", "../shared/data")) / "devset" / "formats"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", default="hwp,hwpx,docx,pptx,xlsx,odt")
    options = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    for kind in options.kinds.split(","):
        figures[kind] = of_kind(sorted(DATA.rglob(f"*.{kind}")))
        print(kind, figures[kind], flush=True)
    print(json.dumps(figures))


def of_kind(paths: list[Path]) -> dict[str, float]:
    """Returns the sums over files of a kind."""
    sums: dict[str, float] = defaultdict(float)
    began = time.monotonic()
    worker = LoadWorker(Load(office="both"))
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            sums["files"] += 1
            items = list(list_items([str(path)], Page, office="both", downloads=Path(folder)))
            pages = [item if item.failure else worker([item])[0] for item in items]
            failed = next((page.failure.message for page in pages if page.failure), "")
            if failed:
                print(f"  {failed}")
                continue
            sums["printed"] += 1
            sums["pages"] += len(pages)
            for page in pages:
                count(page, sums)
    worker.close()
    sums["placed"] = round(sums.pop("placed") / max(1, sums["characters"]), 3)
    sums["seconds"] = round(time.monotonic() - began, 1)
    return dict(sums)


def count(page: Page, sums: dict[str, float]) -> None:
    for region in page.regions:
        size = len("".join((region.content or "").split()))
        if region.reader != STRUCTURE:
            sums["characters_of_the_page_alone"] += size
            continue
        sums["characters"] += size
        sums["placed"] += 0 if region.note == NO_PLACE else size
        sums["cells_with_a_box"] += len(region.cells)


if __name__ == "__main__":
    main()

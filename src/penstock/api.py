"""The Python API: the same as the command line, as iterators of pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock import recipes, sources
from penstock.driver import Run
from penstock.errors import UsageError
from penstock.executors import executor as make_executor
from penstock.item import Item
from penstock.plan import Plan
from penstock.store import manifest
from penstock.store.ledger import has_rows
from penstock.store.source_order import read_order, read_pages
from penstock.trace.spans import Trace


def parse(
    inputs: str | Path | Sequence[str | Path],
    *,
    out: str | Path | None = None,
    recipe: str | Plan = "documents",
    pages: str | int | None = None,
    executor: str = "local",
    retry_failed: bool = False,
    fresh: bool = False,
    image_column: str | None = None,
    id_column: str | None = None,
    **options: Any,
) -> Iterator[Item]:
    """Yields each page as it is finished, in completion order; a failed one has `failure` set.

    `recipe` is a recipe's name, whose `options` follow (`dpi=300, lang="ko"`), or a Plan of your own.
    With `out`, pages are kept there, and those it already holds are not done (nor yielded) again.

        for page in penstock.parse("scans/", out="out", lang="ko"):
            print(page.document, page.part + 1, page.markdown[:80])
    """
    names = [str(name) for name in ([inputs] if isinstance(inputs, str | Path) else inputs)]
    if isinstance(options.get("lang"), str):
        options["lang"] = tuple(options["lang"].replace(",", " ").split())
    plan = recipe if isinstance(recipe, Plan) else recipes.build(recipe, options)
    listing = sources.list_items(
        names,
        pages=None if pages is None else sources.PageRange.parse(str(pages)),
        password=options.get("password"),
        image_column=image_column,
        id_column=id_column,
        known={} if fresh or out is None else read_order(Path(out)),
    )
    runner = make_executor(executor, Trace())
    if out is None:
        return runner.stream(plan, listing)
    run = Run(
        plan,
        runner,
        Path(out),
        retry_failed=retry_failed,
        fresh=fresh,
        facts={"inputs": names, "pages": pages},
    )
    return run.pages(listing)


def read(out: str | Path) -> Iterator[Item]:
    """Every page of a run in source order, failed ones with their failure."""
    folder = Path(out)
    if not has_rows(folder) and not (folder / manifest.RUN).is_file():
        raise UsageError(f"{out} holds no run.", "Read what parse(..., out=...) wrote.")
    return read_pages(folder)

"""Reads documents, reads a run back, and writes its files."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Unpack

from penstock.api.inputs import Inputs, names_of
from penstock.converted.notebook import notebook_bar
from penstock.converted.python_terms import in_python_terms, items_in_python_terms
from penstock.errors import UsageError
from penstock.exports.export import export as write_exports
from penstock.options.typed import RunSettings
from penstock.page import Page
from penstock.passes.in_order import OnProgress, Order
from penstock.passes.parse import parse_options, parse_pages, without_links
from penstock.store import manifest
from penstock.store.out import Out


@in_python_terms()
def parse(
    inputs: Inputs,
    *,
    out: str | Path | None = None,
    order: Order = "source",
    on_progress: OnProgress | None = None,
    **options: Unpack[RunSettings],
) -> Generator[Page, None, None]:
    """Yields the pages one by one, in the order of the inputs; a failed one has `failure` set.

    The option `recipe` is a recipe's name, whose own options follow (`dpi=300, lang="ko"`), or a Plan of your
    own. `pages`, `max_pages`, `retry_failed` and `fresh` are as on the command line.
    With `out`, pages are kept there. Those it already holds are not read again; they are yielded in their
    place, with `resumed` set. With `order="completion"` a page is yielded as soon as it is finished.
    `on_progress` is called with a `ParseProgress` before each page; without it a notebook shows a bar.

        for page in penstock.parse("scans/", out="out", lang="ko"):
            print(page.document, page.number, page.markdown[:80])
    """
    chosen = parse_options(names_of(inputs), options)
    shown = on_progress or notebook_bar()
    stream = parse_pages(chosen, None if out is None else Path(out), order, shown)
    return items_in_python_terms(without_links(stream) if out is None else stream)


@in_python_terms()
def read(out: str | Path) -> Iterator[Page]:
    """Yields every page of a run in source order, failed ones with their failure."""
    folder = Out(out)
    if not folder.has_rows and not (folder / manifest.RUN).is_file():
        raise UsageError(f"{out} holds no run.", "Read what parse(..., out=...) wrote.")
    return items_in_python_terms(folder.read_pages())


@in_python_terms()
def export(
    out: str | Path,
    formats: Iterable[str],
    *,
    password: str | None = None,
    crop_names: str | None = None,
    anchors: bool = False,
) -> list[Path]:
    """Writes files from a run's rows, such as "md", "jsonl" or "docjson". Returns their paths.

    `crop_names="page"` names crops by page id and order; "content" by what they hold.
    """
    return write_exports(out, formats, password, crop_names, anchors)

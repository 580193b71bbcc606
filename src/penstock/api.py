"""The Python API: `convert` for one document, and every verb of the command line as a function.

Each takes and gives plain values; the passes below do the work, as they do for the command line and the
service.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack, overload

from penstock.converted.collection import Documents
from penstock.converted.convert import convert_many, convert_one
from penstock.converted.document import Document
from penstock.converted.inputs import Source
from penstock.documents.docjson.enriched_block import EnrichedBlock
from penstock.errors import UsageError
from penstock.evaluation.benchmarks import open_benchmark
from penstock.evaluation.results import Summary
from penstock.exports.export import export as write_exports
from penstock.page import Page
from penstock.passes.embed import EmbedOptions, EmbedSummary, embed_out
from penstock.passes.enrich import EnrichOptions, enrich_work
from penstock.passes.evaluate import run_benchmark, score_predictions
from penstock.passes.in_order import OnProgress, Order
from penstock.passes.index import IndexSummary, index_out
from penstock.passes.parse import ParseOptions, parse_pages, without_links
from penstock.passes.photos import PhotoOptions, photos_stream, photos_work
from penstock.passes.search import search_out
from penstock.passes.settings import (
    EmbedSettings,
    EnrichSettings,
    ParseSettings,
    PhotoSettings,
    recipe_options,
)
from penstock.photo import Photo
from penstock.plan import Plan
from penstock.processes.background import Background
from penstock.retrieval.hits import NO_FILTERS, Filters, Hit, SearchOptions
from penstock.sources import MAX_PAGES
from penstock.store import manifest
from penstock.store.out import Out

Inputs = str | Path | Sequence[str | Path]


@overload
def convert(
    source: Source,
    *,
    recipe: str | Plan = "documents",
    pages: str | int | None = None,
    executor: str = "local",
    on_progress: OnProgress | None = None,
    **options: Unpack[ParseSettings],
) -> Document: ...
@overload
def convert(
    source: list[Any] | tuple[Any, ...] | Generator[Any, None, None],
    *,
    recipe: str | Plan = "documents",
    pages: str | int | None = None,
    executor: str = "local",
    on_progress: OnProgress | None = None,
    **options: Unpack[ParseSettings],
) -> Documents: ...
def convert(
    source: Source | list[Any] | tuple[Any, ...] | Generator[Any, None, None],
    *,
    recipe: str | Plan = "documents",
    pages: str | int | None = None,
    executor: str = "local",
    on_progress: OnProgress | None = None,
    **options: Unpack[ParseSettings],
) -> Document | Documents:
    """Returns a document that reads its pages as they are asked for.

    `source` is a path, an http or https address, bytes, a binary stream, a PIL image or a numpy array
    (red, green, blue). A list of them gives `Documents`, which one run reads; folders, patterns and data
    sets go into a list, too. `recipe` and `options` are those of `parse`.

        doc = penstock.convert("report.pdf")
        print(doc.markdown)
        for table in doc.tables:
            print(table.to_pandas())
    """
    chosen = ParseOptions(
        inputs=(),
        recipe=recipe,
        settings=recipe_options(options),
        pages=None if pages is None else str(pages),
        executor=executor,
    )
    if isinstance(source, list | tuple | Generator):
        return convert_many(source, chosen, on_progress)
    return convert_one(source, chosen, on_progress)


def parse(
    inputs: Inputs,
    *,
    out: str | Path | None = None,
    recipe: str | Plan = "documents",
    pages: str | int | None = None,
    max_pages: int = MAX_PAGES,
    order: Order = "source",
    executor: str = "local",
    retry_failed: bool = False,
    fresh: bool = False,
    image_column: str | None = None,
    id_column: str | None = None,
    on_progress: OnProgress | None = None,
    **options: Unpack[ParseSettings],
) -> Generator[Page, None, None]:
    """Yields the pages one by one, in the order of the inputs; a failed one has `failure` set.

    `recipe` is a recipe's name, whose `options` follow (`dpi=300, lang="ko"`), or a Plan of your own.
    With `out`, pages are kept there. Those it already holds are not read again; they are yielded in their
    place, with `resumed` set. With `order="completion"` a page is yielded as soon as it is finished.
    `on_progress` is called with a `ParseProgress` before each page.

        for page in penstock.parse("scans/", out="out", lang="ko"):
            print(page.document, page.number, page.markdown[:80])
    """
    chosen = ParseOptions(
        inputs=_names(inputs),
        recipe=recipe,
        settings=recipe_options(options),
        pages=None if pages is None else str(pages),
        max_pages=max_pages,
        image_column=image_column,
        id_column=id_column,
        executor=executor,
        retry_failed=retry_failed,
        fresh=fresh,
    )
    if out is None:
        return without_links(parse_pages(chosen, None, order, on_progress))
    return parse_pages(chosen, Path(out), order, on_progress)


def read(out: str | Path) -> Iterator[Page]:
    """Yields every page of a run in source order, failed ones with their failure."""
    folder = Out(out)
    if not folder.has_rows and not (folder / manifest.RUN).is_file():
        raise UsageError(f"{out} holds no run.", "Read what parse(..., out=...) wrote.")
    return folder.read_pages()


def export(
    out: str | Path, formats: Iterable[str], password: str | None = None, crop_names: str | None = None
) -> list[Path]:
    """Writes files from a run's rows, such as "md", "jsonl" or "docjson". Returns their paths.

    `crop_names="page"` names crops by document, page and order; "content" by what they hold.
    """
    return write_exports(out, formats, password, crop_names)


def enrich(out: str | Path, **options: Unpack[EnrichSettings]) -> Iterator[EnrichedBlock]:
    """Yields each table and picture of a run as its summary and keywords are written.

    `options` are the fields of `EnrichOptions`.

        for block in penstock.enrich("out", text_engine="rule"):
            print(block.document, block.part + 1, block.enrichment)
    """
    return iter(enrich_work(EnrichOptions(**options), Path(out)))


def embed(out: str | Path, **options: Unpack[EmbedSettings]) -> EmbedSummary:
    """Embeds a run's pages, regions and queries. `options` are the fields of `EmbedOptions`."""
    return embed_out(Path(out), EmbedOptions(**options))


def index(out: str | Path, rebuild: bool = False) -> IndexSummary:
    """Builds or updates a run's search index."""
    return index_out(Path(out), rebuild)


def search(
    out: str | Path,
    question: str,
    *,
    top: int = 10,
    filters: Filters | None = None,
    api_key: str | None = None,
) -> list[Hit]:
    """Finds pages and regions of an indexed run, best first.

    for hit in penstock.search("out", "설치 방법", top=5):
        print(hit.document, hit.page, hit.snippet)
    """
    options = SearchOptions(top=top, filters=filters or NO_FILTERS, api_key=api_key)
    with Background() as background:
        return search_out(Path(out), question, options, background).hits


def volumes(
    photos: Inputs,
    *,
    out: str | Path | None = None,
    boxes: Sequence[str] = (),
    depths: Sequence[str] = (),
    known: Sequence[str] = (),
    same_room: bool = False,
    executor: str = "local",
    retry_failed: bool = False,
    fresh: bool = False,
    **options: Unpack[PhotoSettings],
) -> Iterator[Photo]:
    """Yields each photo as its things are measured. `options` are those of the photos recipe.

    With `out`, photos are kept there, and those it already holds are not measured again.

    for photo in penstock.volumes("room.jpg", out="out", boxes=["420,610,380,700:chair"]):
        print([(thing.label, thing.size, thing.bbox_cbm) for thing in photo.objects])
    """
    chosen = PhotoOptions(
        photos=_names(photos),
        boxes=tuple(boxes),
        depths=tuple(depths),
        known=tuple(known),
        settings=dict(options),
        same_room=same_room,
        executor=executor,
        retry_failed=retry_failed,
        fresh=fresh,
    )
    return photos_stream(chosen) if out is None else iter(photos_work(chosen, Path(out)))


def evaluate(
    benchmark: str,
    *,
    out: str | Path,
    data: str | Path | None = None,
    predictions: str | Path | None = None,
    recipe: str = "documents",
    limit: int = 0,
    **options: Unpack[ParseSettings],
) -> Summary:
    """Scores `predictions` on a benchmark; without them, those that a recipe makes of its pictures.

    summary = penstock.evaluate("omnidocbench", out="scores", data="OmniDocBench/", predictions="mine/")
    print(summary.scores["overall"])
    """
    chosen, folder = open_benchmark(benchmark), None if data is None else Path(data)
    if predictions is not None:
        return score_predictions(chosen, Path(predictions), folder, Path(out)).summary
    return run_benchmark(
        chosen, Path(out), folder, recipe=recipe, options=recipe_options(options), limit=limit
    ).summary


def _names(inputs: Inputs) -> tuple[str, ...]:
    return tuple(str(name) for name in ([inputs] if isinstance(inputs, str | Path) else inputs))

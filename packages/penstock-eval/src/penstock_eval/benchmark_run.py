"""Scores a benchmark, from predictions that are there or from those a recipe makes of its pictures.

A benchmark of pages goes through the recipe: `predict` writes one Markdown file a sample, when its picture
or the last page of its PDF is read; files that exist are not read again. A benchmark that wants something
about each picture is asked of the recipe's recogniser (recogniser_answers.py). Where a recipe only reads
pages, the scores are called so. OUT remembers the recipe that read it and refuses another.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.engines.weights.registry import cache_folder
from penstock.errors import UsageError
from penstock.page import Page
from penstock.passes.parse import stream_pages
from penstock.passes.scores import SUMMARY, Summary
from penstock.plan import Plan
from penstock.recipes import build
from penstock.sources import list_items
from penstock.sources.remote import hub
from penstock.store.lock import holding
from penstock.store.ownership import claim, refuse_links
from penstock_eval.benchmarks import open_benchmark
from penstock_eval.benchmarks.base import Benchmark, Sample
from penstock_eval.benchmarks.files import with_pictures
from penstock_eval.method import ASKED, FROM_PAGES, READ, Method
from penstock_eval.predictions import Predictions, read_predictions
from penstock_eval.recogniser_answers import answers, has_answers
from penstock_eval.report import REPORT, write_report
from penstock_eval.results import SAMPLES, write_text
from penstock_eval.scoring import Outcome, samples_of, score_folder, score_samples
from penstock_eval.single_region import single_region_plan

FOLDER, PICTURES, RECIPE = "predictions", "pictures", "recipe.json"

Progress = Callable[[int, int], None]  # called with the samples done and the samples in all


def no_progress(done: int, total: int) -> None:
    pass


def score_predictions(
    benchmark: Benchmark,
    predictions: Path,
    data: Path | None = None,
    out: Path | None = None,
    *,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> Outcome:
    """Scores predictions against a data set. With `out` also writes the results and report.html there.

    Raises OutLocked if another process scores into `out`.
    """
    folder = data_folder(benchmark, data)
    with _alone_in(out):
        outcome = score_folder(benchmark, folder, predictions, out, workers=workers, progress=progress)
        if out is not None:
            write_report(out)
    return outcome


def run_benchmark(
    benchmark: Benchmark,
    out: Path,
    data: Path | None = None,
    *,
    recipe: str = "documents",
    options: Mapping[str, Any] | None = None,
    limit: int = 0,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> Outcome:
    """Runs a recipe on a data set's pictures, then scores what it read. `limit` takes the first samples.

    Raises UsageError where the recipe cannot do what the benchmark needs, before anything is downloaded.
    """
    plan = build(recipe, dict(options or {}))
    asked = None if benchmark.asks == "page" else single_region_plan(plan, benchmark.asks)
    benchmark = replace(benchmark, method=method_of(benchmark, recipe, asks=asked is not None))
    samples = samples_of(benchmark, data_folder(benchmark, data))
    with _alone_in(out):
        samples = with_pictures(samples[:limit] if limit else samples, out / PICTURES)
        if asked is None:
            given = predict(samples, out, recipe, options, progress)
        else:
            _check_recipe(out, recipe, asked)
            _need_pictures(samples)
            given = answers(benchmark, samples, asked, out, progress)
        outcome = score_samples(benchmark, samples, given, out, workers=workers, progress=progress)
        write_report(out)
    return outcome


def method_of(benchmark: Benchmark, recipe: str, *, asks: bool) -> Method:
    """Returns how a recipe makes the benchmark's predictions. Raises UsageError if it has no way at all."""
    if benchmark.asks == "page":
        return READ
    if asks:
        return ASKED[benchmark.asks]
    if benchmark.asks not in FROM_PAGES:
        raise UsageError(
            f"{benchmark.title} is about {benchmark.asks}, and the recipe {recipe!r} reads pages only.",
            "Use --recipe glm-ocr or another that queries a model, or `eval score` on predictions.",
        )
    return FROM_PAGES[benchmark.asks]


def data_folder(benchmark: Benchmark, data: Path | None) -> Path:
    """Returns `data`; without it, the benchmark's own data set in the user's cache, downloaded once."""
    if data is not None:
        return data
    if benchmark.hub is None:
        raise UsageError(f"{benchmark.title} is not on the Hub.", f"Give --data: {benchmark.layout}.")
    repo, files = benchmark.hub
    folder = cache_folder().parent / "datasets" / benchmark.name
    return hub.download(repo, folder, files=files).folder


def predict(
    samples: Sequence[Sample],
    out: Path,
    recipe: str = "documents",
    options: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> Predictions:
    """Returns predictions for all samples from `out/predictions`; the recipe reads those that are missing."""
    folder, plan = out / FOLDER, build(recipe, dict(options or {}))
    todo = [s for s in samples if not _file(folder, s).is_file()]
    _check_recipe(out, recipe, plan)
    _need_pictures(todo)
    _read(todo, folder, plan, len(samples) - len(todo), len(samples), progress)
    return read_predictions(folder, [sample.id for sample in samples], warn_extra=False)


def _need_pictures(samples: Sequence[Sample]) -> None:
    without = [sample.id for sample in samples if not sample.image]
    if without:
        raise UsageError(
            f"{len(without)} samples have no picture, first {without[0]}.",
            "Put the pictures where the data set's own files name them, or use `eval score` on predictions.",
        )


def evaluate(
    name: str,
    out: Path,
    data: Path | None,
    predictions: Path | None,
    *,
    recipe: str,
    limit: int,
    options: Mapping[str, Any],
) -> Summary:
    """Scores `predictions`, or what a recipe reads if there are none. `penstock.evaluate` calls it."""
    benchmark = open_benchmark(name)
    if predictions is not None:
        return score_predictions(benchmark, predictions, data, out).summary
    return run_benchmark(benchmark, out, data, recipe=recipe, options=options, limit=limit).summary


@contextmanager
def _alone_in(out: Path | None) -> Iterator[None]:
    """Holds OUT's lock. Raises StoreError if somebody else's file or link is where results belong."""
    if out is None:
        yield
        return
    with holding(out):
        for name in (SAMPLES, SUMMARY, REPORT, RECIPE):
            claim(out, out / name)
        for name in (FOLDER, PICTURES):
            refuse_links(out, out / name)
        yield


def _check_recipe(out: Path, recipe: str, plan: Plan) -> None:
    """Raises UsageError if another recipe read the folder's pages: its scores would be reported as ours."""
    own = {"recipe": recipe, "fingerprint": plan.fingerprint()}
    path, folder = out / RECIPE, out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.rglob("*.md")) and not has_answers(out):
        write_text(path, json.dumps(own), out)
    known = json.loads(path.read_text("utf-8")) if path.is_file() else own  # a user's own files have none
    if known != own:
        raise UsageError(
            f"The recipe {known['recipe']!r} read {out}, perhaps with other settings.",
            "Choose another --out, or remove that folder to read it again.",
        )


def _read(
    todo: Sequence[Sample], folder: Path, plan: Plan, done: int, total: int, progress: Progress
) -> None:
    """Writes one file a sample. One stream for all, so that the recipe's models are opened once."""
    if not todo:
        return
    by_picture: dict[str, list[Sample]] = defaultdict(list)  # several questions may be about one
    for sample in todo:
        by_picture[str(Path(sample.image).resolve())].append(sample)
    with closing(_documents(list(by_picture), plan)) as documents:
        for source, markdown in documents:
            for sample in by_picture[source]:
                write_text(_file(folder, sample), markdown, folder.parent)
            done += len(by_picture[source])
            progress(done, total)


def _documents(sources: list[str], plan: Plan) -> Generator[tuple[str, str]]:
    """Yields each file with its Markdown when its last page is read, so that an end costs the open files.

    Leaves out a file of which no page could be read: it is scored as missing, and read again next time.
    """
    listing = list(list_items(sources, Page))
    left = Counter(item.uri for item in listing)
    pages: dict[str, dict[int, str]] = defaultdict(dict)
    with closing(stream_pages(plan, listing)) as stream:
        for page in stream:
            left[page.uri] -= 1
            if page.failure is None:
                pages[page.uri][page.part] = page.markdown
            if not left[page.uri] and (read := pages.pop(page.uri, None)):
                yield (
                    str(Path(page.uri).resolve()),
                    "\n\n".join(filter(None, (read[part] for part in sorted(read)))),
                )


def _file(folder: Path, sample: Sample) -> Path:
    return folder / f"{sample.id}.md"

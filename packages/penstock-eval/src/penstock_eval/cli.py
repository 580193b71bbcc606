"""`penstock eval`: runs, scores, compares and reports benchmarks, makes Office files, scores other passes.

Each command imports what does its work inside its function: `--help` loads neither numpy nor the metrics'
packages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.options import AsJson, Out, Rerank, RerankKey, RerankModel, with_options
from penstock.errors import UsageError
from penstock.options.option import values_of, without
from penstock.options.reading import READING

if TYPE_CHECKING:
    from penstock.passes.scores import Summary
    from penstock_eval.compare import Comparison


app = typer.Typer(
    help="Score how pages are read and found, with intervals: list, run, score, office, retrieval, extract,"
    " compare, report.",
    epilog="Example: penstock eval score omnidocbench predictions/ --data OmniDocBench/ -o scores",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Bench = Annotated[str, typer.Argument(help="A benchmark's name; see `penstock eval list`.", metavar="BENCH")]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="The data set's folder or file; default: download it from the Hub."),
]
Version = Annotated[
    str, typer.Option("--protocol", help="Version of the benchmark's rules, e.g. v1.6; default: v1.5.")
]
Cdm = Annotated[bool, typer.Option("--cdm", help="Also render formulas and score CDM; needs TeX.")]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Scoring processes, 0 for none; default: one a core.", min=0)
]
ScoresOut = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder for the results; scoring there is resumed.")
]
ScoredFolder = Annotated[Path, typer.Argument(help="A folder that `eval score` wrote.", metavar="SCORES")]


@app.command("list", epilog="Example: penstock eval list --json")
def list_benchmarks(as_json: AsJson = False) -> None:
    """List the benchmarks: what each asks of a picture and scores, and which files it reads."""
    from penstock_eval.benchmarks import BENCHMARKS, benchmark_class

    rows: list[dict[str, Any]] = [
        {
            "name": kind.name,
            "title": kind.title,
            "asks": kind.asks,
            "metrics": list(kind.metrics),
            "reads": kind.layout,
            "hub": kind.hub[0] if kind.hub else None,
        }
        for kind in map(benchmark_class, BENCHMARKS)
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        where = f"; on the Hub: {row['hub']}" if row["hub"] else ""
        scores = ", ".join(row["metrics"])
        print(f"{row['name']}\t{row['title']}\tasks: {row['asks']}\t{scores}\treads {row['reads']}{where}")


@app.command(epilog="Example: penstock eval score dpbench markdown/ --data dp-bench/ -o scores")
def score(
    bench: Bench,
    predictions: Annotated[
        Path,
        typer.Argument(help="Folder with one file a sample, or one JSON file.", metavar="PREDICTIONS"),
    ],
    data: Data = None,
    out: ScoresOut = None,
    protocol: Version = "",
    cdm: Cdm = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Score any tool's predictions on a benchmark. Writes samples.jsonl, summary.json, report.html."""
    from penstock_eval.benchmark_run import score_predictions
    from penstock_eval.benchmarks import open_benchmark

    benchmark, progress = open_benchmark(bench, protocol, cdm=cdm), _progress(as_json)
    outcome = score_predictions(benchmark, predictions, data, out, workers=workers, progress=progress)
    _show_summary(outcome.summary, as_json)


@app.command(epilog="Example: penstock eval run ocrbench --recipe glm-ocr --server http://gpu:8000 -o scores")
@with_options(*without(READING, "model"))
def run(
    bench: Bench,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the predictions and the results.")],
    given: dict[str, Any],
    data: Data = None,
    recipe: Annotated[
        str, typer.Option("--recipe", help="The recipe that reads the pictures.")
    ] = "documents",
    model: Annotated[
        str | None,
        typer.Option("--model", "--ocr-model", help="The model as the server calls it, or a folder."),
    ] = None,
    protocol: Version = "",
    cdm: Cdm = False,
    limit: Annotated[int, typer.Option("--limit", help="Only the first N samples; 0 takes all.", min=0)] = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Run a recipe on a benchmark's pictures, then score it. Goes on where it stopped.

    Pages are read as the recipe reads them. Lines, tables, formulas, questions and fields go with their
    picture straight to the recipe's recogniser. Scores of a recipe that only reads pages are called so.
    """
    options = values_of(READING, {**given, "model": model})
    from penstock_eval.benchmark_run import run_benchmark
    from penstock_eval.benchmarks import open_benchmark

    outcome = run_benchmark(
        open_benchmark(bench, protocol, cdm=cdm),
        out,
        data,
        recipe=recipe,
        options=options,
        limit=limit,
        workers=workers,
        progress=_progress(as_json),
    )
    _show_summary(outcome.summary, as_json)


@app.command(epilog="Example: penstock eval office -o made, and: penstock eval office markdown/ -o made")
def office(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the documents and the results.")],
    predictions: Annotated[
        Path | None,
        typer.Argument(help="Folder with any tool's Markdown; default: read them.", metavar="PREDICTIONS"),
    ] = None,
    documents: Annotated[int, typer.Option("--documents", help="Number of documents to make.", min=1)] = 300,
    seed: Annotated[int, typer.Option("--seed", help="The same seed makes the same documents.")] = 1,
    formats: Annotated[
        str, typer.Option("--formats", help="Kinds of files with commas between; default: all.")
    ] = "",
    only_write: Annotated[
        bool, typer.Option("--only-write", help="Write the documents and their truth, and read nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make Office, HWPX and web files of known content, read them or take a tool's Markdown, and score it.

    Writes OUT/documents, OUT/truth.jsonl and OUT/truth/*.md, then samples.jsonl, summary.json, report.html.
    """
    from penstock_eval.office_run import evaluate_office

    kinds = tuple(filter(None, formats.split(",")))
    outcome = evaluate_office(
        out, predictions, documents, seed, kinds, only_write=only_write, progress=_progress(as_json)
    )
    if outcome is not None:
        _show_summary(outcome.summary, as_json)


@app.command(epilog="Example: penstock eval retrieval OUT --queries questions.jsonl")
def retrieval(
    out: Out,
    queries: Annotated[
        Path, typer.Option("--queries", help="Questions with the pages that answer them, as embedded.")
    ],
    rerank: Rerank = "",
    rerank_model: RerankModel = "",
    rerank_key: RerankKey = None,
    as_json: AsJson = False,
) -> None:
    """Score how well OUT's pages are found: by words, by each kind of vector, by all together, reranked.

    Before: penstock embed OUT --queries FILE, and penstock index OUT. Writes a folder a source to
    OUT/retrieval.
    """
    from penstock.retrieval.hits import SearchOptions
    from penstock.sources.queries import read_queries
    from penstock.store.out import Out as Folder
    from penstock_eval.search_scores import evaluate_search

    options = SearchOptions(rerank=rerank, rerank_model=rerank_model, rerank_key=rerank_key)
    found = evaluate_search(Folder(out), read_queries(queries), options)
    if as_json:
        print(json.dumps({name: asdict(summary) for name, summary in found.items()}, ensure_ascii=False))
        return
    for summary in found.values():
        _show_summary(summary, as_json)


@app.command(epilog="Example: penstock eval extract OUT --schema invoice.json --truth truth.jsonl -o scores")
def extract(
    out: Out,
    schema: Annotated[Path, typer.Option("--schema", help="The schema that was extracted by.")],
    truth: Annotated[
        Path, typer.Option("--truth", help="JSON lines of the right values, as OUT/extracted has them.")
    ],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")],
    as_json: AsJson = False,
) -> None:
    """Score what `penstock extract` found in OUT: precision, recall, and values that no page holds.

    By field and in all. Writes samples.jsonl and summary.json.
    """
    from penstock.passes.extract import schema_from
    from penstock.store.out import Out as Folder
    from penstock_eval.field_scores import evaluate_fields

    _show_summary(evaluate_fields(Folder(out), schema_from(schema).name, truth, folder), as_json)


@app.command(epilog="Example: penstock eval compare scores-main scores-branch --fail-if worse")
def compare(
    first: ScoredFolder,
    second: ScoredFolder,
    fail_if: Annotated[
        str, typer.Option("--fail-if", help="`worse`: exit with 1 if the second is worse.")
    ] = "",
    alpha: Annotated[
        float, typer.Option(help="Level of the test over all metrics (Holm).", min=0, max=1)
    ] = 0.05,
    tolerance: Annotated[
        float, typer.Option(help="A mean may fall by this much and count as the same.", min=0)
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Compare two scored runs on the samples they share, with a paired test for each metric."""
    if fail_if not in ("", "worse"):
        raise UsageError(f"--fail-if takes `worse`, not {fail_if!r}.")
    from penstock_eval.compare import compare_folders

    found = compare_folders(first, second, alpha, tolerance)
    if as_json:
        print(json.dumps({**asdict(found), "is_worse": found.is_worse}, ensure_ascii=False, indent=1))
    else:
        _show_comparison(found)
    if fail_if and found.is_worse:
        raise typer.Exit(1)


@app.command(epilog="Example: penstock eval report scores --metric table_teds")
def report(
    folder: ScoredFolder,
    metric: Annotated[
        str, typer.Option(help="Sort the worst cases by this score; default: the run's first.")
    ] = "",
    cases: Annotated[int, typer.Option(help="Number of worst cases to show.", min=0)] = 20,
) -> None:
    """Write report.html: scores, slices, and the worst cases with picture, truth and prediction."""
    from penstock_eval.report import write_report

    print(write_report(folder, metric, cases))


def _progress(as_json: bool) -> Callable[[int, int], None]:
    def show(done: int, total: int) -> None:
        if not as_json and sys.stderr.isatty():
            print(f"\r{done}/{total}", end="" if done < total else "\n", file=sys.stderr, flush=True)

    return show


def _show_summary(summary: Summary, as_json: bool) -> None:
    if as_json:
        print(summary.as_json())
        return
    made = f"; {summary.method}" if summary.method else ""
    print(f"{summary.benchmark}, {summary.protocol}: {summary.count} samples{made}")
    for name, interval in summary.scores.items():
        print(f"{name}\t{interval}\tn={interval.count}\t{_arrow(summary.higher_is_better[name])}")
    for name, value in summary.extra.items():
        print(f"{name}\t{value:.4f}")
    for name, reason in summary.not_computed.items():
        print(f"{name}\t{reason}")
    for warning in summary.warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _show_comparison(found: Comparison) -> None:
    print(found.protocol)
    for c in found.changes:
        change = f"{c.test.difference:+.4f} [{c.test.low:+.4f}, {c.test.high:+.4f}]"
        arrow = _arrow(c.higher_is_better)
        print(f"{c.metric}\t{c.first:.4f}\t{c.second:.4f}\t{change}\tp={c.test.p:.4f}\t{arrow}\t{c.verdict}")
    for sample, metric, loss in found.most_worse:
        print(f"lost most: {sample}\t{metric}\t-{loss:.4f}")
    for sample in found.lost:
        print(f"warning: {sample} is missing from the second run.", file=sys.stderr)


def _arrow(higher_is_better: bool) -> str:
    return "higher is better" if higher_is_better else "lower is better"

"""`penstock eval`: benchmarks listed, run, scored, compared and reported."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.options import (
    ApiKey,
    AsJson,
    InFlight,
    Lang,
    LayoutModel,
    Model,
    Preset,
    Servers,
    recipe_options,
)
from penstock.errors import MissingModel, UsageError, install_advice

if TYPE_CHECKING:
    from penstock.evaluate.compare import Comparison
    from penstock.evaluate.results import Summary

app = typer.Typer(
    help="Scores with confidence intervals: list, run, score, compare, report.",
    epilog="Example: penstock eval score omnidocbench predictions/ --data OmniDocBench/ -o scores",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Bench = Annotated[str, typer.Argument(help="A benchmark's name; see `penstock eval list`.", metavar="BENCH")]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="The data set's folder or file; default: downloaded from the Hub."),
]
Protocol = Annotated[str, typer.Option("--protocol", help="Version of the rules, e.g. v1.6; default: v1.5.")]
Cdm = Annotated[bool, typer.Option("--cdm", help="Render formulas for CDM; needs a TeX.")]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Scoring processes, 0 for none; default: one a core.", min=0)
]
ScoresOut = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for results; resumes by itself.")]
Scored = Annotated[Path, typer.Argument(help="A folder that `eval score` wrote.", metavar="SCORES")]


@app.command("list", epilog="Example: penstock eval list --json")
def list_benchmarks(as_json: AsJson = False) -> None:
    """List the benchmarks: what they score, and which files each reads."""
    _need_packages()
    from penstock.evaluate.benchmarks import BENCHMARKS, benchmark_class

    kinds = [benchmark_class(name) for name in BENCHMARKS]
    rows: list[dict[str, Any]] = [
        {
            "name": k.name,
            "title": k.title,
            "metrics": list(k.metrics),
            "reads": k.layout,
            "hub": k.hub[0] if k.hub else None,
        }
        for k in kinds
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        where = f"; on the Hub: {row['hub']}" if row["hub"] else ""
        print(f"{row['name']}\t{row['title']}\t{', '.join(row['metrics'])}\treads {row['reads']}{where}")


@app.command(epilog="Example: penstock eval score dpbench markdown/ --data dp-bench/ -o scores")
def score(
    bench: Bench,
    predictions: Annotated[
        Path, typer.Argument(help="Folder of files named after samples, or JSON.", metavar="PREDICTIONS")
    ],
    data: Data = None,
    out: ScoresOut = None,
    protocol: Protocol = "",
    cdm: Cdm = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Score predictions of any tool against a benchmark. Writes samples.jsonl, summary.json, report.html."""
    _need_packages()
    from penstock.evaluate.datasets import folder_for
    from penstock.evaluate.scoring import score_folder

    benchmark = _benchmark(bench, protocol, cdm)
    source, progress = folder_for(benchmark, data), _progress(as_json)
    with _alone_in(out):
        outcome = score_folder(benchmark, source, predictions, out, workers=workers, progress=progress)
        _finish(outcome.summary, out, as_json)


@app.command(
    epilog="Example: penstock eval run omnidocbench --data OmniDocBench/ --recipe documents -o scores"
)
def run(
    bench: Bench,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for predictions and results.")],
    data: Data = None,
    recipe: Annotated[
        str, typer.Option("--recipe", help="The recipe that reads the pictures.")
    ] = "documents",
    lang: Lang = None,
    layout: Annotated[str | None, typer.Option(help="How regions are found; see parse.")] = None,
    server: Servers = None,
    model: Model = None,
    layout_model: LayoutModel = None,
    preset: Preset = None,
    in_flight: InFlight = None,
    api_key: ApiKey = None,
    protocol: Protocol = "",
    cdm: Cdm = False,
    limit: Annotated[int, typer.Option("--limit", help="Only the first N samples; 0 takes all.", min=0)] = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Run a recipe on a benchmark's pictures, then score it. Pictures read before are not read again."""
    options = recipe_options(locals())
    _need_packages()
    from penstock.evaluate.datasets import folder_for, with_pictures
    from penstock.evaluate.running import predict
    from penstock.evaluate.scoring import samples_of, score_samples

    benchmark, progress = _benchmark(bench, protocol, cdm), _progress(as_json)
    samples = samples_of(benchmark, folder_for(benchmark, data))
    with _alone_in(out):
        samples = with_pictures(samples[:limit] if limit else samples, out / "pictures")
        given = predict(samples, out, recipe, options, progress)
        outcome = score_samples(benchmark, samples, given, out, workers=workers, progress=progress)
        _finish(outcome.summary, out, as_json)


@app.command(epilog="Example: penstock eval compare scores-main scores-branch --fail-if worse")
def compare(
    first: Scored,
    second: Scored,
    fail_if: Annotated[
        str, typer.Option("--fail-if", help="`worse`: exit with 1 when the second is worse.")
    ] = "",
    alpha: Annotated[
        float, typer.Option(help="Level of the test over all metrics (Holm).", min=0, max=1)
    ] = 0.05,
    tolerance: Annotated[
        float, typer.Option(help="Falls of a mean up to this count as the same.", min=0)
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Compare two scored runs on the samples they share, with a paired test for each metric."""
    if fail_if not in ("", "worse"):
        raise UsageError(f"--fail-if knows `worse`, not {fail_if!r}.")
    _need_packages()
    from penstock.evaluate.compare import compare_folders

    found = compare_folders(first, second, alpha, tolerance)
    if as_json:
        print(json.dumps({**asdict(found), "is_worse": found.is_worse}, ensure_ascii=False, indent=1))
    else:
        _show_comparison(found)
    if fail_if and found.is_worse:
        raise typer.Exit(1)


@app.command(epilog="Example: penstock eval report scores --metric table_teds")
def report(
    folder: Scored,
    metric: Annotated[
        str, typer.Option(help="Order the worst cases by this; default: the first there is.")
    ] = "",
    cases: Annotated[int, typer.Option(help="How many of the worst cases to show.", min=0)] = 20,
) -> None:
    """Write report.html: scores, slices, and the worst cases with picture, truth and prediction."""
    _need_packages()
    from penstock.evaluate.report import write_report

    print(write_report(folder, metric, cases))


def _need_packages() -> None:
    """The extra's packages, asked for by name before anything imports them."""
    from importlib.util import find_spec

    missing = [name for name in ("rapidfuzz", "scipy", "lxml", "pylatexenc") if find_spec(name) is None]
    if missing:
        raise MissingModel(f"Evaluation needs {', '.join(missing)}.", install_advice("eval"))


def _benchmark(name: str, protocol: str, cdm: bool) -> Any:
    from dataclasses import fields, replace

    from penstock.evaluate.benchmarks import open_benchmark

    benchmark = open_benchmark(name, protocol)
    if not cdm:
        return benchmark
    if "cdm" not in {field.name for field in fields(benchmark)}:
        raise UsageError(f"{benchmark.title} has no formulas to render.", "Leave --cdm out.")
    from penstock.evaluate.metrics.formula_render import tex

    tex()  # says at once what to install, not after an hour of scoring
    changed: Any = replace(benchmark, cdm=True)  # type: ignore[call-arg]  # a field of those that render
    return changed


def _alone_in(out: Path | None) -> AbstractContextManager[None]:
    """Raises OutLocked where another process scores into the same folder."""
    from penstock.store.lock import holding

    return nullcontext() if out is None else holding(out)


def _progress(as_json: bool) -> Any:
    def show(done: int, total: int) -> None:
        if not as_json and sys.stderr.isatty():
            print(f"\r{done}/{total}", end="" if done < total else "\n", file=sys.stderr, flush=True)

    return show


def _finish(summary: Summary, out: Path | None, as_json: bool) -> None:
    if out is not None:
        from penstock.evaluate.report import write_report

        write_report(out)
    if as_json:
        print(summary.as_json())
        return
    print(f"{summary.benchmark}, {summary.protocol}: {summary.count} samples")
    for name, interval in summary.scores.items():
        print(f"{name}\t{interval}\tn={interval.count}\t{_arrow(summary.higher_is_better[name])}")
    for name, value in summary.extra.items():
        print(f"{name}\t{value:.4f}")
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

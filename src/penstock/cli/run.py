"""`penstock run`: a whole pipeline, from a dataset to scores and the Hub."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from penstock.cli.options import AsJson, Config, HfToken, Log, Precision, words
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.passes.pipeline import Options

PIPELINES = ("kopub",)
RESUME_HELP = "Go on where it stopped; it does so anyway."
LAYOUT_HELP = "How regions are found: model, rules; pp-doclayoutv3, cdla by server."
Inputs = Annotated[
    list[str] | None, Argument(help="Pages of your own instead of the dataset.", metavar="[INPUT]...")
]
# options that the pipeline calls as the command line does
SAME_NAME = (
    "recipe", "queries", "layout", "limit", "ocr_model", "ocr_dtype", "gpu_mem_util", "batch_size", "workers",
    "embedding_model", "embedding_server", "precision",
)  # fmt: skip


def run(
    pipeline: Annotated[str, Argument(help="Which pipeline: kopub.", metavar="PIPELINE")],
    inputs: Inputs = None,
    recipe: Annotated[str, Option(help="embedded (any CPU), or a recipe that reads by server.")] = "embedded",
    step: Annotated[str | None, Option(help="Only ocr, embed or upload.")] = None,
    skip: Annotated[str, Option(help="Steps to leave out: index,evaluate,...")] = "",
    resume: Annotated[bool, Option("--resume", help=RESUME_HELP, show_default=False)] = True,
    output_dir: Annotated[Path, Option(help="Folder for the results.")] = Path("output"),
    data_dir: Annotated[Path, Option(help="Folder the dataset is downloaded to.")] = Path("data"),
    dataset: Annotated[str | None, Option(help="Name on the Hub, or a folder; KoPub when not given.")] = None,
    queries: Annotated[Path | None, Option(help="Questions with the pages that answer them.")] = None,
    limit: Annotated[int | None, Option(help="Only the first N pages.", min=1)] = None,
    layout: Annotated[str | None, Option(help=LAYOUT_HELP)] = None,
    no_crops: Annotated[bool, Option("--no-crops", help="Keep no crops of pictures and charts.")] = False,
    ocr_model: Annotated[str, Option(help="The recogniser that is served.")] = "glm-ocr",
    ocr_dtype: Annotated[str, Option(help="Numbers it computes with: fp8, bf16, auto.")] = "fp8",
    gpu_mem_util: Annotated[float, Option(help="Share of the card's memory for it.", min=0.1, max=1)] = 0.80,
    batch_size: Annotated[int, Option(help="Pages of a layout batch.", min=1)] = 8,
    workers: Annotated[int, Option(help="Requests under way at once.", min=1)] = 128,
    server: Annotated[list[str] | None, Option(help="A server that reads already; may be repeated.")] = None,
    embedding_model: Annotated[str | None, Option(help="The embedder that is served.")] = None,
    embedding_server: Annotated[str | None, Option(help="A server that embeds already.")] = None,
    precision: Precision = "float32",
    hf_repo: Annotated[str | None, Option(help="Dataset on the Hub to upload to.")] = None,
    hf_token: HfToken = None,
    public: Annotated[
        bool, Option("--public", help="Upload for all to see; private when not given.")
    ] = False,
    config: Config = None,
    log: Log = None,
    as_json: AsJson = False,
) -> None:
    """Read, embed, index, score and upload a dataset of pages. Run it again to go on where it stopped."""
    _run(dict(locals()))


def _run(given: dict[str, Any]) -> None:
    if given["pipeline"] not in PIPELINES:
        raise UsageError(
            f"There is no pipeline {given['pipeline']!r}.", f"Choose from: {', '.join(PIPELINES)}."
        )
    from penstock.passes.pipeline import Pipeline, chosen_steps, summary_json, summary_lines

    made = Pipeline(_options(given))
    as_json = given["as_json"]
    for line in made.run(chosen_steps(given["step"], tuple(words(given["skip"])))):
        print(line, file=sys.stderr if as_json else sys.stdout, flush=True)
    print(summary_json(made.state) if as_json else "\n".join(["", *summary_lines(made.state)]))
    if made.state.failed:
        raise typer.Exit(1)


def _options(given: dict[str, Any]) -> Options:
    from penstock.passes.kopub import DATASET
    from penstock.passes.pipeline import Options

    return Options(
        **{name: given[name] for name in SAME_NAME},
        out=given["output_dir"],
        data=given["data_dir"],
        dataset=given["dataset"] or DATASET,
        inputs=tuple(given["inputs"] or ()),
        crops=not given["no_crops"],
        servers=tuple(given["server"] or ()),
        repo=given["hf_repo"],
        private=not given["public"],
        token=given["hf_token"],
    )

"""`penstock run`: a whole pipeline, from a dataset to scores and the Hub."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from penstock.cli.options import (
    AsJson,
    Config,
    CropNames,
    Engine,
    HfToken,
    Licence,
    Log,
    LogLevel,
    Precision,
    Quiet,
    recipe_settings,
    with_recipe_options,
    words,
)
from penstock.cli.progress import progress
from penstock.trace.phrases import duration, plural

if TYPE_CHECKING:
    from penstock.passes.pipeline_options import PipelineOptions, PipelineState
    from penstock.passes.scores import Summary

RECIPE_HELP = "builtin (any CPU), or one that reads by server; glm-ocr if not given and there is a GPU."
RESUME_HELP = "Go on where it stopped; it does so anyway."
LAYOUT_HELP = "How regions are found: model, rules, pp-doclayoutv3; pp-doclayoutv3, cdla by server; or auto."
Pipelines = Annotated[
    str, Argument(help="Which: kopub, or pages for a data set of your own.", metavar="PIPELINE")
]
Inputs = Annotated[
    list[str] | None, Argument(help="Pages of your own instead of a data set.", metavar="[INPUT]...")
]


@with_recipe_options
def run(
    pipeline: Pipelines,
    more: dict[str, Any],
    inputs: Inputs = None,
    recipe: Annotated[str, Option(help=RECIPE_HELP)] = "",
    step: Annotated[str | None, Option(help="Only ocr, embed or upload.")] = None,
    skip: Annotated[str, Option(help="Steps to leave out: index,evaluate,...")] = "",
    resume: Annotated[bool, Option("--resume", help=RESUME_HELP, show_default=False)] = True,
    output_dir: Annotated[Path, Option(help="Folder for the results.")] = Path("output"),
    data_dir: Annotated[Path, Option(help="Folder the dataset is downloaded to.")] = Path("data"),
    dataset: Annotated[str | None, Option(help="Name on the Hub, or a folder.")] = None,
    revision: Annotated[str, Option(help="Commit, tag or branch of it; the newest when not given.")] = "",
    queries: Annotated[Path | None, Option(help="Questions with the pages that answer them.")] = None,
    limit: Annotated[int | None, Option(help="Only the first N pages.", min=1)] = None,
    layout: Annotated[str | None, Option(help=LAYOUT_HELP)] = None,
    engine: Engine = None,
    no_crops: Annotated[bool, Option("--no-crops", help="Keep no crops of pictures and charts.")] = False,
    crop_names: CropNames = None,
    ocr_model: Annotated[str, Option(help="The model that is served; the recipe's own when not given.")] = "",
    ocr_dtype: Annotated[str, Option(help="Numbers it computes with: auto, bf16, fp8.")] = "auto",
    preset: Annotated[str, Option(help="Flags of servers that are started; see engine.")] = "auto",
    gpu_mem_util: Annotated[
        float | None, Option(help="Share of the card's memory for it; the preset's own.", min=0.1, max=1)
    ] = None,
    batch_size: Annotated[int, Option(help="Pages of a layout batch.", min=1)] = 8,
    workers: Annotated[int | None, Option(help="Requests at once; the preset's own.", min=1)] = None,
    server: Annotated[list[str] | None, Option(help="A server that reads already; may be repeated.")] = None,
    embedding_model: Annotated[str | None, Option(help="The embedder that is served.")] = None,
    embedding_server: Annotated[str | None, Option(help="A server that embeds already.")] = None,
    enrich: Annotated[bool, Option("--enrich", help="Summarise tables and pictures too.")] = False,
    precision: Precision = "float32",
    hf_repo: Annotated[str | None, Option(help="Dataset on the Hub to upload to.")] = None,
    hf_token: HfToken = None,
    public: Annotated[bool, Option("--public", help="Upload for all to see, not in private.")] = False,
    licence: Licence = "",
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read, embed, index, score and upload a dataset of pages. Run it again to go on where it stopped."""
    from penstock.passes.pipeline_options import PipelineOptions
    from penstock.passes.pipeline_presets import preset_of

    options = PipelineOptions(
        out=output_dir, data=data_dir, source_preset=preset_of(pipeline), dataset=dataset or "",
        revision=revision, inputs=tuple(inputs or ()), recipe=recipe, queries=queries, layout=layout,
        limit=limit, settings=recipe_settings(engine=engine, **more),
        crops=not no_crops, crop_names=crop_names, ocr_model=ocr_model, ocr_dtype=ocr_dtype,
        vision=more.get("vision", "auto"), preset=preset,
        gpu_mem_util=gpu_mem_util, batch_size=batch_size, workers=workers,
        servers=tuple(server or ()), enrich=enrich,
        embedding_model=embedding_model, embedding_server=embedding_server, precision=precision,
        repo=hf_repo, private=not public, token=hf_token, licence=licence,
    )  # fmt: skip
    _run(options, step, words(skip), as_json, quiet)


def _run(options: PipelineOptions, step: str | None, skip: list[str], as_json: bool, quiet: bool) -> None:
    from penstock.passes.pipeline import Pipeline
    from penstock.passes.pipeline_check import chosen_steps
    from penstock.store.arrow import leave_pandas_out

    leave_pandas_out()
    pipeline = Pipeline(options, progress(quiet or as_json))
    for line in pipeline.run(chosen_steps(step, tuple(skip))):
        if not quiet:
            print(line, file=sys.stderr if as_json else sys.stdout, flush=True)
    state = pipeline.state
    if as_json:
        print(_summary_json(state))
    elif not quiet:
        print("\n".join(["", *_summary_lines(state)]))
    elif state.failed:
        print(f"failed: {plural(state.failed, 'page')}", file=sys.stderr)
    if state.failed:
        raise typer.Exit(1)


def _summary_lines(state: PipelineState) -> list[str]:
    """The end of a run for people: pages, shapes, scores, times."""
    lines = []
    if state.pages:
        lines.append("pages: " + ", ".join(f"{count} {name}" for name, count in state.pages.items()))
    if state.estimate:
        lines.append(
            f"all {state.estimate['pages']:,} pages: {duration(state.estimate['seconds'])} at this rate"
        )
    if state.blocks:
        lines.append("blocks: " + ", ".join(f"{count} {name}" for name, count in state.blocks.items()))
    if state.embedded:
        shapes = state.embedded.shapes.items()
        lines += [f"embeddings/{name}.npy: {' x '.join(map(str, shape))}" for name, shape in shapes]
    for source, summary in state.scores.items():
        lines += _score_lines(source, summary)
    if state.url:
        lines.append(f"uploaded: {state.url}")
    lines.append("seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in state.seconds.items()))
    return lines


def _score_lines(source: str, summary: Summary) -> list[str]:
    from penstock.passes.upload import SHOWN_SCORES

    shown = [f"{name} {summary.scores[name]}" for name in SHOWN_SCORES if name in summary.scores]
    slices = [
        f"  {label}: ndcg@10 {values['ndcg@10']}, recall@10 {values['recall@10']}"
        for label, values in summary.slices.items()
    ]
    return [f"retrieval by {source}: {', '.join(shown)}", *slices]


def _summary_json(state: PipelineState) -> str:
    return json.dumps(
        {
            "pages": state.pages,
            "estimate": state.estimate or None,
            "blocks": state.blocks,
            "revision": state.revision,
            "embedded": state.embedded.facts() if state.embedded else None,
            "scores": {name: {k: i.mean for k, i in s.scores.items()} for name, s in state.scores.items()},
            "uploaded": state.url,
            "seconds": state.seconds,
        },
        ensure_ascii=False,
    )

"""Runs a pipeline for `penstock run`, and shows what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import typer

from penstock.cli.running.progress import progress
from penstock.options.option import values_of, without, words
from penstock.options.passes import PRECISION
from penstock.options.reading import READING
from penstock.passes.pipeline import Pipeline
from penstock.passes.pipeline_check import chosen_steps
from penstock.passes.pipeline_options import PipelineOptions, PipelineState
from penstock.passes.pipeline_presets import preset_of
from penstock.passes.scores import Summary
from penstock.passes.upload import SHOWN_SCORES
from penstock.store.arrow import leave_pandas_out
from penstock.trace.phrases import duration, plural

# of the servers that a pipeline starts itself, by their names in PipelineOptions
OF_SERVERS = {
    "server": "servers", "preset": "preset", "ocr_dtype": "ocr_dtype", "gpu_mem_util": "gpu_mem_util",
    "vision": "vision",
}  # fmt: skip


def options_of(pipeline: str, given: Mapping[str, Any], **own: Any) -> PipelineOptions:
    """Returns the options of a pipeline: the table's that were given, and those that only pipelines have."""
    settings = values_of(without(READING, *OF_SERVERS), given)
    served = {OF_SERVERS[name]: given[name] for name in OF_SERVERS if name in given}
    if "servers" in served:
        served["servers"] = tuple(served["servers"])
    precision = values_of([PRECISION], given)
    return PipelineOptions(source_preset=preset_of(pipeline), settings=settings, **served, **precision, **own)


def run_pipeline(
    options: PipelineOptions, step: str | None, skip: str, *, as_json: bool, quiet: bool
) -> None:
    """Runs the steps, shows what came of them, and sets the exit code."""
    leave_pandas_out()
    pipeline = Pipeline(options, progress(quiet or as_json))
    for line in pipeline.run(chosen_steps(step, tuple(words(skip)))):
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

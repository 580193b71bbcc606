"""Runs a whole pipeline, and brings a run to the Hub."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from penstock.converted.python_terms import in_python_terms
from penstock.passes.pipeline import Pipeline
from penstock.passes.pipeline_check import chosen_steps
from penstock.passes.pipeline_options import PipelineOptions, PipelineState
from penstock.passes.pipeline_presets import preset_of
from penstock.passes.upload import upload_out


@in_python_terms()
def run(
    pipeline: str,
    options: PipelineOptions,
    *,
    step: str | None = None,
    skip: Sequence[str] = (),
    on_line: Callable[[str], None] = print,
) -> PipelineState:
    """Runs a pipeline, "kopub" or "pages", and goes on where it stopped. Returns what its steps made.

    `step` is "ocr", "embed" or "upload" alone; `skip` are steps to leave out. `on_line` gets a line for
    each thing done.

        options = penstock.PipelineOptions(out=Path("out"), data=Path("data"), inputs=("scans/",))
        state = penstock.run("pages", options, skip=["evaluate"])
        print(state.pages, state.seconds)
    """
    work = Pipeline(replace(options, source_preset=preset_of(pipeline)))
    for line in work.run(chosen_steps(step, tuple(skip))):
        on_line(line)
    return work.state


@in_python_terms()
def upload(
    out: str | Path, repo: str, *, token: str | None = None, private: bool = True, licence: str = ""
) -> str:
    """Uploads a run to the Hugging Face Hub as a dataset. Returns its address."""
    return upload_out(Path(out), repo, token, private, licence)

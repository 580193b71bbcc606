"""`penstock run`: a whole pipeline, from a dataset to scores and the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument

from penstock.cli.options import (
    AsJson,
    CropNames,
    HfToken,
    Licence,
    Quiet,
    of_input,
    of_output,
    of_reading,
    of_running,
    of_servers,
    with_options,
)
from penstock.options.option import without
from penstock.options.passes import PRECISION
from penstock.options.reading import READING

RECIPE_HELP = (
    "builtin (any CPU), or a recipe with a model server. Default: glm-ocr on a GPU, otherwise builtin."
)
RESUME_HELP = "Go on where the last run stopped. It does so without this option, too."
Pipelines = Annotated[str, Argument(help="kopub, or pages for a data set of your own.", metavar="PIPELINE")]
Inputs = Annotated[
    list[str] | None, Argument(help="Pages of your own instead of a data set.", metavar="[INPUT]...")
]


@with_options(*without(READING, "crops", "in_flight", "model", "api_key"), PRECISION)
def run(
    pipeline: Pipelines,
    given: dict[str, Any],
    inputs: Inputs = None,
    recipe: Annotated[str, of_reading(help=RECIPE_HELP)] = "",
    step: Annotated[str | None, of_running(help="Run only this step: ocr, embed or upload.")] = None,
    skip: Annotated[str, of_running(help="Steps to leave out: index,evaluate,...")] = "",
    resume: Annotated[bool, of_running("--resume", help=RESUME_HELP, show_default=False)] = True,
    output_dir: Annotated[Path, of_output(help="Folder for the results.")] = Path("output"),
    data_dir: Annotated[Path, of_input(help="Folder that the dataset is downloaded to.")] = Path("data"),
    dataset: Annotated[str | None, of_input(help="Dataset: a name on the Hub, or a folder.")] = None,
    revision: Annotated[
        str, of_input(help="Commit, tag or branch of the dataset. Default: the newest.")
    ] = "",
    queries: Annotated[
        Path | None, of_input(help="File of questions with the pages that answer them.")
    ] = None,
    limit: Annotated[int | None, of_input(help="Read only the first N pages.", min=1)] = None,
    no_crops: Annotated[bool, of_output("--no-crops", help="Keep no crops of pictures and charts.")] = False,
    crop_names: CropNames = None,
    ocr_model: Annotated[
        str, of_servers(help="Model that reads: a folder or a name on the Hub. Default: the recipe's.")
    ] = "",
    batch_size: Annotated[
        int | None, of_running(help="Pages in a batch of the layout network. Default: 8.", min=1)
    ] = None,
    workers: Annotated[
        int | None, of_running(help="Number of requests at once. Default: the preset's.", min=1)
    ] = None,
    embedding_model: Annotated[str | None, of_servers(help="Model that embeds.")] = None,
    embedding_server: Annotated[
        str | None, of_servers(help="Address of an embedding server that is already running.")
    ] = None,
    enrich: Annotated[bool, of_running("--enrich", help="Summarise tables and pictures as well.")] = False,
    hf_repo: Annotated[str | None, of_servers(help="Dataset on the Hub to upload to.")] = None,
    hf_token: HfToken = None,
    public: Annotated[
        bool, of_servers("--public", help="Upload to a public dataset. Default: private.")
    ] = False,
    licence: Licence = "",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read, embed, index, score and upload a dataset of pages. Run it again to go on where it stopped."""
    from penstock.cli.running.run import options_of, run_pipeline

    options = options_of(
        pipeline, given,
        out=output_dir, data=data_dir, dataset=dataset or "", revision=revision, inputs=tuple(inputs or ()),
        recipe=recipe, queries=queries, limit=limit, crops=not no_crops, crop_names=crop_names,
        ocr_model=ocr_model, batch_size=batch_size, workers=workers,
        enrich=enrich, embedding_model=embedding_model, embedding_server=embedding_server,
        repo=hf_repo, private=not public, token=hf_token, licence=licence,
    )  # fmt: skip
    run_pipeline(options, step, skip, as_json=as_json, quiet=quiet)

"""`penstock volumes`: photos to things with dimensions, volumes and Gaussian clouds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli.options import AsJson, Quiet, Results, of_output, with_options
from penstock.options.option import words
from penstock.options.photos import PHOTO_READING, SAID, SAM3D, SAME_ROOM
from penstock.options.running import EXECUTOR, FRESH, RETRY_FAILED

Photos = Annotated[list[str], typer.Argument(help="Photos, folders or globs.", metavar="PHOTO...")]
EXPORT_HELP = "Files to write: objects, report, splat, turntable (GIFs; 1 s of a core for each object)."


@with_options(*SAID, SAME_ROOM, *PHOTO_READING, *SAM3D.values(), EXECUTOR, RETRY_FAILED, FRESH)
def volumes(
    photos: Photos,
    out: Results,
    given: dict[str, Any],
    export: Annotated[str, of_output(help=EXPORT_HELP)] = "objects,report",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure the things in photos: W x D x H, volume, a Gaussian PLY and a report for customers."""
    from penstock.cli.running.volumes import measure

    measure(photos, given, out, words(export), as_json=as_json, quiet=quiet)

"""`penstock export`: the files people read, written again from a run's rows."""

from __future__ import annotations

import json
from typing import Annotated

from penstock.cli.options import (
    FORMAT_NAMES,
    AsJson,
    CropNames,
    Out,
    of_input,
    of_output,
    some_of,
    with_options,
)
from penstock.errors import UsageError
from penstock.options.option import words

PHOTO_NAMES = ("objects", "report", "splat", "turntable")


@with_options()
def export(
    out: Out,
    to: Annotated[
        str,
        of_output(
            "--to",
            help=f"Files to write. Pages: {', '.join(FORMAT_NAMES)}. Photos: {', '.join(PHOTO_NAMES)}.",
            autocompletion=some_of(*FORMAT_NAMES, *PHOTO_NAMES),
        ),
    ] = "md,jsonl",
    password: Annotated[
        str | None, of_input(help="Password of encrypted PDFs, whose pages are rendered again.")
    ] = None,
    crop_names: CropNames = None,
    anchors: Annotated[
        bool, of_output("--anchors", help="Put the locator of each region into Markdown, unseen.")
    ] = False,
    at: Annotated[
        str | None, of_output(help="Print what stands at this locator: penstock:report.pdf/p3/r7.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write Markdown, JSON lines, searchable PDFs or overlays from a run's rows."""
    from penstock.exports.export import export as write

    if at is not None:
        from penstock.cli.running.locate import show

        show(out, at, as_json)
        return
    if not words(to):
        raise UsageError("--to names no format.", f"Choose from: {', '.join((*FORMAT_NAMES, *PHOTO_NAMES))}.")
    written = [str(path) for path in write(out, words(to), password, crop_names, anchors)]
    print(json.dumps(written, ensure_ascii=False) if as_json else "\n".join(written))

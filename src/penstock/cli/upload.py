"""`penstock upload`: a run to the Hugging Face Hub."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.options import Config, HfToken, Licence, Log, LogLevel, Out


def upload(
    out: Out,
    repo: Annotated[str, typer.Option("--repo", help="Dataset on the Hub: NAME/DATASET.")],
    hf_token: HfToken = None,
    public: Annotated[bool, typer.Option("--public", help="For all to see; private when not given.")] = False,
    licence: Licence = "",
    config: Config = None,
    log: Log = None,
    log_level: LogLevel = "info",
) -> None:
    """Upload a run as a dataset with a card. What is there already is not sent again."""
    from penstock.passes.upload import upload_out

    print(upload_out(out, repo, hf_token, private=not public, licence=licence))

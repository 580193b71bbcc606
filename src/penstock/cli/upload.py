"""`penstock upload`: a run to the Hugging Face Hub."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.options import Config, HfToken, Log, Out


def upload(
    out: Out,
    repo: Annotated[str, typer.Option("--repo", help="Dataset on the Hub: NAME/DATASET.")],
    hf_token: HfToken = None,
    public: Annotated[bool, typer.Option("--public", help="For all to see; private when not given.")] = False,
    config: Config = None,
    log: Log = None,
) -> None:
    """Upload a run as a dataset with a card. What is there already is not sent again."""
    from penstock.errors import UsageError
    from penstock.passes.pipeline import upload_run
    from penstock.search.to_embed import need_pages
    from penstock.sources import hub

    need_pages(out)
    if not hub.has_token(hf_token):
        raise UsageError("Uploading needs a token.", "Set HF_TOKEN or give --hf-token.")
    print(upload_run(out, repo, hf_token, private=not public))

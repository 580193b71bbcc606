"""`penstock upload`: a run to the Hugging Face Hub."""

from __future__ import annotations

from typing import Annotated

from penstock.cli.options import HfToken, Licence, Out, of_servers, with_options


@with_options()
def upload(
    out: Out,
    repo: Annotated[str, of_servers("--repo", help="Dataset on the Hub: NAME/DATASET.")],
    hf_token: HfToken = None,
    public: Annotated[
        bool, of_servers("--public", help="Make the dataset public. Default: private.")
    ] = False,
    licence: Licence = "",
) -> None:
    """Upload a run as a dataset with a card. What is there already is not sent again."""
    from penstock.passes.upload import upload_out

    print(upload_out(out, repo, hf_token, private=not public, licence=licence))

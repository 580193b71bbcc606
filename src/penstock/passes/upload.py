"""Brings a run to the Hugging Face Hub, with a card that says how it was made and how well it is found."""

from __future__ import annotations

from pathlib import Path

from penstock.errors import StoreError, UsageError
from penstock.passes.hub.card import card
from penstock.passes.hub.front_matter import check_licence
from penstock.passes.scores import FOLDER, SUMMARY, Interval, read_summary
from penstock.sources.remote import hub
from penstock.store.contents import OURS
from penstock.store.out import Out
from penstock.store.ownership import is_ours

SHOWN_SCORES = ("recall@1", "recall@5", "recall@10", "ndcg@10", "mrr@10", "recall@10-dup", "ndcg@10-dup")


def need_token(token: str | None) -> None:
    """Raises UsageError where there is none to upload with."""
    if not hub.has_token(token):
        raise UsageError("Uploading needs a token.", "Set HF_TOKEN or give --hf-token.")


def upload_out(
    folder: Path, repo: str, token: str | None = None, private: bool = True, licence: str = ""
) -> str:
    """Uploads OUT and checks that every file arrived. Returns its address on the Hub."""
    check_licence(licence)
    out = Out(folder)
    out.need_rows()
    need_token(token)
    run = out.run()
    text = card(out, str(run.get("dataset", "")), str(run.get("revision", "")), scores_of(out), licence)
    own, others = files_of(folder)
    url = hub.upload(folder, repo, text, token, private, names=OURS, without=others)
    there = set(hub.remote_files(repo, token))
    left = [name for name in own if name not in there and hub.is_uploaded(name)]
    if left:
        raise StoreError(f"{len(left)} files did not arrive, first {left[0]}.", "Run the same command again.")
    return url


def files_of(out: Path) -> tuple[list[str], list[str]]:
    """Returns the files in OUT's folders by name: those that Penstock made, and those of somebody else."""
    own: list[str] = []
    others: list[str] = []
    for top in OURS:
        found = [out / top, *sorted((out / top).rglob("*"))]
        for path in (path for path in found if path.is_file() or path.is_symlink()):
            (own if is_ours(out, path) else others).append(path.relative_to(out).as_posix())
    return own, others


def scores_of(out: Out) -> dict[str, dict[str, str]]:
    """Returns what was scored of OUT, by this call or an earlier one, for the card."""
    found = {}
    for path in sorted((out / FOLDER).glob(f"*/{SUMMARY}")):
        scores = {name: str(Interval(**row)) for name, row in read_summary(path)["scores"].items()}
        found[path.parent.name] = {name: scores[name] for name in SHOWN_SCORES if name in scores}
    return found

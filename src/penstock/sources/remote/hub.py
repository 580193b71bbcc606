"""Downloads datasets from the Hugging Face Hub at a pinned revision, and uploads results with a card.

Downloads and uploads resume when the same command runs again. The token comes from the caller or the
environment (HF_TOKEN); it goes to the client and is never written or printed.
"""

from __future__ import annotations

import contextlib
import glob
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from penstock.errors import MissingModel, StoreError, UsageError, first_line, install_advice

# of OUT: what only this machine needs, and what can be made again from the rest
# and never what people sent to the service: the results are published, not the documents
NOT_UPLOADED = (
    ".penstock/**", "**/.penstock/**", ".cache/**", "embed/**", "index/**", "trace.jsonl",
    "uploads/**", "downloads/**", "unfinished/**", "jobs/**", "damaged/**",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A dataset on disk, and the commit it is."""

    repo: str
    revision: str
    folder: Path


def download(
    repo: str,
    folder: Path,
    revision: str | None = None,
    token: str | None = None,
    files: Sequence[str] = (),
) -> Snapshot:
    """Downloads a dataset's files that match the patterns `files` (all without any).

    Takes `revision`, or the newest. Does not fetch a file that is already there.
    """
    hub = _client()
    with _our_errors(repo, token):
        commit = str(hub.HfApi(token=token).dataset_info(repo, revision=revision).sha)
        hub.snapshot_download(
            repo,
            repo_type="dataset",
            revision=commit,
            local_dir=str(folder),
            token=token,
            allow_patterns=list(files) or None,
        )
    return Snapshot(repo, commit, folder)


def commit_of(repo: str, revision: str | None) -> str:
    """Returns the commit that a revision of a dataset, or the newest, is now."""
    hub = _client()
    with _our_errors(repo, None):
        return str(hub.HfApi().dataset_info(repo, revision=revision).sha)


def tree(repo: str, commit: str) -> Iterator[tuple[str, int, str]]:
    """Yields name, size and hash of each file of a dataset as the Hub sends them."""
    hub = _client()
    with _our_errors(repo, None):
        for entry in hub.HfApi().list_repo_tree(repo, recursive=True, revision=commit, repo_type="dataset"):
            if isinstance(entry, hub.hf_api.RepoFile):
                yield entry.path, entry.size, entry.blob_id


def download_file(repo: str, name: str, commit: str, folder: Path) -> None:
    """Downloads one file of a dataset below a folder."""
    hub = _client()
    with _our_errors(repo, None):
        hub.HfApi().hf_hub_download(repo, name, repo_type="dataset", revision=commit, local_dir=str(folder))


def upload(
    out: Path,
    repo: str,
    card: str,
    token: str | None = None,
    private: bool = True,
    *,
    names: Sequence[str],
    without: Sequence[str] = (),
) -> str:
    """Uploads what is below `names` in the folder as a dataset, with the card as README.md.

    Leaves out the files `without`. Returns the address.
    """
    hub = _client()
    with _our_errors(repo, token):
        api = hub.HfApi(token=token)
        made = api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        where = {"repo_id": made.repo_id, "repo_type": "dataset"}
        # since 2.0 this is what upload_large_folder was: parts, several commits, resumed when run again
        api.upload_folder(
            folder_path=str(out),
            commit_message="Results of a Penstock run",
            allow_patterns=[pattern for name in names for pattern in (name, f"{name}/**")],
            ignore_patterns=[*NOT_UPLOADED, "README.md", *map(glob.escape, without)],
            **where,
        )
        api.upload_file(
            path_or_fileobj=card.encode(), path_in_repo="README.md", commit_message="Card", **where
        )
    return str(made)


def remote_files(repo: str, token: str | None = None) -> list[str]:
    """Returns the names of the dataset's files on the Hub."""
    hub = _client()
    with _our_errors(repo, token):
        return list(hub.HfApi(token=token).list_repo_files(repo, repo_type="dataset"))


def is_uploaded(name: str) -> bool:
    """Returns whether a file of OUT, by its name below OUT, belongs on the Hub."""
    return not any(fnmatch(name, pattern) for pattern in NOT_UPLOADED)


def has_token(token: str | None) -> bool:
    """Whether there is a token to write with: this one, or the one that the client keeps."""
    return bool(token or _client().get_token())


def check_token(token: str | None) -> None:
    """Raises UsageError where the Hub does not know the token."""
    hub = _client()
    with _our_errors("this token", token):
        try:
            hub.HfApi(token=token).whoami()
        except hub.errors.HfHubHTTPError as exc:
            if getattr(exc.response, "status_code", 0) != 401:
                raise
            raise UsageError(
                "The Hub does not know this token.", "Make one that may write, set HF_TOKEN."
            ) from exc


def _client() -> Any:
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # a bar in a log is a page of noise
    try:
        import huggingface_hub
    except ImportError as exc:
        raise MissingModel("The Hub's client is not installed.", install_advice("hub")) from exc
    return huggingface_hub


@contextlib.contextmanager
def _our_errors(repo: str, token: str | None) -> Iterator[None]:
    """Turns the client's errors into ours, without the token."""
    from httpx2 import RequestError  # what the client talks through, since its version 2
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as exc:
        raise UsageError(f"{repo} is gated.", "Accept its terms on the Hub, then set HF_TOKEN.") from exc
    except errors.RepositoryNotFoundError as exc:
        raise UsageError(
            f"There is no dataset {repo} on the Hub, or this token may not see it.",
            "Check the name and HF_TOKEN.",
        ) from exc
    except errors.HFValidationError as exc:
        raise UsageError(f"{repo!r} is not the name of a dataset.", "Write it like NAME/DATASET.") from exc
    except RequestError as exc:
        raise StoreError(
            f"The Hub cannot be reached for {repo}: {_without_token(exc, token)}.",
            "Check the network (and HF_ENDPOINT), then run the same command again.",
        ) from exc
    except (errors.HfHubHTTPError, errors.LocalTokenNotFoundError, OSError) as exc:
        raise StoreError(
            f"The Hub refused the request for {repo}: {_without_token(exc, token)}",
            "Run the same command again.",
        ) from exc


def _without_token(exc: Exception, token: str | None) -> str:
    line = first_line(exc).rstrip(".")
    return line.replace(token, "***") if token else line

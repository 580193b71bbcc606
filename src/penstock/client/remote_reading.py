"""Lets a service read the documents of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.client.client import Client, ServiceJob
from penstock.errors import UsageError
from penstock.options.reading import READING
from penstock.options.running import RUN
from penstock.sources.inputs import FoundFile, expand


def read_remotely(client: Client, inputs: Sequence[str], given: Mapping[str, Any]) -> ServiceJob:
    """Sends the files of `inputs`, waits, and returns the job. Raises UsageError if no page was read."""
    options = remote_options(given)
    found = (entry.fetched() for entry in expand(inputs) if isinstance(entry, FoundFile))
    files = [file.path for file in found if not file.problem]
    job = client.wait(client.submit(files, **options).id)
    if job.state != "done":
        raise UsageError(job.error or f"The job {job.id} {job.state}: no page was read.")
    return job


def remote_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options to send. Raises UsageError for those that only a run of this machine has."""
    chosen = [one for one in (*RUN, *READING) if given.get(one.name) not in (None, one.default)]
    for option in chosen:
        if not option.remote and option.name != "api_key":  # which is the key of the service
            raise UsageError(f"{option.flag} cannot be combined with --service.", "Leave one of them out.")
    return {one.name: given[one.name] for one in chosen if one.remote}

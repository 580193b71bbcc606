"""The pages of uploads, named after what was sent."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from penstock.choices import OfficeUse
from penstock.errors import Failure, UsageError
from penstock.page import Page
from penstock.photo import Photo
from penstock.sources.listing import list_files
from penstock.sources.probe import FileCounter

Sent = Page | Photo


def listed(
    paths: list[Path],
    kind: type[Sent],
    counter: FileCounter,
    office: OfficeUse = "auto",
    downloads: Path | None = None,
) -> Iterator[tuple[Path, list[Sent]]]:
    """Yields each file with its pages; a file without pages gets one failed page."""
    left = {path.parent.name: path for path in paths}
    home = paths[0].parent.parent.resolve()
    there, place = [home / path.parent.name / path.name for path in paths], len(f"{home}/")
    why = "It holds no page."
    try:
        items = list_files(there, kind, counter, office, downloads)
        sent = itertools.groupby(items, key=lambda item: (item.source or item.uri)[place:].partition("/")[0])
        for folder, pages in sent:
            path = left.pop(folder)
            yield path, [_ours(item, path) for item in pages]
    except UsageError as exc:  # none of the files that are left has a page
        why = exc.message
    for path in left.values():
        failure = Failure(stage="list", kind="BadInput", message=why)
        yield path, [_ours(kind(id="", uri=str(path), document="", failure=failure), path)]


def _ours(item: Sent, path: Path) -> Sent:
    """Names the item after its upload: two datasets may use the same ids."""
    return replace(item, id=f"{path.parent.name}/{item.part:05d}", document=document_of(path))


def document_of(path: Path) -> str:
    """Returns an upload's document name: with its folder, as two files may have the same name.

    It is one and the same string for all who keep it, and many do for as long as the job is kept.
    """
    return sys.intern(f"{path.parent.name}/{path.name}")

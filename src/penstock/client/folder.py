"""Results of a service in a folder, as a run of this machine would have written them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock.client.client import Client
from penstock.client.connection import ServiceError
from penstock.client.results_zip import ZipBounds, unpack
from penstock.errors import UsageError
from penstock.store.atomic_files import store_errors

TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "md": lambda page: f"{page['markdown'].rstrip()}\n" if page["markdown"].strip() else "",
    "text": lambda page: "\n".join(region["content"] for region in page["regions"] if region["content"]),
    "jsonl": lambda page: json.dumps(page, ensure_ascii=False),
}


def fetch_into(
    client: Client, id: str, out: Path, formats: Sequence[str], bounds: ZipBounds | None = None
) -> None:
    """Writes a job's results below `out`. Raises StoreError if what came is not what a service writes."""
    bounds = bounds or ZipBounds()
    with store_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".results-", dir=out) as folder:
            packed = Path(folder) / "results.zip"
            client.save(id, packed, "zip", formats, max_bytes=bounds.max_zip_bytes)
            unpack(packed, out, bounds)


def page_texts(client: Client, id: str, formats: Sequence[str]) -> Iterator[str]:
    """Yields each page as text, for standard output. Raises UsageError for a format that is no text."""
    if len(formats) != 1 or formats[0] not in TEXTS:
        raise UsageError(
            f"Standard output takes one of {', '.join(TEXTS)}, not {','.join(formats)}.",
            "Name a folder for other formats: -o OUT.",
        )
    try:
        for document in json.loads(client.result(id))["documents"]:
            for page in document["pages"]:
                if text := TEXTS[formats[0]](page) if page["valid"] else "":
                    yield text
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as exc:
        raise ServiceError("The service answered with what are no pages of a job.") from exc

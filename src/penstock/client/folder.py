"""Results of a service in a folder, as a run of this machine would have written them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from penstock.client.client import Client
from penstock.errors import StoreError, UsageError

DOWNLOAD = ".results.zip"
TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "md": lambda page: f"{page['markdown'].rstrip()}\n" if page["markdown"].strip() else "",
    "text": lambda page: "\n".join(region["content"] for region in page["regions"] if region["content"]),
    "jsonl": lambda page: json.dumps(page, ensure_ascii=False),
}


def fetch_into(client: Client, id: str, out: Path, formats: Sequence[str]) -> None:
    """Writes a job's results below `out`. Raises StoreError if what came is no ZIP."""
    out.mkdir(parents=True, exist_ok=True)
    path = client.save(id, out / DOWNLOAD, "zip", formats)
    try:
        with zipfile.ZipFile(path) as packed:
            packed.extractall(out)  # it leaves `..` and roots out of names
    except zipfile.BadZipFile as exc:
        raise StoreError(f"The results of job {id} are no ZIP.", "Ask for them again.") from exc
    finally:
        path.unlink(missing_ok=True)


def page_texts(client: Client, id: str, formats: Sequence[str]) -> Iterator[str]:
    """Yields each page as text, for standard output. Raises UsageError for a format that is no text."""
    if len(formats) != 1 or formats[0] not in TEXTS:
        raise UsageError(
            f"Standard output takes one of {', '.join(TEXTS)}, not {','.join(formats)}.",
            "Name a folder for other formats: -o OUT.",
        )
    for document in json.loads(client.result(id))["documents"]:
        for page in document["pages"]:
            if text := TEXTS[formats[0]](page) if page["valid"] else "":
                yield text

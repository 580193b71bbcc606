"""Writes made documents and their truth to a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.errors import UsageError
from penstock.store.atomic_files import replacing
from penstock_eval.benchmarks.office import DOCUMENTS, TRUTH
from penstock_eval.made_documents.grow import FEATURES, grow_documents
from penstock_eval.made_documents.tree import MadeDocument
from penstock_eval.made_documents.truth import asides_of, markdown_of
from penstock_eval.made_documents.writers import WRITERS
from penstock_eval.results import write_text

MARKDOWN = "truth"


def write_documents(folder: Path, count: int, seed: int, formats: Sequence[str] = ()) -> Path:
    """Writes `count` documents of these formats, in turn, and the truth: JSON lines, and Markdown to look at.

    The same arguments write the same bytes. Raises UsageError for a format that is not made.
    """
    unknown = sorted(set(formats) - FEATURES.keys())
    if unknown:
        raise UsageError(f"No {unknown[0]!r} files are made.", f"Use some of {', '.join(FEATURES)}.")
    lines = []
    for document in grow_documents(count, seed, tuple(formats) or tuple(FEATURES)):
        row = _row(document)
        with replacing(folder / DOCUMENTS / row["file"], folder, sync=False) as file:
            file.write(WRITERS[document.format](document))
        write_text(folder / MARKDOWN / f"{document.id}.md", row["markdown"], folder)
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    write_text(folder / TRUTH, "".join(lines), folder)  # last: who finds it finds the documents
    return folder


def _row(document: MadeDocument) -> dict[str, Any]:
    return {
        "id": document.id,
        "file": f"{document.id}.{document.format}",
        "format": document.format,
        "language": document.language,
        "features": document.features,
        "markdown": markdown_of(document),
        "asides": [aside._asdict() for aside in asides_of(document)],
    }

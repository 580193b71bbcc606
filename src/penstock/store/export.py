"""The files people read, written from the ledger at any time.

Exports follow source order. A failed page keeps its row, with `valid: false` and its reason, so that
rows match a dataset's indices. Every file is replaced whole: a reader never sees half of one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import IO, Any

from penstock.documents.markdown import document_markdown
from penstock.errors import UsageError
from penstock.item import PICTURE_LABELS, Item, Region
from penstock.names import safe_path
from penstock.store.documents import in_source_order, read_order
from penstock.store.files import replacing
from penstock.store.shards import Entry, Ledger

RESULTS, TEXTS, MARKDOWN = "ocr_results.jsonl", "parsed_texts.jsonl", "markdown"


def export(out: Path, formats: Iterable[str]) -> list[Path]:
    """Writes `formats` (names of FORMATS) for all of OUT. Returns the paths written."""
    chosen = check_formats(formats)
    ledger = Ledger(out)
    entries = in_source_order(ledger.entries().values(), read_order(out))
    if not entries:
        raise UsageError(f"{out} holds no pages yet.", "Run: penstock parse INPUT -o OUT")
    return [path for name in chosen for path in FORMATS[name](out, ledger, entries)]


def check_formats(formats: Iterable[str]) -> list[str]:
    """The formats, each once. Raises UsageError for one we do not have: better before a run than after."""
    chosen = list(dict.fromkeys(formats))
    for name in chosen:
        if name not in FORMATS:
            raise UsageError(f"There is no export {name!r}.", f"Choose from: {', '.join(FORMATS)}.")
    return chosen


def result_row(item: Item) -> dict[str, Any]:
    """One line of ocr_results.jsonl."""
    row: dict[str, Any] = {
        "page_id": item.id,
        "page_idx": item.part,
        "regions": [_region_row(region, item) for region in item.regions],
        "markdown": item.markdown,
        "image_crops": [_crop_row(region, item) for region in item.regions if _is_picture_crop(region)],
        "document": item.document,
        "width": item.width,
        "height": item.height,
        "rotation": item.rotation,
        "valid": item.failure is None,
    }
    if item.failure is not None:
        row["failure"] = _failure_row(item)
    return row


def page_text(item: Item) -> str:
    """What an embedder reads: the contents in reading order, without layout."""
    return "\n".join(region.content for region in item.regions if region.content)


def _failure_row(thing: Item | Region) -> dict[str, str]:
    failure = thing.failure
    assert failure is not None
    return {
        "stage": failure.stage,
        "kind": failure.kind,
        "message": failure.message,
        "advice": failure.advice,
    }


def _region_row(region: Region, item: Item) -> dict[str, Any]:
    row: dict[str, Any] = {
        "index": region.index,
        "label": region.label,
        "bbox_2d": region.bbox_2d(item.width, item.height),
        "content": region.content,
        "native_label": region.native_label,
        "score": round(region.score, 4),
        "confidence": None if region.confidence is None else round(region.confidence, 4),
        "reader": region.reader,
    }
    if region.lines:
        row["lines"] = [
            {"text": line.text, "bbox": [round(value, 1) for value in line.box], "confidence": line.confidence}
            for line in region.lines
        ]
    if region.crop_path:
        row["crop"] = region.crop_path
    if region.note:
        row["note"] = region.note
    if region.failure is not None:
        row["failure"] = _failure_row(region)
    return row


def _is_picture_crop(region: Region) -> bool:
    return region.crop_path is not None and region.label in PICTURE_LABELS


def _crop_row(region: Region, item: Item) -> dict[str, Any]:
    return {
        "path": region.crop_path,
        "bbox": region.bbox_2d(item.width, item.height),
        "label": region.label,
    }


def _write_jsonl(out: Path, ledger: Ledger, entries: list[Entry]) -> list[Path]:
    paths = [out / RESULTS, out / TEXTS]
    with ExitStack() as stack:
        results, texts = (stack.enter_context(replacing(path, out)) for path in paths)
        for entry in entries:
            item = ledger.item(entry)
            _write_line(results, result_row(item))
            text = {"page_id": item.id, "page_idx": item.part, "text": page_text(item)}
            _write_line(texts, {**text, "valid": item.failure is None})
    return paths


def _write_line(file: IO[bytes], row: dict[str, Any]) -> None:
    file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _write_markdown(out: Path, ledger: Ledger, entries: list[Entry]) -> list[Path]:
    names = markdown_names({entry.document: None for entry in entries})
    paths = []
    for document, group in groupby(entries, key=lambda entry: entry.document):
        path = out / MARKDOWN / names[document]
        to_crops = "../" * len(names[document].parts)
        with replacing(path, out) as file:
            pages: Iterator[Item] = (ledger.item(entry) for entry in group)
            for piece in document_markdown(pages, to_crops):
                file.write(piece.encode("utf-8", "replace"))
        paths.append(path)
    return paths


def markdown_names(documents: Iterable[str]) -> dict[str, PurePosixPath]:
    """A file name for each document: `report.pdf` -> `report.md`, or `report.pdf.md` where two would clash."""
    paths = {document: safe_path(document) for document in documents}
    short = Counter(str(path.with_suffix("")).casefold() for path in paths.values())
    full = Counter(str(path).casefold() for path in paths.values())
    names = {}
    for number, (document, path) in enumerate(paths.items()):
        if short[str(path.with_suffix("")).casefold()] == 1:
            names[document] = path.with_suffix(".md")
        elif full[str(path).casefold()] == 1:
            names[document] = path.with_name(f"{path.name}.md")
        else:  # names that differ only in what file systems ignore
            names[document] = path.with_name(f"{path.name}-{number}.md")
    return names


FORMATS: dict[str, Callable[[Path, Ledger, list[Entry]], list[Path]]] = {
    "md": _write_markdown,
    "jsonl": _write_jsonl,
}

"""Reads predictions from a folder or one file, and warns of what is wrong with each.

A folder holds one file a sample, named after it. A JSON file holds `{id: text}` or a list of rows
with `id` and `prediction` (`predict` and `pred` are read too); JSONL one such row a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import BadInput, UsageError

SUFFIXES = (".md", ".mmd", ".txt", ".html", ".tex", ".json")
MAX_BYTES = 16 * 1024 * 1024  # no page of print comes near; a runaway model does


@dataclass(frozen=True, slots=True)
class Predictions:
    """Texts by sample id; a missing prediction has no entry. `warnings` has a sentence for each problem."""

    texts: dict[str, str]
    warnings: tuple[str, ...]


def read_predictions(source: Path, ids: Sequence[str], warn_extra: bool = True) -> Predictions:
    """Returns the predictions for these samples. An id may hold folders: `a/b` is the file a/b.md.

    With `warn_extra` warns of files that belong to no sample. Raises UsageError if `source` is not there.
    """
    if source.is_file():
        return _from_file(source, ids)
    if not source.is_dir():
        raise UsageError(f"There are no predictions at {source}.", "Give a folder of files or a JSON file.")
    texts: dict[str, str] = {}
    warnings: list[str] = []
    used: set[Path] = set()
    for sample in ids:
        path = _file_for(source, sample)
        if path is None:
            warnings.append(f"{sample}: no prediction file.")
            continue
        used.add(path)
        text, trouble = _text_of(path)
        texts[sample] = text
        if trouble:
            warnings.append(f"{sample}: {trouble}")
    extra = _extra(source, used) if warn_extra else ()
    warnings += [f"{path.relative_to(source)}: no sample has this name." for path in extra]
    return Predictions(texts, tuple(warnings))


def _file_for(folder: Path, sample: str) -> Path | None:
    """`page.pdf_3` may be predicted as page.pdf_3.md, page_3.md (marker), page_3.mmd (nougat), ..."""
    names = [sample, sample.replace(".pdf", ""), f"{sample}.jpg", f"{sample}.png", f"{sample}_repeat1"]
    candidates = (folder / (name + suffix) for name in dict.fromkeys(names) for suffix in SUFFIXES)
    return next((path for path in candidates if path.is_file()), None)


def _extra(folder: Path, used: set[Path]) -> Iterable[Path]:
    return sorted(
        p for p in folder.rglob("*") if p.is_file() and p not in used and not p.name.startswith(".")
    )


def _text_of(path: Path) -> tuple[str, str]:
    """Returns the file's text and what is wrong with it; a file that is no text counts as empty."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        return "", f"{path.name} has {size:,} bytes, more than {MAX_BYTES:,}; it counts as empty."
    data = path.read_bytes()
    if b"\0" in data:
        return "", f"{path.name} is binary; it counts as empty."
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return "", f"{path.name} is not UTF-8; it counts as empty."
    return text, "" if text.strip() else f"{path.name} is empty."


def _from_file(source: Path, ids: Sequence[str]) -> Predictions:
    try:
        raw = source.read_text(encoding="utf-8")
        rows = (
            [json.loads(line) for line in raw.split("\n") if line.strip()]
            if source.suffix == ".jsonl"
            else None
        )
        content: Any = json.loads(raw) if rows is None else rows
    except (OSError, ValueError) as exc:
        raise BadInput(f"{source} cannot be read as JSON ({exc}).") from exc
    named = content if isinstance(content, dict) else _by_id(content, ids)
    known = set(ids)
    given = {_sample_id(str(name), known): _as_text(value) for name, value in named.items()}
    texts = {sample: given[sample] for sample in ids if sample in given}
    missing = [f"{sample}: no prediction." for sample in ids if sample not in given]
    extra = [f"{name}: no sample has this name." for name in given if name not in known]
    return Predictions(texts, (*missing, *extra))


def _sample_id(name: str, known: set[str]) -> str:
    """Drops the suffix from a name that is a picture's: some tools name predictions so."""
    stem = name.rsplit(".", 1)[0]
    return stem if name not in known and stem in known else name


def _by_id(rows: Any, ids: Sequence[str]) -> dict[str, Any]:
    """Returns values by `sample_id`; without it in the samples' order if all are there, else by `id`."""
    if not isinstance(rows, list):
        raise BadInput("A file of predictions must be a JSON object or list.")
    found: dict[str, Any] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            continue
        key = row.get("sample_id", ids[number] if len(rows) == len(ids) else row.get("id", row.get("image")))
        value = next(
            (row[name] for name in ("prediction", "predict", "pred", "answer", "text") if name in row), None
        )
        if value is not None:
            found[str(key)] = value
    return found


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

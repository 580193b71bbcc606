"""Runs a recipe on a benchmark's pictures and keeps each page's Markdown as a prediction file.

What was read before is not read again: a prediction file that exists counts, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.errors import UsageError
from penstock.evaluate.benchmarks.base import Sample
from penstock.evaluate.predictions import Predictions, read_predictions


def predict(
    samples: Sequence[Sample],
    out: Path,
    recipe: str = "documents",
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Predictions:
    """Predictions for all samples, from `out/predictions`, read with the recipe where they are not there."""
    folder = out / "predictions"
    folder.mkdir(parents=True, exist_ok=True)
    todo = [s for s in samples if not _file(folder, s).is_file()]
    without = [s.id for s in todo if not s.image]
    if without:
        raise UsageError(
            f"{len(without)} samples have no picture, first {without[0]}.",
            "Put the pictures where the data set's own files name them, or use `eval score` on predictions.",
        )
    _read(todo, folder, recipe, len(samples) - len(todo), len(samples), progress)
    return read_predictions(folder, [sample.id for sample in samples])


def _read(
    todo: Sequence[Sample],
    folder: Path,
    recipe: str,
    done: int,
    total: int,
    progress: Callable[[int, int], None],
) -> None:
    """One file a sample, in one call, so that the recipe's models are opened once."""
    if not todo:
        return
    from penstock import parse

    by_picture = {str(Path(sample.image).resolve()): sample for sample in todo}
    documents: dict[str, dict[int, str]] = {}  # pages of PDFs: one file for all, when all are read
    for page in parse(list(by_picture), recipe=recipe):
        source = str(Path(page.uri).resolve())
        if page.failure is not None:
            continue  # no file: scored as missing, and read again next time
        if source.lower().endswith(".pdf"):
            documents.setdefault(source, {})[page.part] = page.markdown
            continue
        _write(_file(folder, by_picture[source]), page.markdown)
        done += 1
        progress(done, total)
    for source, parts in documents.items():
        _write(_file(folder, by_picture[source]), "\n\n".join(parts[number] for number in sorted(parts)))
        done += 1
        progress(done, total)


def _write(file: Path, markdown: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(markdown, encoding="utf-8")
    part.replace(file)


def _file(folder: Path, sample: Sample) -> Path:
    return folder / f"{sample.id}.md"

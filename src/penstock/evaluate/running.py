"""Runs a recipe on a benchmark's pictures and keeps each page's Markdown as a prediction file.

What was read before is not read again: a prediction file that exists counts. The folder remembers the recipe
that made them, and refuses another.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.errors import UsageError
from penstock.evaluate.benchmarks.base import Sample
from penstock.evaluate.predictions import Predictions, read_predictions
from penstock.evaluate.results import write_whole
from penstock.recipes import build

FOLDER, RECIPE = "predictions", "recipe.json"


def predict(
    samples: Sequence[Sample],
    out: Path,
    recipe: str = "documents",
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Predictions:
    """Predictions for all samples, from `out/predictions`, read with the recipe where they are not there."""
    folder = out / FOLDER
    todo = [s for s in samples if not _file(folder, s).is_file()]
    _check_recipe(out, recipe)
    without = [s.id for s in todo if not s.image]
    if without:
        raise UsageError(
            f"{len(without)} samples have no picture, first {without[0]}.",
            "Put the pictures where the data set's own files name them, or use `eval score` on predictions.",
        )
    _read(todo, folder, recipe, len(samples) - len(todo), len(samples), progress)
    return read_predictions(folder, [sample.id for sample in samples], tell_extra=False)


def _check_recipe(out: Path, recipe: str) -> None:
    """One folder, one recipe: else the scores of one would be those of another's pages."""
    own = {"recipe": recipe, "fingerprint": build(recipe, {}).fingerprint()}
    path, folder = out / RECIPE, out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.rglob("*.md")):
        write_whole(path, json.dumps(own))
    known = json.loads(path.read_text("utf-8")) if path.is_file() else own  # files of one's own have none
    if known != own:
        raise UsageError(
            f"{folder} was read by the recipe {known['recipe']!r}, perhaps with other settings.",
            "Choose another --out, or remove that folder to read it again.",
        )


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

    by_picture: dict[str, list[Sample]] = defaultdict(list)  # several questions may be about one
    for sample in todo:
        by_picture[str(Path(sample.image).resolve())].append(sample)

    def keep(read: Sequence[Sample], markdown: str, done: int) -> int:
        for sample in read:
            write_whole(_file(folder, sample), markdown)
        progress(done + len(read), total)
        return done + len(read)

    documents: dict[str, dict[int, str]] = {}  # pages of PDFs: one file for all, when all are read
    for page in parse(list(by_picture), recipe=recipe):
        source = str(Path(page.uri).resolve())
        if page.failure is not None:
            continue  # no file: scored as missing, and read again next time
        if source.lower().endswith(".pdf"):
            documents.setdefault(source, {})[page.part] = page.markdown
            continue
        done = keep(by_picture[source], page.markdown, done)
    for source, parts in documents.items():
        done = keep(by_picture[source], "\n\n".join(parts[number] for number in sorted(parts)), done)


def _file(folder: Path, sample: Sample) -> Path:
    return folder / f"{sample.id}.md"

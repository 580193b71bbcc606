"""Runs a recipe on a benchmark's pictures and keeps the Markdown of each as a prediction file.

A file is written when its picture, or the last page of its PDF, is read; those that exist are not read again.
The folder remembers the recipe that made them, and refuses another.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from penstock.errors import UsageError
from penstock.evaluate.benchmarks.base import Sample
from penstock.evaluate.predictions import Predictions, read_predictions
from penstock.evaluate.results import write_whole
from penstock.executors import executor
from penstock.plan import Plan
from penstock.recipes import build
from penstock.sources import list_items
from penstock.trace.spans import Trace

FOLDER, RECIPE = "predictions", "recipe.json"


def predict(
    samples: Sequence[Sample],
    out: Path,
    recipe: str = "documents",
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Predictions:
    """Predictions for all samples, from `out/predictions`, read with the recipe where they are not there."""
    folder, plan = out / FOLDER, build(recipe, dict(options or {}))
    todo = [s for s in samples if not _file(folder, s).is_file()]
    _check_recipe(out, recipe, plan)
    without = [s.id for s in todo if not s.image]
    if without:
        raise UsageError(
            f"{len(without)} samples have no picture, first {without[0]}.",
            "Put the pictures where the data set's own files name them, or use `eval score` on predictions.",
        )
    _read(todo, folder, plan, len(samples) - len(todo), len(samples), progress)
    return read_predictions(folder, [sample.id for sample in samples], tell_extra=False)


def _check_recipe(out: Path, recipe: str, plan: Plan) -> None:
    """One folder, one recipe: else the scores of one would be those of another's pages."""
    own = {"recipe": recipe, "fingerprint": plan.fingerprint()}
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
    plan: Plan,
    done: int,
    total: int,
    progress: Callable[[int, int], None],
) -> None:
    """One file a sample, in one call, so that the recipe's models are opened once."""
    if not todo:
        return
    by_picture: dict[str, list[Sample]] = defaultdict(list)  # several questions may be about one
    for sample in todo:
        by_picture[str(Path(sample.image).resolve())].append(sample)
    with closing(_documents(list(by_picture), plan)) as documents:
        for source, markdown in documents:
            for sample in by_picture[source]:
                write_whole(_file(folder, sample), markdown)
            done += len(by_picture[source])
            progress(done, total)


def _documents(sources: list[str], plan: Plan) -> Generator[tuple[str, str]]:
    """Each file and its Markdown when its last page is read, so that an end costs the files under way.

    A file of which no page could be read is left out: it is scored as missing, and read again next time.
    """
    listing = list(list_items(sources))
    left = Counter(item.uri for item in listing)
    pages: dict[str, dict[int, str]] = defaultdict(dict)
    with closing(executor("local", Trace()).stream(plan, listing)) as stream:  # type: ignore[type-var]
        for page in stream:
            left[page.uri] -= 1
            if page.failure is None:
                pages[page.uri][page.part] = page.markdown
            if not left[page.uri] and (read := pages.pop(page.uri, None)):
                yield (
                    str(Path(page.uri).resolve()),
                    "\n\n".join(filter(None, (read[part] for part in sorted(read)))),
                )


def _file(folder: Path, sample: Sample) -> Path:
    return folder / f"{sample.id}.md"

"""Measures what this machine gives: each part of Penstock that works here, on the package's own sample.

    for part in measured_parts(24):
        print(part.name, part.pages_per_s or part.problem)

Models are loaded before a round is timed. Nothing is fetched and nothing is sent, but to the servers that
the caller names.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pypdfium2 as pdfium

from penstock.converted.shared_run import SharedRun
from penstock.engines.embed.embedder import open_embedder
from penstock.engines.vllm.presets import cards
from penstock.errors import EngineError, PenstockError
from penstock.options.running import RECIPE, SAMPLE
from penstock.passes.parse import ParseOptions, list_pages, parse_options
from penstock.plan import Plan
from penstock.processes.resources import cores
from penstock.recipes.regions import chosen_layout
from penstock.stage import Batch
from penstock.stages.doclayout import doclayout
from penstock.stages.layout import builtin_layout
from penstock.stages.load import Load
from penstock.trace.profile import StageProfile

ROUNDS = 3  # the fewest that show a spread
ROUNDS_S = 30.0  # no further round of a part begins after: the whole takes two minutes on a laptop
EMBEDDER = "use"
T = TypeVar("T")
LAYOUT_BATCH = Batch(max_items=8, linger_ms=50.0)  # a round has 24 pages: it waits for no company
OFFLINE = {"PENSTOCK_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
SHIFT = 0.37  # points: no two pages give the same crops, which a server would be asked for once


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFigures:
    """What one part gave: pages a second of each round of so many pages, and the stages of all of them.

    `first_s` passed until the first pages were read, with the loading of the models. `problem` is a sentence
    where nothing was measured.
    """

    name: str
    pages: int = 0
    first_s: float = 0.0
    pages_per_s: tuple[float, ...] = ()
    failed: int = 0
    stages: tuple[StageProfile, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SampleRounds:
    """Files of the sample's pages: round 0 has each page once, to load the models; the others `pages`."""

    folder: Path
    pages: int

    def file(self, number: int) -> Path:
        """Writes the pages of a round: those of the sample, each moved a little on its paper."""
        sample = pdfium.PdfDocument((resources.files("penstock") / "sample" / "sample.pdf").read_bytes())
        target = pdfium.PdfDocument.new()
        count = self.pages if number else len(sample)
        target.import_pages(sample, [place % len(sample) for place in range(count)])
        for place in range(count):
            left, bottom, right, top = target[place].get_mediabox()
            by = SHIFT * (number * self.pages + place + 1)
            target[place].set_mediabox(left - by, bottom - by, right, top)
        path = self.folder / f"sample-{number}.pdf"
        target.save(path)
        return path

    def texts(self, number: int) -> list[str]:
        """Returns the words of as many pages, each with its number."""
        known = json.loads((resources.files("penstock") / "sample" / "sample.json").read_text("utf-8"))
        words = ["\n".join(block.get("text", "") for block in page["blocks"]) for page in known["pages"]]
        count = self.pages if number else len(words)
        return [f"{number}.{place} {words[place % len(words)]}" for place in range(count)]


Measure = Callable[[SampleRounds], PartFigures]


def measured_parts(
    pages: int, recipe: str = RECIPE.default, settings: Mapping[str, Any] | None = None
) -> Iterator[PartFigures]:
    """Yields the figures of each part: the built-in recipe, layout, embedding; and of a recipe that is named.

    A round of the recipe has `pages`; those of the other parts have no more than they need.
    Raises UsageError before anything is measured, for a recipe or a setting that is not known.
    """
    parts: dict[str, Measure] = {
        RECIPE.default: lambda sample: _reading(parse_options((), {}), sample),
        "layout": lambda sample: _reading(ParseOptions(inputs=(), recipe=layout_plan()), sample),
        "embedding": _embedding,
    }
    if recipe != RECIPE.default or settings:
        options = parse_options((), {**(settings or {}), RECIPE.name: recipe})
        options.plan()
        parts[recipe] = lambda sample: _reading(options, sample)
    few = min(pages, SAMPLE.default)
    return _measured({name: (pages if name == recipe else few, part) for name, part in parts.items()})


def layout_plan() -> Plan:
    """Returns the plan that only finds regions: PP-DocLayoutV3 with torch and a card, else built-in."""
    if cards() and chosen_layout("auto")[0] == "pp-doclayoutv3":
        find = replace(doclayout(), batch=LAYOUT_BATCH)
        return Plan(Load(give="encoded", text_layer=False), find, name="layout")
    return Plan(Load(text_layer=False), builtin_layout(None, cores()), name="layout")


def _measured(parts: Mapping[str, tuple[int, Measure]]) -> Iterator[PartFigures]:
    for name, (pages, measure) in parts.items():
        with TemporaryDirectory(prefix="penstock-bench-") as folder, _without_downloads():
            try:
                found = replace(measure(SampleRounds(Path(folder), pages)), name=name, pages=pages)
            except PenstockError as exc:
                found = PartFigures(name=name, problem=str(exc))
        yield found


def _reading(options: ParseOptions, sample: SampleRounds) -> PartFigures:
    """Reads the rounds through one run: models stay loaded. Raises EngineError if a whole round fails."""
    failed = 0

    def read(path: Path) -> None:
        nonlocal failed
        pages = list(run.pages(list_pages(replace(options, inputs=(str(path),)))))
        reasons = [page.failure.message for page in pages if page.failure]
        if len(reasons) == len(pages):
            raise EngineError(f"No page was read: {reasons[0]}")
        failed += len(reasons)

    with closing(SharedRun(options.plan(), options.executor)) as run:
        first_s, rates = _timed(read, sample.file, sample.pages)
        stages = run.profile().stages
    return PartFigures(name="", first_s=first_s, pages_per_s=rates, failed=failed, stages=stages)


def _embedding(sample: SampleRounds) -> PartFigures:
    """Embeds with the engine alone, in one thread."""
    began = time.monotonic()
    with closing(open_embedder(EMBEDDER, {})) as engine:
        loading_s = time.monotonic() - began
        first_s, rates = _timed(engine.texts, sample.texts, sample.pages)
    return PartFigures(name="", first_s=loading_s + first_s, pages_per_s=rates)


def _timed(
    read: Callable[[T], object], round_of: Callable[[int], T], pages: int
) -> tuple[float, tuple[float, ...]]:
    """Returns the seconds of round 0, and the pages a second of each round after it."""
    first_s = _seconds(read, round_of(0))
    rates, spent_s = list[float](), 0.0
    while len(rates) < ROUNDS and spent_s < ROUNDS_S:
        seconds = _seconds(read, round_of(len(rates) + 1))
        spent_s += seconds
        rates.append(pages / seconds)
    return first_s, tuple(rates)


def _seconds(read: Callable[[T], object], given: T) -> float:
    began = time.monotonic()
    read(given)
    return max(1e-9, time.monotonic() - began)


@contextmanager
def _without_downloads() -> Iterator[None]:
    """Keeps what is missing from being fetched: it is a sentence of its part."""
    before = {name: os.environ.get(name) for name in OFFLINE}
    os.environ.update(OFFLINE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value

"""The embedding pass from beginning to end: run what is left, then write the .npy files.

A text-only engine leaves pictures out and the result says so; nothing is ever made up for them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from penstock.driver import Run, Tally
from penstock.engines.embed.embedder import chosen_settings, takes_images
from penstock.errors import EngineError, OpenError, UsageError
from penstock.executors import executor
from penstock.plan import Plan
from penstock.recipes.embed import embed_pages, embed_queries
from penstock.search import vectors
from penstock.search.to_embed import PAGES_HOME, QUERIES_HOME, ROWS, list_pages, list_queries, need_pages
from penstock.sources.queries import read_queries
from penstock.stages.embed import Embed, Regions
from penstock.store.atomic_files import clear_tmp
from penstock.trace.phrases import plural
from penstock.trace.spans import Trace

WITHOUT_VECTORS = (
    "Start the server, tell its new address by penstock embed OUT --server,"
    " or search by words: --weights text=0,image=0,region=0"
)
Showing = Callable[[Run], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a call of `embed_run` did. `busy` is the engine's share of the pass's time, from spans."""

    engine: str
    pages: int
    skipped: int
    failed: int
    failed_before: int  # of the skipped
    queries: int
    images: bool
    seconds: float
    busy: float
    shapes: dict[str, tuple[int, ...]]
    written: list[Path]
    failures: list[tuple[str, str]] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        return {**asdict(self), "written": [str(path) for path in self.written]}

    def sentence(self) -> str:
        eyes = "" if self.images else "\nPictures were left out: this engine reads texts only."
        before = f" ({self.failed_before} of them failed before)" if self.failed_before else ""
        shapes = ", ".join(f"{name} {rows} x {width}" for name, (rows, width) in self.shapes.items())
        return (
            f"{plural(self.pages, 'page')} embedded by {self.engine}, {self.skipped} were done{before},"
            f" {self.failed} failed, {self.queries} queries: {shapes}.{eyes}"
        )


def embed_run(
    out: Path,
    *,
    engine: str = "use",
    queries: Path | None = None,
    images: bool | None = None,
    regions: Regions | None = None,
    precision: str = "float32",
    password: str | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
    showing: Showing | None = None,
    settings: dict[str, Any] | None = None,
) -> Embedded:
    """Embeds what OUT holds and is not embedded yet. Raises UsageError before anything is loaded."""
    numbers = checked_precision(precision)
    eyes = takes_images(engine) if images is None else images
    if eyes and not takes_images(engine):
        raise UsageError(
            f"The embedder {engine!r} reads texts only.", "Leave --images out, or choose another."
        )
    chosen_settings(engine, settings or {})
    need_pages(out)
    asked = read_queries(queries) if queries else []
    plan = embed_pages(out, engine, eyes, regions, password, **(settings or {}))
    kept = _stage(plan).regions
    run = Run(plan, executor("local", Trace()), out, retry_failed, fresh, home=PAGES_HOME, rows=ROWS)
    with (showing or _hidden)(run):
        for _ in run.pages(list_pages(out, kept)):
            pass
    written = vectors.write_pages(out, numbers, _about(plan), kept)
    if asked:
        pairs = [(query.id, query.text) for query in asked]
        second = embed_queries(out, engine, **(settings or {}))
        ask = Run(second, executor("local", Trace()), out, retry_failed, fresh, home=QUERIES_HOME, rows=ROWS)
        for _ in ask.pages(list_queries(out, pairs)):
            pass
        written += vectors.write_queries(out, [id for id, _ in pairs], numbers)
    clear_tmp(out)
    return _summary(run, engine, len(asked), eyes, written)


def embed_question(out: Path, question: str, api_key: str | None = None) -> Any:
    """One question's vector by the engine that embedded OUT, or None when OUT has no vectors."""
    with Questions(out, api_key) as questions:
        return questions.vector(question)


class Questions:
    """Turns questions into vectors by the engine that embedded OUT; keeps it open between two."""

    def __init__(self, out: Path, api_key: str | None = None) -> None:
        self._about = vectors.about(out)
        self._api_key = api_key
        self._engine: Any = None

    def __enter__(self) -> Questions:
        return self

    def __exit__(self, *_: object) -> None:
        if self._engine is not None:
            self._engine.close()

    def vector(self, question: str) -> Any:
        """None when OUT has no vectors."""
        from penstock.engines.embed.embedder import RETRIEVE

        if not self._about:
            return None
        try:
            self._engine = self._engine or self._open()
            return self._engine.texts([question], RETRIEVE)[0]
        except (EngineError, OpenError) as exc:
            raise EngineError(f"The question cannot be embedded. {exc.message}", WITHOUT_VECTORS) from exc

    def _open(self) -> Any:
        from penstock.engines.embed.embedder import open_embedder

        settings = {key: self._about.get(key) for key in ("model", "dimensions", "server")}
        # a key is only for those that ask a server: the variable that holds it may be set for other things
        settings["api_key"] = self._api_key if self._about.get("server") else None
        return open_embedder(self._about["engine"], settings)


def checked_precision(word: str) -> vectors.Precision:
    """Raises UsageError for numbers that .npy files are not written in."""
    if word not in vectors.PRECISIONS:
        choices = ", ".join(vectors.PRECISIONS)
        raise UsageError(f"--precision {word} is not known.", f"Choose from: {choices}.")
    return word


def _stage(plan: Plan) -> Embed:
    stage = plan.stages[-1]
    assert isinstance(stage, Embed)
    return stage


def _about(plan: Plan) -> dict[str, Any]:
    """For whoever asks later: how a question has to be embedded to meet these vectors."""
    stage = _stage(plan)
    names = ("engine", "model", "dimensions", "server", "images", "regions")
    return {**{name: getattr(stage, name) for name in names}, "fingerprint": plan.fingerprint()}


def _summary(run: Run, engine: str, num_queries: int, eyes: bool, written: list[Path]) -> Embedded:
    tally: Tally = run.tally
    profile = run.profile()
    stage = profile.stages[-1]
    tables = (vectors.read(run.out, name) for name in (*vectors.ROWS_OF, vectors.QUERIES))
    return Embedded(
        engine=engine,
        pages=tally.done,
        skipped=tally.skipped,
        failed=tally.failed,
        failed_before=tally.failed_before,
        queries=num_queries,
        images=eyes,
        seconds=round(profile.seconds, 3),
        busy=round(stage.busy, 4),
        shapes={table.name: table.array.shape for table in tables if table is not None},
        written=written,
        failures=tally.failures,
    )


@contextlib.contextmanager
def _hidden(run: Run) -> Any:
    yield

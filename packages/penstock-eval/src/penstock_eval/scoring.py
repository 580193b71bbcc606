"""Scores a benchmark's samples in processes, with a deadline a sample; resumes by itself.

Every core gets a process that can be killed, so a prediction made to hang a parser costs only its own
sample, which gets the worst scores and a warning.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.errors import BadInput, ItemError
from penstock.passes.scores import SUMMARY, Summary
from penstock.processes.child import Child
from penstock.processes.resources import cores
from penstock.store.ownership import claim
from penstock_eval.benchmarks.base import Benchmark, Sample, Scores
from penstock_eval.predictions import Predictions, read_predictions
from penstock_eval.results import (
    SAMPLES,
    SampleResult,
    digest_of,
    read_samples,
    sample_line,
    summarise,
    write_text,
)

SAMPLE_DEADLINE_S = 300.0  # two TEDS deadlines and a margin
MIN_FOR_PROCESSES = (
    32  # fewer samples end before a process has started; what hangs is held by the metrics' own deadlines
)

Task = tuple[Sample, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    results: tuple[SampleResult, ...]
    summary: Summary


@dataclass(frozen=True)
class _Opener:
    """Opens the benchmark in a scoring process."""

    benchmark: Benchmark

    def open(self) -> Callable[[Task], Scores]:
        return self._score

    def _score(self, task: Task) -> Scores:
        return self.benchmark.score(*task)


def samples_of(benchmark: Benchmark, data: Path) -> list[Sample]:
    """Returns the samples of a data set. Raises BadInput if its files are not what the benchmark reads."""
    try:
        samples = benchmark.samples(data)
    except (LookupError, TypeError, AttributeError, ValueError, OSError) as exc:
        # the many ways in which a stranger's file is not what its name says
        raise BadInput(
            f"{data} is not a data set of {benchmark.title} ({type(exc).__name__}: {exc}).",
            f"It should hold {benchmark.layout}.",
        ) from exc
    seen: set[str] = set()
    for sample in samples:
        path = Path(sample.id)
        if path.is_absolute() or ".." in path.parts:  # ids become names of files
            raise BadInput(f"{data} has a sample named {sample.id!r}, which leads out of a folder.")
        if sample.id in seen:
            raise BadInput(f"{data} has two samples named {sample.id!r}.", "Give each a name of its own.")
        seen.add(sample.id)
    return samples


def score_folder(
    benchmark: Benchmark,
    data: Path,
    predictions: Path,
    out: Path | None = None,
    *,
    workers: int | None = None,
    deadline_s: float = SAMPLE_DEADLINE_S,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Outcome:
    """Scores predictions against a data set. Writes each sample to `out` when done, then the summary."""
    samples = samples_of(benchmark, data)
    given = read_predictions(predictions, [sample.id for sample in samples])
    return score_samples(
        benchmark, samples, given, out, workers=workers, deadline_s=deadline_s, progress=progress
    )


def score_samples(
    benchmark: Benchmark,
    samples: Sequence[Sample],
    given: Predictions,
    out: Path | None = None,
    *,
    workers: int | None = None,
    deadline_s: float = SAMPLE_DEADLINE_S,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Outcome:
    tasks = [
        (sample, given.texts.get(sample.id, ""))
        for sample in samples
        if benchmark.missing_is_empty or sample.id in given.texts
    ]
    done = _already_done(benchmark, tasks, out)
    open_tasks = [task for task in tasks if task[0].id not in done]
    with _SampleLog(out) as lines:
        for count, result in enumerate(
            _scored(benchmark, open_tasks, workers, deadline_s), start=len(done) + 1
        ):
            done[result.id] = result
            lines.write(result)
            progress(count, len(tasks))
    results = tuple(done[sample.id] for sample, _ in tasks)
    warnings = [*given.warnings, *(f"{r.id}: {note}." for r in results for note in r.notes)]
    summary = _summary(benchmark, results, warnings)
    if out is not None:
        # only what was scored now: lines of samples that are gone would be compared and shown
        write_text(out / SAMPLES, "".join(map(sample_line, results)), out)
        write_text(out / SUMMARY, summary.as_json(), out)
    return Outcome(results, summary)


def _summary(benchmark: Benchmark, results: Sequence[SampleResult], warnings: Sequence[str]) -> Summary:
    method = benchmark.method
    bare = [replace(result, scores=method.bare(result.scores)) for result in results]
    summary = summarise(
        benchmark.name,
        method.protocol(benchmark.protocol),
        results,
        method.named(benchmark.metrics),
        method.named(benchmark.extra(bare)),
        warnings,
    )
    return replace(summary, method=method.words, not_computed=method.named(benchmark.not_computed()))


def _already_done(benchmark: Benchmark, tasks: list[Task], out: Path | None) -> dict[str, SampleResult]:
    if out is None or not (out / SAMPLES).is_file():
        return {}
    digests = {task[0].id: _digest(benchmark, task) for task in tasks}
    return {r.id: r for r in read_samples(out) if digests.get(r.id) == r.digest}


class _SampleLog:
    """Appends results to `samples.jsonl`, each flushed; writes nothing without a folder."""

    def __init__(self, out: Path | None) -> None:
        self._file = None
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            path = out / SAMPLES
            claim(out, path)
            _end_torn_line(path)
            self._file = path.open("a", encoding="utf-8", errors="replace")

    def __enter__(self) -> _SampleLog:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, result: SampleResult) -> None:
        if self._file is not None:
            self._file.write(sample_line(result))
            self._file.flush()


def _end_torn_line(path: Path) -> None:
    """Removes a line that a killed run left unfinished, so that the next one starts on its own line."""
    if path.is_file():
        content = path.read_bytes()
        if content and not content.endswith(b"\n"):
            path.write_bytes(content[: content.rfind(b"\n") + 1])


def _scored(
    benchmark: Benchmark, tasks: list[Task], workers: int | None, deadline_s: float
) -> Iterator[SampleResult]:
    """Yields results in the order of the tasks."""
    count = workers if workers is not None else (cores() if len(tasks) >= MIN_FOR_PROCESSES else 0)
    if count == 0:
        yield from (_result(benchmark, task, benchmark.score(*task)) for task in tasks)
        return
    children: list[Child[Task, Scores]] = []
    own = threading.local()

    def score(task: Task) -> SampleResult:
        if not hasattr(own, "child"):
            own.child = Child(_Opener(benchmark).open, name=f"score-{threading.get_ident()}")
            children.append(own.child)
        try:
            return _result(benchmark, task, own.child.call(task, deadline_s))
        except ItemError as exc:
            return _result(
                benchmark, task, Scores(benchmark.worst(), prediction=task[1], notes=(exc.message,))
            )

    try:
        with ThreadPoolExecutor(count, thread_name_prefix="score") as pool:
            yield from pool.map(score, tasks)
    finally:
        for child in children:
            child.close()


def _digest(benchmark: Benchmark, task: Task) -> str:
    sample, prediction = task
    return digest_of(benchmark.method.protocol(benchmark.protocol), repr(sample.truth), prediction)


def _result(benchmark: Benchmark, task: Task, scores: Scores) -> SampleResult:
    sample, _ = task
    return SampleResult(
        id=sample.id,
        scores=benchmark.method.named(scores.values),
        slices=sample.slices,
        image=sample.image,
        truth=scores.truth,
        prediction=scores.prediction,
        notes=scores.notes,
        details=scores.details,
        digest=_digest(benchmark, task),
    )

"""A whole pipeline in one call: check, download, serve, parse, stop, embed, index, evaluate, upload.

Every step finds out by itself what is done, so a pipeline that was killed anywhere goes on when it is called
again. The server that reads is gone before the one that embeds comes: they share a card.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from penstock import sources
from penstock.driver import Run
from penstock.engines.chat.recognisers import recogniser
from penstock.errors import StoreError, UsageError
from penstock.evaluate.metrics.statistics import Interval
from penstock.evaluate.results import SUMMARY, Summary, read_summary
from penstock.executors import executor
from penstock.exports.export import export
from penstock.passes.embed import Embedded, checked_precision, embed_run
from penstock.passes.evaluate_search import FOLDER, evaluate_run
from penstock.passes.hub_card import card
from penstock.passes.kopub import DATASET, GROUPS, STEPS, Choice, choice, parse_plan
from penstock.plan import Plan
from penstock.sources import hub
from penstock.sources.queries import read_queries
from penstock.store import manifest
from penstock.trace.spans import Trace

SHOWN_SCORES = ("recall@1", "recall@5", "recall@10", "ndcg@10", "mrr@10", "recall@10-dup", "ndcg@10-dup")
FREE_BYTES = 2 << 30  # the least disk to begin with; KoPub's own pages are 22 GB
DTYPES = {"fp8": ("--quantization", "fp8"), "bf16": ("--dtype", "bfloat16"), "auto": ("--dtype", "auto")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options under the names they have in the dataset's own pipeline, and where things are."""

    out: Path
    data: Path
    recipe: str = "embedded"
    dataset: str = DATASET
    inputs: tuple[str, ...] = ()  # pages of one's own instead of a dataset
    queries: Path | None = None
    layout: str | None = None
    limit: int | None = None
    crops: bool = True
    ocr_model: str = "glm-ocr"
    ocr_dtype: str = "fp8"
    gpu_mem_util: float = 0.80
    batch_size: int = 8
    workers: int = 128
    servers: tuple[str, ...] = ()  # that read already, so none is started
    embedding_model: str | None = None
    embedding_server: str | None = None
    precision: str = "float32"
    repo: str | None = None
    private: bool = True
    token: str | None = field(default=None, repr=False)


@dataclass
class State:
    """What the steps hand on to each other, and the summary at the end."""

    seconds: dict[str, float] = field(default_factory=dict)
    revision: str = ""
    pages: dict[str, int] = field(default_factory=dict)
    embedded: Embedded | None = None
    scores: dict[str, Summary] = field(default_factory=dict)
    url: str = ""

    @property
    def failed(self) -> int:
        """Pages that could not be read or embedded, now or before."""
        read = self.pages.get("failed", 0) + self.pages.get("failed before", 0)
        return max(read, self.embedded.failed + self.embedded.failed_before if self.embedded else 0)


class Pipeline:
    """`for line in Pipeline(options).run(steps)`: a line for each thing done."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.state = State()
        self._choice: Choice = choice(options.recipe, options.layout)
        self._server = ExitStack()
        self._urls: tuple[str, ...] = options.servers

    def run(self, steps: tuple[str, ...]) -> Iterator[str]:
        with self._server:
            for number, name in enumerate(steps, 1):
                began = time.perf_counter()
                step: Callable[[], str] = getattr(self, f"_{name}")
                said = step()
                self.state.seconds[name] = round(time.perf_counter() - began, 2)
                yield f"[{number}/{len(steps)}] {name}: {said} ({self.state.seconds[name]:.1f} s)"

    def _check(self) -> str:
        """Everything that can be known to fail is said now, not after a night of reading."""
        options = self.options
        self._plan()
        checked_precision(options.precision)
        if options.queries:
            read_queries(options.queries)
        if options.ocr_dtype not in DTYPES:
            raise UsageError(
                f"--ocr-dtype {options.ocr_dtype} is not known.", f"Choose from: {', '.join(DTYPES)}."
            )
        if options.repo and not hub.has_token(options.token):
            raise UsageError("Uploading needs a token.", "Set HF_TOKEN or give --hf-token.")
        if self._choice.served:
            recogniser(options.ocr_model)
        starts = self._choice.served and not (options.servers and options.embedding_server)
        if starts:
            from penstock.engines.vllm.server import find_vllm

            find_vllm()
        options.out.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(options.out).free
        if free < FREE_BYTES:
            raise UsageError(f"Only {free / 2**30:.1f} GB are free on the disk of {options.out}.")
        where = "vLLM is there" if starts else "no model server is to be started"
        return f"recipe {self._choice.name}, {where}, {free / 2**30:.0f} GB free"

    def _download(self) -> str:
        options = self.options
        if options.inputs or Path(options.dataset).is_dir():
            return "pages are on this machine already"
        # a revision stays for the life of OUT: pages of two must not lie in one corpus
        pinned = (manifest.read(options.out) or {}).get("revision") or None
        found = hub.download(options.dataset, options.data, pinned, options.token)
        self.state.revision = found.revision
        return f"{found.repo} at {found.revision[:12]}"

    def _serve(self) -> str:
        if not self._choice.served:
            return "nothing to serve"
        if self.options.servers:
            return f"{', '.join(self.options.servers)} as they are"
        model = recogniser(self.options.ocr_model).model
        self._urls = (self._server.enter_context(self._serving(model, DTYPES[self.options.ocr_dtype])),)
        return f"{model} at {self._urls[0]}"

    @contextmanager
    def _serving(self, model: str, flags: tuple[str, ...]) -> Iterator[str]:
        from penstock.engines.vllm.presets import preset
        from penstock.engines.vllm.server import ManagedServer

        memory = ("--gpu-memory-utilization", f"{self.options.gpu_mem_util:g}")
        pooling = "--runner" in flags
        server = ManagedServer(model, preset("auto"), extra_args=(*memory, *flags), probe=not pooling)
        with server:
            yield server.url

    def _plan(self) -> Plan:
        options = self.options
        return parse_plan(
            self._choice, options.crops, options.batch_size, server=self._urls, in_flight=options.workers
        )

    def _parse(self) -> str:
        options = self.options
        plan = self._plan()
        inputs = list(options.inputs) or [str(corpus_of(self._dataset()))]
        facts: dict[str, Any] = {"inputs": inputs, "dataset": "" if options.inputs else options.dataset}
        known = (manifest.read(options.out) or {}).get("revision", "")
        facts["revision"] = self.state.revision or known
        run = Run(plan, executor("local", Trace()), options.out, facts=facts)
        for _ in run.pages(islice(sources.list_items(inputs), options.limit)):
            pass
        export(options.out, ["jsonl", "md"])
        if run.tally.done or run.tally.failed:
            from penstock.trace import report

            report.write(run.profile(), options.out)
        tally = run.tally
        self.state.pages = {"done": tally.done, "skipped": tally.skipped, "failed": tally.failed}
        if tally.failed_before:
            self.state.pages["failed before"] = tally.failed_before
        return f"{tally.done} pages read, {tally.skipped} were done, {tally.failed} failed"

    def _stop(self) -> str:
        """Gives the card back before the embedder wants it."""
        if not self._choice.served or self.options.servers:
            return "nothing was started"
        self._server.close()
        self._urls = ()
        return "the card is free"

    def _embed(self) -> str:
        options = self.options
        with ExitStack() as stack:
            settings: dict[str, Any] = {}
            if self._choice.served:
                from penstock.engines.embed.openai import POOLING_FLAGS
                from penstock.passes.kopub import EMBEDDING_MODEL

                model, url = options.embedding_model, options.embedding_server
                if url is None:
                    model = model or EMBEDDING_MODEL
                    url = stack.enter_context(self._serving(model, POOLING_FLAGS))
                settings = {"server": url, "model": model, "in_flight": options.workers}
            self.state.embedded = embed_run(
                options.out,
                engine=self._choice.engine,
                queries=self._queries_path(),
                precision=options.precision,
                settings=settings,
            )
        return self.state.embedded.sentence()

    def _index(self) -> str:
        from penstock.search.index import build

        built = build(self.options.out, threads=manifest.cores())
        return f"{built.pages} pages, {built.changed} added or changed"

    def _evaluate(self) -> str:
        path = self._queries_path()
        if path is None:
            return "no queries, no scores"
        queries = read_queries(path)
        if not any(query.relevant for query in queries):
            return "the queries name no pages, so there is nothing to score"
        self.state.scores = evaluate_run(self.options.out, queries)
        one = next(iter(self.state.scores.values()))  # all sources are asked the same
        return " ".join([f"{one.count} queries by {', '.join(self.state.scores)}.", *one.warnings])

    def _upload(self) -> str:
        options = self.options
        if not options.repo:
            return "no --hf-repo, nothing goes up"
        self.state.url = upload_run(options.out, options.repo, options.token, options.private)
        return self.state.url

    def _dataset(self) -> Path:
        local = Path(self.options.dataset)
        return local if local.is_dir() else self.options.data

    def _queries_path(self) -> Path | None:
        if self.options.queries or self.options.inputs:
            return self.options.queries
        return queries_of(self._dataset())


def chosen_steps(step: str | None, skip: tuple[str, ...]) -> tuple[str, ...]:
    """The steps of a group (ocr, embed, upload) or all, in order, without those to skip."""
    if step is not None and step not in GROUPS:
        raise UsageError(f"--step {step} is not known.", f"Choose from: {', '.join(GROUPS)}.")
    for name in skip:
        if name not in STEPS:
            raise UsageError(f"--skip {name} is not a step.", f"The steps are: {', '.join(STEPS)}.")
    return tuple(name for name in STEPS if name not in skip and (step is None or name in GROUPS[step]))


def corpus_of(dataset: Path) -> Path:
    """The folder or file of the pages in a dataset laid out like KoPub; else the dataset itself."""
    named = [path for path in _shown_paths(dataset) if "corpus" in path.name.lower()]
    return next((path for path in named if path.is_dir() or path.suffix in (".parquet", ".arrow")), dataset)


def queries_of(dataset: Path) -> Path | None:
    """The table of questions in a dataset laid out like KoPub, if it has one."""
    tables = [path for path in _shown_paths(dataset) if path.suffix in (".parquet", ".arrow", ".jsonl")]
    found = [path for path in tables if "qa" in path.relative_to(dataset).as_posix().lower()]
    if len(found) > 1:
        raise UsageError(f"{dataset} has {len(found)} files of questions.", "Name one with --queries.")
    return found[0] if found else None


def _shown_paths(folder: Path) -> list[Path]:
    """All below a folder but what is hidden: the Hub's client keeps a copy of the tree there."""
    paths = sorted(folder.rglob("*"))
    return [
        path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def upload_run(out: Path, repo: str, token: str | None = None, private: bool = True) -> str:
    """OUT to the Hub with its card, and a look whether all of it is there. Returns the address."""
    run = manifest.read(out) or {}
    text = card(out, str(run.get("dataset", "")), str(run.get("revision", "")), scores_of(out))
    url = hub.upload(out, repo, text, token, private)
    left = hub.missing_files(out, hub.remote_files(repo, token))
    if left:
        raise StoreError(f"{len(left)} files did not arrive, first {left[0]}.", "Run the same command again.")
    return url


def scores_of(out: Path) -> dict[str, dict[str, str]]:
    """What was scored of OUT, by this call or an earlier one, for the card."""
    found = {}
    for path in sorted((out / FOLDER).glob(f"*/{SUMMARY}")):
        scores = {name: str(Interval(**row)) for name, row in read_summary(path)["scores"].items()}
        found[path.parent.name] = {name: scores[name] for name in SHOWN_SCORES if name in scores}
    return found


def summary_lines(state: State) -> list[str]:
    """The end of a run for people: pages, shapes, scores, times."""
    lines = []
    if state.pages:
        lines.append("pages: " + ", ".join(f"{count} {name}" for name, count in state.pages.items()))
    if state.embedded:
        shapes = state.embedded.shapes.items()
        lines += [f"embeddings/{name}.npy: {' x '.join(map(str, shape))}" for name, shape in shapes]
    for source, summary in state.scores.items():
        numbers = ", ".join(f"{name} {value}" for name, value in _shown(summary).items())
        lines.append(f"retrieval by {source}: {numbers}")
        for label, values in summary.slices.items():
            lines.append(f"  {label}: ndcg@10 {values['ndcg@10']}, recall@10 {values['recall@10']}")
    if state.url:
        lines.append(f"uploaded: {state.url}")
    lines.append("seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in state.seconds.items()))
    return lines


def summary_json(state: State) -> str:
    return json.dumps(
        {
            "pages": state.pages,
            "revision": state.revision,
            "embedded": state.embedded.facts() if state.embedded else None,
            "scores": {name: {k: i.mean for k, i in s.scores.items()} for name, s in state.scores.items()},
            "uploaded": state.url,
            "seconds": state.seconds,
        },
        ensure_ascii=False,
    )


def _shown(summary: Summary) -> dict[str, str]:
    return {name: str(summary.scores[name]) for name in SHOWN_SCORES if name in summary.scores}

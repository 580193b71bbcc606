"""A whole pipeline: check, download, parse, enrich, embed, index, evaluate, upload.

It runs over any data set of pages. Every step finds out by itself what is done, so a pipeline that was
killed anywhere goes on when it is called again. Servers that read start and end with the step that reads;
the one that embeds starts with them where their card has room for it, else after them.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import Any

from penstock import sources
from penstock.driver import Run
from penstock.engines.embed.embedder import open_embedder
from penstock.engines.vllm.early_server import EarlyServer
from penstock.engines.vllm.embedding_presets import MODEL as EMBEDDING_MODEL
from penstock.engines.vllm.memory_budget import LAYOUT_BATCH
from penstock.engines.vllm.presets import Card, cards, free_memory
from penstock.engines.vllm.server_plan import ServerChoice, embedding_server, reading_servers, sharing_card
from penstock.errors import UsageError
from penstock.executors import make_executor
from penstock.exports.export import CROP_NAMES, export
from penstock.page import Page
from penstock.passes.embed import EmbedOptions, checked_precision, embed_out
from penstock.passes.enrich import EnrichOptions, enrich_work
from penstock.passes.hub.front_matter import check_licence
from penstock.passes.index import index_out
from penstock.passes.parse import crop_names_of, downloads_of, redacted_inputs
from penstock.passes.pipeline_check import (
    STEPS,
    free_bytes,
    need_all,
    refuse_useless,
    stages_lack,
    started_in_words,
    steps_lack,
    vllm_lacks,
    weights_lack,
)
from penstock.passes.pipeline_options import PipelineOptions, PipelineState
from penstock.passes.pipeline_presets import (
    corpus_of,
    default_recipe,
    models_of,
    queries_of,
)
from penstock.passes.prepared_run import PreparedRun, Showing
from penstock.passes.scores import evaluate_search
from penstock.passes.upload import need_token, upload_out
from penstock.plan import Plan
from penstock.sizes import file_size
from penstock.sources.queries import read_queries
from penstock.sources.remote import hub
from penstock.stages.ground import Ground
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.store.out import Out
from penstock.store.schema import PAGES
from penstock.trace import report
from penstock.trace.phrases import plural
from penstock.trace.spans import Trace

log = logging.getLogger(__name__)
COUNT_S = 20.0  # of counting what a sample was taken from: listing PDFs opens each of them
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


class Pipeline:
    """`for line in Pipeline(options).run(steps)`: a line for each thing done."""

    def __init__(self, options: PipelineOptions, showing: Showing | None = None) -> None:
        self.options = options
        self.state = PipelineState()
        self._showing = showing
        recipe, self._why = options.recipe, ""
        if not recipe:
            recipe, self._why = default_recipe(Out(options.out), self._cards)
        self._models = models_of(recipe, options.settings)
        refuse_useless(options, self._models)
        self._steps: tuple[str, ...] = STEPS
        self._embedder = EarlyServer(self._embedding_server, self._sharing_embedder)  # begins if it is ours

    @cached_property
    def _cards(self) -> list[Card]:
        """The GPUs of this machine. nvidia-smi takes seconds on some machines."""
        return cards()

    def run(self, steps: tuple[str, ...]) -> Iterator[str]:
        self._steps = steps
        if self._why:
            yield f"recipe {self._models.name}: {self._why}"
        yield from self._plan().notes
        if "check" not in steps:  # what it says first, this says now
            need_all(list(steps_lack(self._steps_at_work())))
        with closing(self._embedder):
            for number, name in enumerate(steps, 1):
                yield self._done(name, f"[{number}/{len(steps)}]")

    def _done(self, name: str, place: str) -> str:
        """Does a step and returns a line of what came of it."""
        began = time.perf_counter()
        log.info("step %s begins", name, extra={"step": name})
        step: Callable[[], str] = getattr(self, f"_{name}")
        said = step()
        self.state.seconds[name] = round(time.perf_counter() - began, 2)
        line = f"{place} {name}: {said} ({self.state.seconds[name]:.1f} s)"
        log.info("step %s", line, extra={"step": name, "seconds": self.state.seconds[name]})
        return line

    def _check(self) -> str:
        """Says everything that can be known to fail now, not after a night of reading."""
        options = self.options
        plan = self._plan()
        checked_precision(options.precision)
        if options.queries:
            read_queries(options.queries)
        _check_source(options)
        crop_names_of(options.crop_names, None)
        check_licence(options.licence)
        chosen = self._started()
        lacks = [*steps_lack(self._steps_at_work()), *stages_lack(plan)]
        if chosen:
            lacks += vllm_lacks()
        for choice in chosen:
            lacks += weights_lack(choice.model)
        need_all(lacks)
        if options.repo:
            need_token(options.token)
            hub.check_token(options.token)
        self._meet_embedder()
        free = free_bytes(options.out)
        return f"recipe {self._models.name}, {started_in_words(chosen, self._cards)}, {file_size(free)} free"

    def _steps_at_work(self) -> list[str]:
        """Returns the steps that will need packages of their own: not those with nothing to do."""
        options = self.options
        idle = {
            "download": self._is_local(),
            "embed": self._models.served,  # a server embeds
            "evaluate": bool(options.inputs) and options.queries is None,
            "upload": not options.repo,
        }
        return [step for step in self._steps if not idle.get(step)]

    def _is_local(self) -> bool:
        return bool(self.options.inputs) or Path(self.options.source).is_dir()

    def _started(self) -> list[ServerChoice]:
        """Returns one of each kind of server that this pipeline will start."""
        if not self._models.served:
            return []
        reads = (
            self._reading_servers()[:1] if self._models.read_by_server and not self.options.servers else []
        )
        return reads + ([self._embedding_server()] if self._starts_embedder else [])

    @property
    def _starts_embedder(self) -> bool:
        """Whether the server that embeds is ours to start."""
        return self._models.served and not self.options.embedding_server and "embed" in self._steps

    def _meet_embedder(self) -> None:
        """A wrong address would be seen after all pages are read, so it is asked now."""
        if self._models.served and self.options.embedding_server and "embed" in self._steps:
            embedder = open_embedder(self._models.embedder, {"server": self.options.embedding_server})
            embedder.close()

    def _download(self) -> str:
        options = self.options
        if self._is_local():
            return "pages are on this machine already"
        # a revision stays for the life of OUT: pages of two must not lie in one corpus
        pinned = str(Out(options.out).run().get("revision") or "")
        wanted = options.revision
        if pinned and _COMMIT.fullmatch(wanted) and not pinned.startswith(wanted):
            raise UsageError(
                f"{options.out} holds pages of revision {pinned[:12]}, not of {wanted[:12]}.",
                "Use another --output-dir.",
            )
        found = hub.download(options.source, options.data, pinned or wanted or None, options.token)
        self.state.revision = found.revision
        return f"{found.repo} at {found.revision[:12]}"

    def _reading_servers(self) -> list[ServerChoice]:
        options = self.options
        return reading_servers(
            recogniser_of(self._plan()),
            self._cards,
            model=options.ocr_model,
            preset_name=options.preset,
            dtype=options.ocr_dtype,
            memory=options.gpu_mem_util,
            vision=options.vision,
            max_model_len=options.settings.get("max_model_len", 0),
            max_tokens=options.settings.get("max_tokens", 0),
        )

    def _plan(self) -> Plan:
        """Returns the plan that reads pages; without servers that run, its recogniser starts its own."""
        options = self.options
        served: dict[str, Any] = {"model": options.ocr_model}
        if options.servers:
            served = {"server": options.servers, "in_flight": options.workers or 0}
        elif self._models.read_by_server:
            served |= {
                "preset": options.preset, "ocr_dtype": options.ocr_dtype, "vision": options.vision,
                "gpu_mem_util": options.gpu_mem_util, "in_flight": options.workers or 0,
            }  # fmt: skip
        return self._models.plan(options.crops, options.batch_size, **served)

    def _parse(self) -> str:
        options = self.options
        work = self._parse_work()
        profile = work.finish(self._showing)
        export(options.out, ["jsonl", "md"])
        tally = work.run.tally
        self.state.pages = {"done": tally.done, "skipped": tally.skipped, "failed": tally.failed}
        if tally.failed_before:
            self.state.pages["failed before"] = tally.failed_before
        said = f"{plural(tally.done, 'page')} read, {tally.skipped} were done, {tally.failed} failed"
        whole = report.estimate(profile)
        if whole:
            self.state.estimate = {
                "pages": profile.whole,
                "seconds": report.projection(profile)[profile.whole],
            }
        return f"{said}; {whole}" if whole else said

    def _parse_work(self) -> PreparedRun[Page]:
        options = self.options
        inputs = list(options.inputs) or [str(corpus_of(self._folder(), options.source_preset))]
        facts: dict[str, Any] = {
            "inputs": redacted_inputs(inputs),
            "dataset": "" if options.inputs else options.source,
            "revision": self.state.revision or Out(options.out).run().get("revision", ""),
            **(crop_names_of(options.crop_names, options.out) or {CROP_NAMES: "page"}),
        }
        run = Run(self._plan(), make_executor("local", Trace()), options.out, PAGES, facts=facts)
        listing = sources.list_items(inputs, Page, downloads=downloads_of(options.out, inputs))
        work = PreparedRun(run, listing)
        if options.limit:
            work.listing = islice(listing, options.limit)
            work.sample_of = lambda: self._whole(run.tally.listed, listing)
        if self._starts_embedder and not options.enrich:  # else its server may want the card first
            run.before_item = self._embedder.begin_early
            work.on_end = lambda: self._embedder.begin() if run.tally.done else None
        return work

    def _whole(self, listed: int, rest: Iterator[Page]) -> int:
        """Returns the pages of the whole set: counted, or as published where counting takes long."""
        more = count_within(rest, COUNT_S)
        return self.options.published_pages if more is None else listed + more

    def _enrich(self) -> str:
        if not self.options.enrich:
            return "not asked for"
        work = enrich_work(EnrichOptions(), self.options.out)
        work.finish(self._showing)
        tally = work.run.tally
        self.state.blocks = {"done": tally.done, "skipped": tally.skipped, "failed": tally.failed}
        return (
            f"{tally.done} tables and pictures summarised, {tally.skipped} were done, {tally.failed} failed"
        )

    def _embed(self) -> str:
        options = self.options
        settings: dict[str, Any] = {}
        if self._models.served:
            model, url = options.embedding_model, options.embedding_server
            if self._starts_embedder:
                model, url = self._embedding_server().model, self._embedder.url
            settings = {"server": url, "model": model, "in_flight": options.workers}
        chosen = EmbedOptions(
            engine=self._models.embedder,
            queries=self._queries_path(),
            precision=options.precision,
            settings=settings,
        )
        self.state.embedded = embed_out(options.out, chosen, self._showing, self._await_embedder)
        self._embedder.end()  # it takes seconds to give the card back, and the index needs no card
        return self.state.embedded.sentence()

    def _await_embedder(self) -> None:
        if self._starts_embedder:
            self._embedder.await_ready()

    def _sharing_embedder(self) -> ServerChoice | None:
        """Returns the server that embeds while others read; None where the card has no room for both."""
        options, found = self.options, self._cards
        shares_given = options.gpu_mem_util is not None  # of all servers together
        reads_here = not self._models.read_by_server  # in this process, on the same card
        if not found or reads_here or shares_given or (options.batch_size or 0) > LAYOUT_BATCH:
            return None
        readers = [] if options.servers else self._reading_servers()
        return sharing_card(self._embedding_server(), readers, found[0], free_memory(found[0].index))

    def _embedding_server(self) -> ServerChoice:
        options = self.options
        model = options.embedding_model or EMBEDDING_MODEL
        card = next(iter(self._cards), None)
        memory, preset = options.gpu_mem_util, options.preset
        return embedding_server(model, card, preset_name=preset, memory=memory, vision=options.vision)

    def _index(self) -> str:
        built = index_out(self.options.out)
        return f"{plural(built.pages, 'page')}, {built.changed} added or changed"

    def _evaluate(self) -> str:
        path = self._queries_path()
        if path is None:
            return "no queries, no scores"
        queries = read_queries(path)
        if not any(query.relevant for query in queries):
            return "the queries name no pages, so there is nothing to score"
        self.state.scores = evaluate_search(Out(self.options.out), queries)
        one = next(iter(self.state.scores.values()))  # all sources are asked the same
        return " ".join(
            [f"{plural(one.count, 'query', 'queries')} by {', '.join(self.state.scores)}.", *one.warnings]
        )

    def _upload(self) -> str:
        options = self.options
        if not options.repo:
            return "no --hf-repo, nothing goes up"
        self.state.url = upload_out(
            options.out, options.repo, options.token, options.private, options.licence
        )
        return self.state.url

    def _folder(self) -> Path:
        local = Path(self.options.source)
        return local if local.is_dir() else self.options.data

    def _queries_path(self) -> Path | None:
        if self.options.queries or self.options.inputs:
            return self.options.queries
        return queries_of(self._folder(), self.options.source_preset)


def count_within(
    items: Iterator[object], seconds: float, clock: Callable[[], float] = time.monotonic
) -> int | None:
    """Returns how many items come, or None where they take longer than `seconds`."""
    end = clock() + seconds
    for number in count():
        if clock() > end:
            return None
        if next(items, None) is None:
            return number
    return None


def recogniser_of(plan: Plan) -> str:
    """Returns the name of the model that a plan reads with."""
    return next(stage.recogniser for stage in plan if isinstance(stage, RecogniseRemote | Ground))


def _check_source(options: PipelineOptions) -> None:
    if not options.inputs and not options.source:
        raise UsageError("There is nothing to read.", "Name inputs, or a data set with --dataset.")

"""Shows a benchmark's pictures to a recipe's own recogniser, each with the benchmark's question about it.

The answers are rows of a ledger in OUT/answers, so that a run that was killed does only what is left. A
sample is named with what is asked: another question about the same picture is another row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from penstock.documents.pages.prompted_page import PromptedPage
from penstock.driver import Run
from penstock.executors import make_executor
from penstock.page import Page
from penstock.plan import Plan
from penstock.region import Asking
from penstock.store.ledger import Ledger, has_rows
from penstock.store.schema import PAGES
from penstock.trace.spans import Trace
from penstock_eval.benchmarks.base import Benchmark, Sample
from penstock_eval.predictions import Predictions

ANSWERS = "answers"


def has_answers(out: Path) -> bool:
    return has_rows(out / ANSWERS)


def answers(
    benchmark: Benchmark,
    samples: Sequence[Sample],
    plan: Plan,
    out: Path,
    progress: Callable[[int, int], None],
) -> Predictions:
    """Returns the recogniser's answer to every sample. Sends what has no answer yet, and what failed."""
    asked = {sample.id: _asked(sample, benchmark.asking(sample)) for sample in samples}
    facts = {"benchmark": benchmark.name}
    run = Run(plan, make_executor("local", Trace()), out / ANSWERS, PAGES, retry_failed=True, facts=facts)
    with closing(run.items(asked.values())) as pages:
        for done, _ in enumerate(pages, 1):
            progress(done + run.tally.skipped, len(samples))
    return _predictions({name: page.id for name, page in asked.items()}, out)


def _asked(sample: Sample, asking: Asking | None) -> PromptedPage:
    assert asking is not None
    return PromptedPage(
        id=f"{sample.id}~{asking.key}",
        uri=sample.image,
        document=sample.id,
        media="image",
        asking=asking,
    )


def _predictions(ids: dict[str, str], out: Path) -> Predictions:
    """Returns the texts by sample, with a warning for each sample that has no answer."""
    ledger = Ledger(out / ANSWERS, PAGES)
    entries = ledger.entries()
    texts: dict[str, str] = {}
    warnings: list[str] = []
    for sample, id in ids.items():
        page = ledger.item(entries[id])
        if trouble := _trouble(page):
            warnings.append(f"{sample}: {trouble}")
        else:
            texts[sample] = "\n\n".join(region.content for region in page.regions if region.content)
    return Predictions(texts, tuple(warnings))


def _trouble(page: Page) -> str:
    """Returns why there is no answer, "" where there is one."""
    failures = [failure for _, failure in page.failed_parts()]
    failure = page.failure or next(iter(failures), None)
    return f"{failure.message} {failure.advice}".strip() if failure is not None else ""

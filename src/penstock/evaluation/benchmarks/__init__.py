"""The benchmarks by name. Each reads a public data set's own files from a folder and scores one sample."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from penstock.errors import UsageError
from penstock.evaluation.benchmarks.base import Benchmark
from penstock.evaluation.metrics.formula_render import tex
from penstock.extras import need_extra

BENCHMARKS = {
    "omnidocbench": "penstock.evaluation.benchmarks.omnidocbench:OmniDocBench",
    "mdpbench": "penstock.evaluation.benchmarks.omnidocbench:MdpBench",
    "dpbench": "penstock.evaluation.benchmarks.dpbench:DpBench",
    "ocrbench": "penstock.evaluation.benchmarks.answers:OcrBench",
    "nanonets-kie": "penstock.evaluation.benchmarks.answers:NanonetsKie",
    "unimernet": "penstock.evaluation.benchmarks.formulas:UniMerNet",
    "pubtabnet": "penstock.evaluation.benchmarks.tables:PubTabNet",
    "teds-test": "penstock.evaluation.benchmarks.tables:TedsTest",
    "handwritten": "penstock.evaluation.benchmarks.lines:Handwritten",
    "olmocr-bench": "penstock.evaluation.benchmarks.olmocr:OlmOcrBench",
    "pages": "penstock.evaluation.benchmarks.pages:PagesWithText",
}


def benchmark_class(name: str) -> type[Benchmark]:
    """Returns the benchmark's class. Raises UsageError with the names, MissingModel for packages."""
    if name not in BENCHMARKS:
        raise UsageError(f"There is no benchmark {name!r}.", f"Use one of {', '.join(BENCHMARKS)}.")
    need_extra("eval", "Evaluation")
    module, _, attribute = BENCHMARKS[name].partition(":")
    found: type[Benchmark] = getattr(import_module(module), attribute)
    return found


def open_benchmark(name: str, protocol: str = "", *, cdm: bool = False) -> Benchmark:
    """Returns the benchmark. `protocol` chooses the version of its rules, `cdm` also renders formulas.

    Raises UsageError for a benchmark that has no versions or formulas, MissingModel without TeX.
    """
    kind = benchmark_class(name)
    if protocol and "version" not in kind.__dataclass_fields__:
        raise UsageError(f"{kind.title} has one protocol only.", "Leave --protocol out.")
    if cdm and "cdm" not in kind.__dataclass_fields__:
        raise UsageError(f"{kind.title} has no formulas to render.", "Leave --cdm out.")
    benchmark = kind(version=protocol) if protocol else kind()  # type: ignore[call-arg]  # of those with versions
    if not cdm:
        return benchmark
    tex()  # says at once what to install, not after an hour of scoring
    return replace(benchmark, cdm=True)  # type: ignore[call-arg]  # a field of those that render

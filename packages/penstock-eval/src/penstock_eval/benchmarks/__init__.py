"""The benchmarks by name. Each reads a public data set's own files from a folder and scores one sample."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from penstock.errors import UsageError
from penstock_eval.benchmarks.base import Benchmark
from penstock_eval.metrics.formula_render import tex

BENCHMARKS = {
    "omnidocbench": "penstock_eval.benchmarks.omnidocbench:OmniDocBench",
    "mdpbench": "penstock_eval.benchmarks.omnidocbench:MdpBench",
    "dpbench": "penstock_eval.benchmarks.dpbench:DpBench",
    "ocrbench": "penstock_eval.benchmarks.answers:OcrBench",
    "nanonets-kie": "penstock_eval.benchmarks.answers:NanonetsKie",
    "unimernet": "penstock_eval.benchmarks.formulas:UniMerNet",
    "pubtabnet": "penstock_eval.benchmarks.tables:PubTabNet",
    "teds-test": "penstock_eval.benchmarks.tables:TedsTest",
    "handwritten": "penstock_eval.benchmarks.lines:Handwritten",
    "olmocr-bench": "penstock_eval.benchmarks.olmocr:OlmOcrBench",
    "office": "penstock_eval.benchmarks.office:OfficeFiles",
    "pages": "penstock_eval.benchmarks.pages:PagesWithText",
}


def benchmark_class(name: str) -> type[Benchmark]:
    """Returns the benchmark's class. Raises UsageError with the names for an unknown one."""
    if name not in BENCHMARKS:
        raise UsageError(f"There is no benchmark {name!r}.", f"Use one of {', '.join(BENCHMARKS)}.")
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

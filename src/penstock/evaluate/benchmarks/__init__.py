"""The benchmarks, by name. Each reads a public data set's own files from a folder."""

from __future__ import annotations

from importlib import import_module

from penstock.errors import UsageError
from penstock.evaluate.benchmarks.base import Benchmark

BENCHMARKS = {
    "omnidocbench": "penstock.evaluate.benchmarks.omnidocbench:OmniDocBench",
    "mdpbench": "penstock.evaluate.benchmarks.omnidocbench:MdpBench",
    "dpbench": "penstock.evaluate.benchmarks.dpbench:DpBench",
    "ocrbench": "penstock.evaluate.benchmarks.answers:OcrBench",
    "nanonets-kie": "penstock.evaluate.benchmarks.answers:NanonetsKie",
    "unimernet": "penstock.evaluate.benchmarks.formulas:UniMerNet",
    "pubtabnet": "penstock.evaluate.benchmarks.tables:PubTabNet",
    "teds-test": "penstock.evaluate.benchmarks.tables:TedsTest",
    "handwritten": "penstock.evaluate.benchmarks.lines:Handwritten",
    "olmocr-bench": "penstock.evaluate.benchmarks.olmocr:OlmOcrBench",
    "pages": "penstock.evaluate.benchmarks.pages:Pages",
}


def benchmark_class(name: str) -> type[Benchmark]:
    if name not in BENCHMARKS:
        raise UsageError(f"There is no benchmark {name!r}.", f"Use one of {', '.join(BENCHMARKS)}.")
    module, _, attribute = BENCHMARKS[name].partition(":")
    found: type[Benchmark] = getattr(import_module(module), attribute)
    return found


def open_benchmark(name: str, protocol: str = "") -> Benchmark:
    """The benchmark of this name; `protocol` chooses the version where there are several."""
    kind = benchmark_class(name)
    if not protocol:
        return kind()
    if "version" not in kind.__dataclass_fields__:
        raise UsageError(f"{kind.title} has one protocol only.", "Leave --protocol out.")
    return kind(version=protocol)  # type: ignore[call-arg]  # a field of those that have versions

"""Scores how well the built-in recipe reads: every data set of the test data that has pictures and a truth.

    python benchmarks/quality/score_all.py [DATA] [--out OUT] [--write docs/quality.md] [--effort balanced]

DATA is the folder of test data (PENSTOCK_DATA). Pages are kept in OUT (build/quality), so a second run reads
only what is new; the last line is JSON. The same sets as another checkout or another tool reads them, and
all of them side by side:

    python benchmarks/quality/score_all.py --tree BEFORE --out build/before
    python benchmarks/quality/score_all.py --peer rapidocr --peer-python peers/bin/python --out build/rapidocr
    python benchmarks/quality/score_all.py --write docs/quality.md \\
        --beside before=build/before --beside RapidOCR=build/rapidocr
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import penstock
from penstock.passes.scores import Summary
from penstock_eval.benchmark_run import run_benchmark
from penstock_eval.benchmarks.base import Benchmark, Sample
from penstock_eval.benchmarks.omnidocbench import OmniDocBench
from penstock_eval.benchmarks.pages import PagesWithText, composed, plain_text
from penstock_eval.benchmarks.tables import PubTabNet
from penstock_eval.method import FROM_PAGES
from penstock_eval.metrics.contains import contains_answer
from penstock_eval.predictions import Predictions
from penstock_eval.report import write_report
from penstock_eval.results import SampleResult, summarise
from penstock_eval.scoring import score_samples

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA
from benchmarks.quality.pdf_truth import DPI, layer_text, pages_as_pictures, placed_text, without_furniture
from benchmarks.quality.readers import PEERS, OtherTree, Peer, Reader, ThisTree
from benchmarks.quality.report_words import (
    BORN_DIGITAL,
    BY_SCHEMA,
    GENERALISE,
    INTRODUCTION,
    PHOTOS,
    SCORER,
    SIDE_BY_SIDE,
    WEAK,
    WORDS,
)
from benchmarks.quality.scorer_check import table as scorer_table
from benchmarks.quality.side_by_side import table as table_side_by_side
from benchmarks.quality.side_by_side import write_scores

CONFIDENCE = Path(__file__).with_name("confidence.md")  # made of what three other scripts print
OFFICE = "\n## Office files, HWP and mail\n"
DEMO = "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained package"
FIELDS = ("company", "date", "address", "total")
SLICES = ("language:", "layout:", "data_source:")
NOT_PAGES = ("sroie_fields",)  # scores of scores, which keep no text


@dataclass(slots=True)
class Asked:
    """Who reads, for every set of a run."""

    reader: Reader


asked = Asked(ThisTree({}))


@dataclass(frozen=True, slots=True)
class Scored:
    """One data set, scored. `title` heads its section."""

    key: str
    title: str
    summary: Summary
    results: tuple[SampleResult, ...]


def read(name: str, sources: Sequence[str], out: Path) -> dict[str, str]:
    """Markdown by `path` (of a picture) or `path#page` (of a PDF), read once and kept."""
    return asked.reader.read(name, sources, out)


def predictions(samples: Sequence[Sample], pages: dict[str, str]) -> Predictions:
    """A page that could not be read is an empty one, with a warning."""
    texts = {s.id: pages.get(str(Path(s.image).resolve()), "") for s in samples}
    missing = tuple(f"{s.id}: not read." for s in samples if str(Path(s.image).resolve()) not in pages)
    return Predictions(texts, missing)


def score(
    key: str, title: str, benchmark: Benchmark, samples: Sequence[Sample], out: Path, read_as: str = ""
) -> Scored:
    """Reads what the samples point at, then scores it. `image` may name a page of a PDF, `path#page`.

    `read_as` is the key of a set with the same pages, which are not read again.
    """
    sources = list(dict.fromkeys(sample.image.partition("#")[0] for sample in samples))
    pages = read(read_as or key, sources, out)
    outcome = score_samples(benchmark, samples, predictions(samples, pages), out / key)
    write_report(out / key)
    return Scored(key, title, outcome.summary, outcome.results)


def omnidocbench(data: Path, out: Path) -> Iterable[Scored]:
    folder = data / "omnidocbench_demo"
    for version in ("v1.5", "v1.6"):
        bench = OmniDocBench(version=version)
        samples = bench.samples(folder)
        pages = read("omnidocbench", [sample.image for sample in samples], out)
        target = out / "omnidocbench" / version
        outcome = score_samples(bench, samples, predictions(samples, pages), target)
        write_report(target)
        yield Scored(
            f"omnidocbench_{version}", f"OmniDocBench demo, {version}", outcome.summary, outcome.results
        )


def pubtabnet(data: Path, out: Path) -> Iterable[Scored]:
    """Pictures of tables: read as tables, which is what the benchmark asks, and as pages."""
    folder, bench = data / "pubtabnet_examples" / "examples", PubTabNet(split="")
    if isinstance(asked.reader, ThisTree):
        tables = run_benchmark(bench, out / "pubtabnet_tables", folder)
        yield Scored("pubtabnet_tables", "PubTabNet examples, read as tables", tables.summary, tables.results)
    paged = replace(bench, method=FROM_PAGES["table"])
    yield score("pubtabnet", "PubTabNet examples, read as pages", paged, paged.samples(folder), out)


def receipts(data: Path, out: Path) -> Iterable[Scored]:
    """SROIE: the words of a receipt, and whether its four key fields can be found in them."""
    folder = data / "sroie_sample"
    samples = [
        Sample(f.stem, receipt_text(f), str(folder / "img" / f"{f.stem}.jpg"))
        for f in sorted((folder / "box").glob("*.csv"))
    ]
    done = score("sroie", "SROIE receipts, English scans", PagesWithText(), samples, out)
    yield done
    yield _fields_found(done, folder / "key")


def receipt_text(boxes: Path) -> str:
    """Lines in the file's order, which is top to bottom."""
    with boxes.open(encoding="utf-8", newline="") as opened:
        rows = [row for row in csv.reader(opened) if len(row) > 8]
    return "\n".join(",".join(row[8:]) for row in rows)


def _fields_found(done: Scored, keys: Path) -> Scored:
    results: list[SampleResult] = []
    for result in done.results:
        fields = json.loads((keys / f"{result.id}.json").read_text(encoding="utf-8"))
        said = composed(result.prediction)
        found = {f: float(contains_answer(composed(fields[f]), said)) for f in FIELDS if fields.get(f)}
        results.append(SampleResult(result.id, {**found, "all_fields": sum(found.values()) / len(found)}))
    higher = dict.fromkeys((*FIELDS, "all_fields"), True)
    summary = summarise("sroie-fields", "field contained in the page's text", results, higher, {})
    return Scored("sroie_fields", "SROIE receipts: is the field in the text?", summary, tuple(results))


def korean_book(data: Path, out: Path) -> Iterable[Scored]:
    """26 pages of running Korean: read from pictures, and from the PDF with its text layer."""
    pdf = data / "korean_text" / "project-history.ko.pdf"
    texts = layer_text(pdf)
    pictures = pages_as_pictures(pdf, out / "korean_book_pictures" / "pictures", len(texts))
    samples = [Sample(p.stem, t, str(p)) for p, t in zip(pictures, texts, strict=True) if composed(t)]
    yield score(
        "korean_book_pictures", f"Korean running text, pictures at {DPI} dpi", PagesWithText(), samples, out
    )
    paged = [
        Sample(f"{pdf.stem}-{n:03d}", text, f"{pdf}#{n}") for n, text in enumerate(texts) if composed(text)
    ]
    yield score("korean_book_layer", "Korean running text, with its text layer", PagesWithText(), paged, out)
    body = without_furniture(texts)
    yield score(
        "korean_book_pictures_body",
        f"Korean running text, pictures at {DPI} dpi, without running heads and list marks",
        PagesWithText(),
        [replace(sample, truth=body[int(sample.id[-3:])]) for sample in samples],
        out,
        read_as="korean_book_pictures",
    )
    bare = [replace(sample, truth=body[int(sample.image.rpartition("#")[2])]) for sample in paged]
    yield score(
        "korean_book_body",
        "Korean running text, its layer without running heads and list marks",
        PagesWithText(),
        bare,
        out,
        read_as="korean_book_layer",
    )


def korean_report(data: Path, out: Path) -> Iterable[Scored]:
    """Pages of a report whose text layer covers the page; the others have no truth."""
    pdf = next((data / "korean_pdf").glob("*.pdf"))
    texts = layer_text(pdf)
    whole = [n for n, text in enumerate(texts) if len(composed(text)) >= 400]
    pictures = pages_as_pictures(pdf, out / "korean_report_pictures" / "pictures", len(texts))
    samples = [Sample(pictures[n].stem, texts[n], str(pictures[n])) for n in whole]
    yield score(
        "korean_report_pictures", f"Korean report, pictures at {DPI} dpi", PagesWithText(), samples, out
    )
    paged = [Sample(f"{pdf.stem}-{n:03d}", texts[n], f"{pdf}#{n}") for n in whole]
    yield score("korean_report_layer", "Korean report, with its text layer", PagesWithText(), paged, out)
    body = without_furniture(placed_text(pdf))
    yield score(
        "korean_report_body",
        "Korean report, its layer from top to bottom without running heads and list marks",
        PagesWithText(),
        [replace(sample, truth=body[n]) for sample, n in zip(paged, whole, strict=True)],
        out,
        read_as="korean_report_layer",
    )


def turned_pages(data: Path, out: Path) -> Iterable[Scored]:
    folder = data / "docling_tests" / "ocr" / "sources"
    names = ("ocr_test", "ocr_test_rotated_90", "ocr_test_rotated_180", "ocr_test_rotated_270")
    samples = [Sample(name, DEMO, f"{folder / name}.pdf#0") for name in names]
    yield score("turned", "One scanned sentence, upright and turned", PagesWithText(), samples, out)


def other_engine(data: Path, out: Path) -> Iterable[Scored]:
    """No truth here: how near we come to what a vision-language model of 0.9 B parameters wrote."""
    folder = data / "glmocr_examples"
    samples = [
        Sample(p.stem, composed(plain_text(truth.read_text(encoding="utf-8"))), str(p))
        for p in sorted((folder / "source").glob("*.png"))
        if (truth := folder / "result" / p.stem / f"{p.stem}.md").is_file()
    ]
    yield score("glmocr", "Agreement with GLM-OCR's own output (not a truth)", PagesWithText(), samples, out)


SETS = {
    "omnidocbench_demo": omnidocbench,
    "pubtabnet_examples": pubtabnet,
    "sroie_sample": receipts,
    "korean_text": korean_book,
    "korean_pdf": korean_report,
    "docling_tests": turned_pages,
    "glmocr_examples": other_engine,
}


def section(scored: Scored) -> list[str]:
    summary = scored.summary
    lines = [
        f"### {scored.title}",
        "",
        f"{summary.count} samples; rules: {summary.protocol}.",
        "",
        "| score | mean | 95 % interval | n | better |",
        "|---|---|---|---|---|",
    ]
    for name, value in summary.scores.items():
        better = "higher" if summary.higher_is_better[name] else "lower"
        lines.append(
            f"| {name} | {value.mean:.4f} | {value.low:.4f} to {value.high:.4f} | {value.count} | {better} |"
        )
    lines += [f"| {name} | {value:.4f} | | all | |" for name, value in summary.extra.items()]
    return [*lines, "", *slice_table(summary), *([WORDS[scored.key], ""] if scored.key in WORDS else [])]


def slice_table(summary: Summary) -> list[str]:
    names = [name for name in summary.slices if name.startswith(SLICES)]
    metrics = [m for m in ("text_edit", "table_teds", "order_edit", "invented") if m in summary.scores]
    if not names or not metrics:
        return []
    lines = ["| slice | pages | " + " | ".join(metrics) + " |", "|---|---|" + "---|" * len(metrics)]
    for name in names:
        row = summary.slices[name]
        count = max(value.count for value in row.values())
        cells = [f"{row[m].mean:.3f}" if m in row else "" for m in metrics]
        lines.append(f"| {name} | {count} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def worst(scored: Scored, count: int = 3) -> list[str]:
    """The samples that lose most by the set's first score, for those who want to look."""
    metric = next(iter(scored.summary.scores), "")
    rows = [r for r in scored.results if metric in r.scores]
    rows.sort(key=lambda r: r.scores[metric], reverse=not scored.summary.higher_is_better.get(metric, True))
    return [f"{r.id} ({r.scores[metric]:.3f})" for r in rows[:count]]


def document(done: Sequence[Scored], data: Path, columns: dict[str, Path]) -> str:
    made = (
        f"Made by `python benchmarks/quality/score_all.py` on {date.today().isoformat()}: penstock "
        f"{penstock.__version__}, built-in `documents` recipe with its defaults, {platform.machine()}, "
        f"{os.cpu_count()} cores. Intervals are 95 % bootstrap intervals over samples."
    )
    head = ["# How well it reads", "", made, "", INTRODUCTION, "", WEAK, ""]
    if columns:
        head += [SIDE_BY_SIDE, "", *table_side_by_side(columns), "", BORN_DIGITAL, ""]
    head += [GENERALISE, "", BY_SCHEMA, "", CONFIDENCE.read_text(encoding="utf-8"), "## Scores", ""]
    body = [line for scored in done for line in section(scored)]
    tail = [PHOTOS, "", "## Worst samples", "", "By each set's first score, the worst first.", ""]
    tail += [f"- {scored.title}: {', '.join(worst(scored))}" for scored in done]
    right = ["", "## Is the scorer right?", "", SCORER, "", *scorer_table(data)]
    return "\n".join([*head, *body, *tail, *right])


def with_intervals(done: Sequence[Scored]) -> dict[str, dict[str, dict[str, float]]]:
    """Scores of the sets that were read: a tool that reads no PDFs has none of those."""
    return {
        one.key: {
            name: {"mean": value.mean, "low": value.low, "high": value.high}
            for name, value in one.summary.scores.items()
        }
        for one in done
        if any(result.prediction for result in one.results) or one.key in NOT_PAGES
    }


def chosen_reader(arguments: argparse.Namespace) -> Reader:
    if arguments.tree:
        return OtherTree(arguments.tree)
    if arguments.peer:
        return Peer(arguments.peer, arguments.peer_python)
    return ThisTree({"effort": arguments.effort} if arguments.effort else {})


def figures(done: Sequence[Scored]) -> dict[str, dict[str, float]]:
    return {d.key: {name: round(v.mean, 4) for name, v in d.summary.scores.items()} for d in done}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", default=DATA)
    parser.add_argument("--out", type=Path, default=Path("build/quality"))
    parser.add_argument("--write", type=Path, help="a document to write; none if not given")
    parser.add_argument("--only", default="", help="names of data sets, with commas; writes no document")
    parser.add_argument("--effort", help="fast, balanced or best; as the recipe has it if not given")
    parser.add_argument("--tree", type=Path, help="another checkout that reads instead of this one")
    parser.add_argument("--peer", choices=PEERS, help="another tool that reads pictures instead")
    parser.add_argument("--peer-python", default=sys.executable, help="the Python that has the other tool")
    parser.add_argument(
        "--beside", action="append", default=[], help="NAME=OUT of another run, for the table side by side"
    )
    arguments = parser.parse_args()
    asked.reader = chosen_reader(arguments)
    data, began = Path(arguments.data), time.perf_counter()
    wanted = arguments.only.split(",") if arguments.only else list(SETS)
    there = [name for name in wanted if (data / name).is_dir()]
    done = [scored for name in there for scored in SETS[name](data, arguments.out)]
    seconds = time.perf_counter() - began
    if not arguments.only and done:
        write_scores(arguments.out, with_intervals(done), asked.reader.cpu_s)
    if arguments.write and not arguments.only and done:
        columns = {name: Path(out) for name, _, out in (one.partition("=") for one in arguments.beside)}
        columns = {**columns, "now": arguments.out} if columns else {}
        _, mark, rest = arguments.write.read_text("utf-8").partition(OFFICE)  # made by office_files.py
        arguments.write.write_text(document(done, data, columns) + mark + rest, encoding="utf-8")
    absent = [name for name in wanted if name not in there]
    print(json.dumps({"benchmark": "quality", "seconds": round(seconds), "absent": absent, **figures(done)}))


if __name__ == "__main__":
    main()

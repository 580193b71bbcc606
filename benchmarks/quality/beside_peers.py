"""Reads the same born-digital pages with us and with every other tool that is there; scores and CPU seconds.

    pip install typst; python -m venv peers; peers/bin/pip install pymupdf4llm markitdown[pdf] kreuzberg
    python benchmarks/quality/beside_peers.py [DATA] --peer-python peers/bin/python [--pages 50]

The pages are those of `typeset_pages.py`: DP-Bench's reference set by Typst, which no tool's makers had. Each
tool runs in a process of its own over all pages; a tool that is not installed is left out and named. The
last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from penstock_eval.benchmarks.dpbench import DpBench

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, REPOSITORY, all_cpu_s
from benchmarks.quality.typeset_pages import typeset

SHOWN = ("nid", "teds", "teds_s", "mhs", "invented")
MAX_S = 3600
OURS = """
import penstock
said = {path.rsplit("/", 1)[-1][:-4]: "" for path in paths}
for page in penstock.parse(paths, fresh=True, **options):
    said[page.uri.rsplit("/", 1)[-1][:-4]] = page.markdown
"""
ONE_BY_ONE = """
said = {}
for path in paths:
    try:
        said[path.rsplit("/", 1)[-1][:-4]] = read(path)
    except Exception as exc:
        print(path, exc, file=sys.stderr)
"""
PEERS = {
    "pymupdf4llm": "import pymupdf4llm\nread = pymupdf4llm.to_markdown\n" + ONE_BY_ONE,
    "markitdown": "from markitdown import MarkItDown\nto = MarkItDown()\n"
    "read = lambda path: to.convert(path).text_content\n" + ONE_BY_ONE,
    "kreuzberg": "import kreuzberg\nset_ = kreuzberg.ExtractionConfig(output_format='markdown')\n"
    "read = lambda path: kreuzberg.extract_file_sync(path, config=set_).content\n" + ONE_BY_ONE,
    "opendataloader": "import opendataloader_pdf, pathlib, tempfile\n"
    "out = tempfile.mkdtemp()\n"
    "opendataloader_pdf.convert(input_path=paths, output_dir=out, format=['markdown'])\n"
    "said = {file.stem: file.read_text() for file in pathlib.Path(out).rglob('*.md')}\n",
    "pdftext": "from pdftext.extraction import plain_text_output\n"
    "read = lambda path: plain_text_output(path, sort=True)\n" + ONE_BY_ONE,
}


def run(python: str, program: str, paths: Sequence[Path]) -> tuple[dict[str, str], float] | None:
    """Returns what a tool says of each page and its CPU seconds, or None if it cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "said.json"
        whole = (
            f"import json, sys\npaths = json.loads(sys.argv[1])\noptions = {{}}\n{program}\n"
            f"json.dump(said, open({str(answer)!r}, 'w'))"
        )
        before = all_cpu_s()
        command = [python, "-c", whole, json.dumps([str(path) for path in paths])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAX_S)
        if done.returncode != 0 or not answer.is_file():
            print(f"left out: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return None
        return json.loads(answer.read_text()), all_cpu_s() - before


def _mean(values: Sequence[float]) -> float | None:
    return round(mean(values), 3) if values else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "build" / "typeset")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--only", action="append", help="a tool's name; give it again for another")
    chosen = parser.parse_args()
    folder = chosen.data / "dpbench"
    paths = typeset(folder / "ground-truth" / "reference.json", chosen.out / "pdfs")[: chosen.pages]
    bench = DpBench()
    samples = [sample for sample in bench.samples(folder) if sample.id in {path.stem for path in paths}]
    tools = {"penstock": (sys.executable, OURS)}
    tools |= {name: (chosen.peer_python, program) for name, program in PEERS.items()}
    rules = OURS.replace("**options", 'layout="rules"')
    tools["penstock --layout rules"] = (sys.executable, rules)
    table = {}
    for name, (python, program) in tools.items():
        if chosen.only and name not in chosen.only:
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        done = run(python, program, paths)
        if done is None:
            continue
        said, seconds = done
        rows = [bench.score(sample, said.get(sample.id, "")).values for sample in samples]
        means = {key: _mean([row[key] for row in rows if key in row]) for key in SHOWN}
        table[name] = {**means, "cpu_s_a_page": round(seconds / len(paths), 3)}
        print(f"{name:24}", *(f"{key} {value}" for key, value in table[name].items()), flush=True)
    print(json.dumps({"pages": len(paths), "tools": table}))


if __name__ == "__main__":
    main()

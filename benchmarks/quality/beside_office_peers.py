"""Reads Office, HWPX and web files with us and with other tools: scores with intervals, CPU a document.

    python benchmarks/quality/beside_office_peers.py [DATA] [--documents 200] [--only docling]

Each tool gets an environment of its own below --environments, made from PyPI once; pandoc is Debian's. A tool
reads the formats that its makers name, one process for all files. One that does not install is left out.

Two sets: files of known content, which `penstock eval office` makes, and files that others made (DATA) with
the text that their projects expect of their own tool. That text is no truth: it is what one of the tools said
when its makers looked at it. --page puts the tables into a page. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, REPOSITORY, all_cpu_s
from benchmarks.quality.office_tables import format_table, others_table, whole_table
from penstock_eval.benchmarks import open_benchmark
from penstock_eval.made_documents.folder import write_documents
from penstock_eval.made_documents.grow import FEATURES
from penstock_eval.metrics.markdown_pieces import pieces_of
from penstock_eval.metrics.statistics import bootstrap_interval
from penstock_eval.metrics.text import nid
from penstock_eval.scoring import score_folder

MAX_S = 1500
EACH = """
import json, sys, traceback
from pathlib import Path
said = {}
for path in json.loads(sys.stdin.read()):
    try:
        said[path] = read(path)
    except Exception as exc:
        print(path, type(exc).__name__, exc, file=sys.stderr)
Path(sys.argv[1]).write_text(json.dumps(said))
"""
OURS = """
import json, sys, tempfile, penstock
from pathlib import Path
said = {}
for page in penstock.parse(json.loads(sys.stdin.read()), out=tempfile.mkdtemp()):
    said[page.uri] = "\\n\\n".join(filter(None, (said.get(page.uri, ""), page.markdown)))
Path(sys.argv[1]).write_text(json.dumps(said))
"""
DOCLING = """
from docling.backend.html_backend import HTMLDocumentBackend
from docling.backend.msexcel_backend import MsExcelDocumentBackend
from docling.backend.mspowerpoint_backend import MsPowerpointDocumentBackend
from docling.backend.msword_backend import MsWordDocumentBackend
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from pathlib import Path
from docling.backend.opendocument_backend import OdpDocumentBackend, OdsDocumentBackend, OdtDocumentBackend
kinds = {
    ".docx": (InputFormat.DOCX, MsWordDocumentBackend), ".html": (InputFormat.HTML, HTMLDocumentBackend),
    ".pptx": (InputFormat.PPTX, MsPowerpointDocumentBackend),
    ".xlsx": (InputFormat.XLSX, MsExcelDocumentBackend),
    ".odt": (InputFormat.ODT, OdtDocumentBackend), ".ods": (InputFormat.ODS, OdsDocumentBackend),
    ".odp": (InputFormat.ODP, OdpDocumentBackend),
}
def read(path):
    kind, backend = kinds[Path(path).suffix]
    given = InputDocument(path_or_stream=Path(path), format=kind, backend=backend, filename=Path(path).name)
    return given._backend.convert().export_to_markdown()
"""
PANDOC = """
import subprocess
def read(path):
    command = ["pandoc", "--to=gfm", "--wrap=none", path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
"""
OFFICE = ("docx", "pptx", "xlsx")
OPEN = ("odt", "ods", "odp")


@dataclass(frozen=True)
class Tool:
    """A tool, what it reads by its makers' words, and the program that defines `read(path)`."""

    packages: tuple[str, ...]
    formats: tuple[str, ...]
    program: str


TOOLS = {
    "penstock": Tool((), (*FEATURES,), OURS),
    "docling": Tool(
        ("docling-slim[convert-core,format-docx,format-pptx,format-xlsx,format-html,format-opendocument]",),
        (*OFFICE, *OPEN, "html"),
        DOCLING + EACH,
    ),
    "docvortex": Tool(
        ("docvortex",),
        (*OFFICE, "odt", "ods", "odp", "epub", "html", "rtf"),
        "import docvortex\n"
        "def read(path):\n"
        "    found = docvortex.parse(path, file_suffix=path.rsplit('.', 1)[1]).middle_json\n"
        "    return bytes(docvortex.render_artifact(found, 'markdown').content).decode()\n" + EACH,
    ),
    "kreuzberg": Tool(
        ("kreuzberg",),
        (*OFFICE, "odt", "ods", "html", "epub", "rtf"),
        "import kreuzberg\nset_ = kreuzberg.ExtractionConfig(output_format='markdown')\n"
        "read = lambda path: kreuzberg.extract_file_sync(path, config=set_).content\n" + EACH,
    ),
    "markitdown": Tool(
        ("markitdown[docx,pptx,xlsx,xls,outlook]",),
        (*OFFICE, "html", "epub"),
        "from markitdown import MarkItDown\nto = MarkItDown()\n"
        "read = lambda path: to.convert(path).text_content\n" + EACH,
    ),
    "pandoc": Tool((), ("docx", "odt", "html", "epub", "rtf"), PANDOC + EACH),
    "unhwp": Tool(("unhwp",), ("hwpx",), "import unhwp\nread = unhwp.to_markdown\n" + EACH),
    "rhwp": Tool(
        ("rhwp-python",),
        ("hwpx",),
        "import rhwp\nread = lambda path: rhwp.parse(path).extract_text()\n" + EACH,
    ),
    "hwpforge": Tool(
        ("hwpforge",),
        ("hwpx",),
        "import hwpforge\nread = lambda path: hwpforge.Document.open(path).to_md().text\n" + EACH,
    ),
}  # fmt: skip


def environment(name: str, tool: Tool, below: Path) -> str | None:
    """Returns the Python that has the tool, made on first use; None where it does not install."""
    if not tool.packages:
        return sys.executable
    python = below / name / "bin" / "python"
    if not (below / name / "made").is_file():
        venv.create(below / name, with_pip=True)
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *tool.packages]
        if subprocess.run(install, check=False).returncode:
            return None
        (below / name / "made").touch()
    return str(python)


def read_with(
    name: str, tool: Tool, python: str, paths: Sequence[Path], answer: Path
) -> tuple[dict[str, str], float]:
    """Returns what a tool says of each file, and its CPU seconds. A file that failed is missing."""
    setting = dict(os.environ)
    if name == "rhwp":  # its wheel brings a FreeType that lacks what it calls
        setting["LD_PRELOAD"] = "/usr/lib/x86_64-linux-gnu/libfreetype.so.6"
    answer.unlink(missing_ok=True)
    before = all_cpu_s()
    with answer.with_suffix(".log").open("w") as log:
        done = subprocess.run(
            [python, "-c", tool.program, str(answer)],
            input=json.dumps([str(path) for path in paths]),
            text=True, stdout=log, stderr=log, timeout=MAX_S, env=setting, check=False,
        )  # fmt: skip
    if done.returncode or not answer.is_file():
        print(f"{name} ended with {done.returncode}: {answer.with_suffix('.log')}", file=sys.stderr)
        return {}, all_cpu_s() - before
    return json.loads(answer.read_text()), all_cpu_s() - before


def on_made(name: str, tool: Tool, python: str, out: Path) -> dict[str, object]:
    """Scores a tool on the made documents of the formats it reads."""
    bench = open_benchmark("office")
    samples = [sample for sample in bench.samples(out) if sample.slices[0] in tool.formats]
    paths = [Path(sample.image) for sample in samples]
    said, seconds = read_with(name, tool, python, paths, out / f"{name}.json")
    folder = out / "said" / name
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        (folder / f"{path.stem}.md").write_text(said.get(str(path), ""), encoding="utf-8")
    truth = (out / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    part = out / "parts" / name
    part.mkdir(parents=True, exist_ok=True)
    kept = [line for line in truth if json.loads(line)["format"] in tool.formats]
    (part / "truth.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    summary = score_folder(bench, part, folder, workers=0).summary
    return {
        "documents": len(samples),
        "read": len(said),
        "cpu_ms": round(1000 * seconds / len(samples), 1),
        "scores": {key: _numbers(value) for key, value in summary.scores.items()},
        "formats": {
            kind: {key: _numbers(value) for key, value in summary.slices[kind].items()}
            for kind in tool.formats
            if kind in summary.slices
        },
    }


def _numbers(interval: object) -> list[float]:
    return [round(getattr(interval, name), 4) for name in ("mean", "low", "high")]


def on_others(
    name: str, tool: Tool, python: str, files: Sequence[tuple[Path, Path]], out: Path
) -> dict[str, object]:
    """Compares a tool with the text that other projects expect: the order of all words."""
    mine = [pair for pair in files if pair[0].suffix[1:] in tool.formats]
    if not mine:
        return {}
    said, seconds = read_with(name, tool, python, [path for path, _ in mine], out / f"{name}-others.json")
    rows: dict[str, list[float]] = {}
    for path, expected in mine:
        wanted = pieces_of(expected.read_text(encoding="utf-8", errors="replace")).text
        given = pieces_of(said.get(str(path), "")).text
        rows.setdefault(path.suffix[1:], []).append(nid(wanted, given))
    return {
        "files": len(mine),
        "read": len(said),
        "cpu_ms": round(1000 * seconds / len(mine), 1),
        "order": {kind: [round(sum(v) / len(v), 4), len(v)] for kind, v in sorted(rows.items())},
        "all": _numbers(bootstrap_interval([value for values in rows.values() for value in values])),
    }


def files_of_others(data: Path) -> list[tuple[Path, Path]]:
    """Returns files with the Markdown that a project keeps as expected: docling's and hwp.js's own output."""
    folder = data / "devset" / "formats"
    office = {path.name: path for path in sorted(folder.glob("office/docling/**/*.md"))}
    pairs = [
        (path, office[f"{path.name}.md"])
        for path in sorted(folder.glob("office/docling/**/*"))
        if f"{path.name}.md" in office
    ]
    hwp = {path.stem: path for path in sorted(folder.glob("hwp/hwpjs_expected_md/*.md"))}
    pairs += [(path, hwp[path.name]) for path in sorted(folder.glob("hwp/hwpjs/*.hwpx")) if path.name in hwp]
    return [(path, expected) for path, expected in pairs if path.suffix[1:] in FEATURES]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "build" / "office")
    parser.add_argument("--environments", type=Path, default=REPOSITORY / "build" / "peers")
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help="a tool's name; give it again for another")
    parser.add_argument("--page", type=Path, help="a page with marks for the tables, such as docs/quality.md")
    chosen = parser.parse_args()
    chosen.out = chosen.out.resolve()
    write_documents(chosen.out, chosen.documents, chosen.seed)
    others = files_of_others(chosen.data.resolve())
    made: dict[str, dict[str, object]] = {}
    elsewhere: dict[str, dict[str, object]] = {}
    for name, tool in TOOLS.items():
        python = (
            None if chosen.only and name not in chosen.only else environment(name, tool, chosen.environments)
        )
        if python is None:
            continue
        started = time.monotonic()
        made[name] = on_made(name, tool, python, chosen.out)
        elsewhere[name] = on_others(name, tool, python, others, chosen.out)
        (chosen.out / "results.json").write_text(json.dumps({"tools": made, "others": elsewhere}))
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    tables = {
        "office": whole_table(made),
        "office formats": format_table(made),
        "office others": others_table(elsewhere),
    }
    for name, table in tables.items():
        print(f"{table}\n")
        if chosen.page:
            put(chosen.page, name, table)
    print(json.dumps({"documents": chosen.documents, "tools": made, "others": elsewhere}))


def put(page: Path, name: str, table: str) -> None:
    """Writes a table between its marks."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        sys.exit(f"{page} has no place for the table {name!r}.")
    page.write_text(f"{before}{begin}{table}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()

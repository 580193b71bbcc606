"""Who reads the pages that are scored: this tree, another checkout of it, or another tool.

A reader takes pictures and PDFs and gives Markdown by `path` of a picture or `path#page` of a PDF. What it
read is kept in a folder; the CPU seconds of all its processes are told where all pages were read anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import penstock

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import all_cpu_s

MAX_S = 7200
ONE_BY_ONE = """
said = {}
for path in paths:
    try:
        said[path] = read(path)
    except Exception as exc:
        print(path, exc, file=sys.stderr)
json.dump(said, open(answer, "w"))
"""
PEERS = {
    "rapidocr": "from rapidocr import RapidOCR\nengine = RapidOCR()\n"
    "read = lambda path: '\\n'.join(engine(path).txts or ())\n",
    "tesseract": "import subprocess\n"
    "read = lambda path: subprocess.run(['tesseract', path, '-', '-l', languages], stdout=subprocess.PIPE,"
    " stderr=subprocess.DEVNULL, check=True, text=True).stdout\n",
}
# what Tesseract is told, by set: a page read in three languages at once is read worse
LANGUAGES = {"korean": "kor+eng", "sroie": "eng", "omnidocbench": "chi_sim+eng", "glmocr": "chi_sim+eng"}


class Reader(Protocol):
    """One who reads; `cpu_s` has its CPU seconds a page by set."""

    cpu_s: dict[str, float]

    def read(self, name: str, sources: Sequence[str], out: Path) -> dict[str, str]: ...


@dataclass(slots=True)
class ThisTree:
    """The recipe of this checkout with these options, by its Python API."""

    options: dict[str, str]
    cpu_s: dict[str, float] = field(default_factory=dict)

    def read(self, name: str, sources: Sequence[str], out: Path) -> dict[str, str]:
        kept, began, anew = out / name / "pages", all_cpu_s(), 0
        for page in penstock.parse(sources, out=kept, retry_failed=True, **self.options):
            if not page.resumed:
                anew += 1
                print(f"  {name}: {Path(page.uri).name} {page.number}", flush=True)
        found = _kept_pages(kept)
        if anew >= len(found) > 0:
            self.cpu_s[name] = (all_cpu_s() - began) / anew
        return found


@dataclass(slots=True)
class OtherTree:
    """Another checkout as it is, by its command line, with the packages of this Python."""

    tree: Path
    cpu_s: dict[str, float] = field(default_factory=dict)

    def read(self, name: str, sources: Sequence[str], out: Path) -> dict[str, str]:
        kept, began = out / name / "pages", all_cpu_s()
        if not kept.exists():
            subprocess.run(
                [sys.executable, "-m", "penstock", "parse", *sources, "-q", "-o", str(kept)],
                env={**os.environ, "PYTHONPATH": str(self.tree / "src")},
                check=True,
                timeout=MAX_S,
            )
            self.cpu_s[name] = (all_cpu_s() - began) / len(_kept_pages(kept))
        return _kept_pages(kept)


@dataclass(slots=True)
class Peer:
    """Another tool for pictures, in its own Python. PDFs are not read."""

    name: str
    python: str
    cpu_s: dict[str, float] = field(default_factory=dict)

    def read(self, name: str, sources: Sequence[str], out: Path) -> dict[str, str]:
        pictures = [str(Path(source).resolve()) for source in sources if not source.endswith(".pdf")]
        answer = out / name / f"{self.name}.json"
        if pictures and not answer.exists():
            answer.parent.mkdir(parents=True, exist_ok=True)
            program = "import json, sys\npaths, answer, languages = json.loads(sys.argv[1]), *sys.argv[2:]\n"
            languages = next((tongue for key, tongue in LANGUAGES.items() if name.startswith(key)), "eng")
            asked = [json.dumps(pictures), str(answer), languages]
            began = all_cpu_s()
            command = [self.python, "-c", program + PEERS[self.name] + ONE_BY_ONE, *asked]
            subprocess.run(command, check=True, timeout=MAX_S)
            self.cpu_s[name] = (all_cpu_s() - began) / len(pictures)
        return json.loads(answer.read_text(encoding="utf-8")) if pictures else {}


def _kept_pages(kept: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for page in penstock.read(kept):
        if page.failure is None:
            key = f"{page.uri}#{page.part}" if page.uri.endswith(".pdf") else page.uri
            found[str(Path(key).resolve())] = page.markdown
    return found

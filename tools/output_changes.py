"""Says what changed in output between two versions: a table for a release, by document.

    python tools/output_changes.py v0.1.0 .                   # two commits; "." is the tree as it lies here
    python tools/output_changes.py v0.1.0 . scans/ a.pdf      # over documents of your own
    python tools/output_changes.py out-before out-now         # two runs that are there, of the same inputs

Without documents it reads the sample, and with PENSTOCK_DATA (or ../shared/data) MAX_OF_A_SOURCE documents of
each development source. Both versions run in this environment. The last line is JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Levenshtein

REPO = Path(__file__).resolve().parent.parent
SAMPLE = REPO / "src" / "penstock" / "sample" / "sample.pdf"
DATA = Path(os.environ.get("PENSTOCK_DATA") or REPO.parent / "shared" / "data")
ENDINGS = {".pdf", ".png", ".jpg"}
MAX_OF_A_SOURCE, MAX_BYTES, MAX_PAGES = 2, 1 << 19, 3
RESULTS = "ocr_results.jsonl"
Rows = dict[tuple[str, int], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What changed in one document. `text` is the share of its characters that are others."""

    document: str
    pages: int  # that both have
    changed: int  # of them, in any way
    text: float
    regions: int  # more or fewer
    labels: str  # of those that came (+) and went (-)
    boxes: int  # regions whose box moved
    failed: int  # pages that fail now and did not before; less than 0: the other way

    def line(self) -> str:
        cells = (
            self.document, f"{self.changed} of {self.pages}", f"{self.text:.2%}", f"{self.regions:+d}",
            self.labels or "-", self.boxes, f"{self.failed:+d}",
        )  # fmt: skip
        return "| " + " | ".join(map(str, cells)) + " |"


HEAD = """| document | pages changed | text | regions | labels | boxes moved | pages failed |
|---|---|---|---|---|---|---|"""


def main(before: str, after: str, *inputs: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        runs = [
            Path(name)
            if (Path(name) / RESULTS).is_file()
            else run_of(
                name, [Path(given).resolve() for given in inputs] or corpus(), Path(folder) / f"{number}"
            )
            for number, name in enumerate((before, after))
        ]
        found = list(changes(rows_of(runs[0]), rows_of(runs[1])))
    touched = [change for change in found if change.changed or change.failed]
    print("\n".join([HEAD, *(change.line() for change in touched)]))
    print(f"\n{len(found) - len(touched)} of {len(found)} documents are the same.\n")
    print(json.dumps({"documents": len(found), "changed": [asdict(change) for change in touched]}))


def corpus() -> list[Path]:
    """Returns the sample and small documents of each development source, the same ones each time."""
    found = [SAMPLE]
    for source in sorted((DATA / "devset").glob("*/")):
        files = (file for file in sorted(source.rglob("*")) if file.suffix in ENDINGS)
        found += [file for file in files if file.stat().st_size < MAX_BYTES][:MAX_OF_A_SOURCE]
    return found


def run_of(version: str, inputs: Sequence[Path], folder: Path) -> Path:
    """Reads the inputs with a version of the project and returns the run's OUT."""
    with tree_of(version, folder) as tree:
        options = ["--max-pages", str(MAX_PAGES), "--to", "jsonl", "--quiet"]
        command = [
            sys.executable,
            "-m",
            "penstock",
            "parse",
            *map(str, inputs),
            "-o",
            str(folder / "out"),
            *options,
        ]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(tree / "src")}, cwd=folder)
    if done.returncode > 1:  # 1: some pages failed, which is what is compared
        raise SystemExit(f"{version} could not run: exit code {done.returncode}.")
    return folder / "out"


@contextmanager
def tree_of(version: str, folder: Path) -> Iterator[Path]:
    """Gives the folder of a version's files, of a commit for as long as it is needed."""
    folder.mkdir(parents=True)
    if version == ".":
        yield REPO
        return
    tree = folder / "tree"
    git = ["git", "-C", str(REPO), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(tree), version], check=True)
    try:
        yield tree
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def rows_of(out: Path) -> Rows:
    with (out / RESULTS).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {(row["document"], row["page_idx"]): row for row in rows}


def changes(before: Rows, after: Rows) -> Iterator[Change]:
    """Yields what changed in each document that both have, in the order of the later."""
    for document in dict.fromkeys(name for name, _ in after):
        keys = [key for key in after if key[0] == document and key in before]
        if keys:
            yield _change(document, [before[key] for key in keys], [after[key] for key in keys])


def _change(document: str, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Change:
    pairs = list(zip(before, after, strict=True))
    old, new = _labels(before), _labels(after)
    signed = [f"+{count} {label}" for label, count in sorted((new - old).items())]
    signed += [f"-{count} {label}" for label, count in sorted((old - new).items())]
    length = sum(len(row["markdown"]) for row in before)
    distance = sum(Levenshtein.distance(one["markdown"], other["markdown"]) for one, other in pairs)
    return Change(
        document=document,
        pages=len(pairs),
        changed=sum(_facts(one) != _facts(other) for one, other in pairs),
        text=distance / max(1, length),
        regions=new.total() - old.total(),
        labels=", ".join(signed),
        boxes=(_boxes(after) - _boxes(before)).total(),
        failed=sum(map(_has_failed, after)) - sum(map(_has_failed, before)),
    )


def _facts(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a page's row without what differs between any two runs."""
    return {name: value for name, value in row.items() if name not in ("page_id", "attempts")}


def _labels(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(region["label"] for row in rows for region in row["regions"])


def _boxes(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter((row["page_idx"], *region["bbox_2d"]) for row in rows for region in row["regions"])


def _has_failed(row: dict[str, Any]) -> bool:
    return row.get("failure") is not None


if __name__ == "__main__":
    main(*sys.argv[1:])

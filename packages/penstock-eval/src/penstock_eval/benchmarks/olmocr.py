"""Scores olmOCR-bench: tests of single facts about a page (Poznanski et al. 2025).

Each fact is a line of a JSONL file: a text is present or absent, one comes before another, a cell has
a neighbour, a formula is there, the page is not broken. A page's score is the share of its facts that
pass; the benchmark's own figure (`score`) is the mean of that share over files.

Compares formulas as normalised LaTeX. The official code renders them with KaTeX in a browser, so it also
passes formulas that are written differently and look the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from rapidfuzz import fuzz

from penstock.errors import UsageError
from penstock_eval.benchmarks.base import Benchmark, HubFiles, Sample, Scores
from penstock_eval.benchmarks.files import need_folder, picture_for, rows
from penstock_eval.benchmarks.olmocr_tables import OlmOcrGrid, Place, all_tables
from penstock_eval.omnidocbench.normalise import formula_form
from penstock_eval.results import SampleResult

MAX_REPEATS = 30
MIN_CELL_RATIO = 0.5
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("‘’‚", "'"),
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("–—‑‒−", "-"),
        "＿": "_",
        "µ": "μ",
    }
)
_STRANGE = re.compile(
    "[\u4e00-\u9fff\u3040-\u30ff\U0001f600-\U0001f64f\U0001f300-\U0001f5ff\U0001f680-\U0001f6ff\U0001f1e0-\U0001f1ff]"
)
_FORMULA_MARKS = (r"\\\((.+?)\\\)", r"\\\[(.+?)\\\]", r"\$\$(.+?)\$\$", r"\$(.+?)\$")

Fact = dict[str, Any]


@dataclass(frozen=True)
class OlmOcrBench(Benchmark):
    name: ClassVar[str] = "olmocr-bench"
    title: ClassVar[str] = "olmOCR-bench"
    layout: ClassVar[str] = "*.jsonl of tests (in bench_data/ or the folder itself) and pdfs/"
    hub: ClassVar[HubFiles | None] = ("allenai/olmOCR-bench", ("bench_data/*",))
    metrics: ClassVar[dict[str, bool]] = {"passed": True}

    @property
    def protocol(self) -> str:
        return "olmOCR-bench tests, formulas as normalised LaTeX"

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        nested = folder / "bench_data"
        root = nested if nested.is_dir() else folder
        pages: dict[str, list[Fact]] = defaultdict(list)
        pictures: dict[str, str] = {}
        for file in sorted(root.glob("*.jsonl")):
            for fact in rows(file):
                page = f"{str(fact['pdf']).removesuffix('.pdf')}_pg{fact['page']}"
                pages[page].append({**fact, "file": file.name})
                pictures[page] = picture_for(root / "pdfs", str(fact["pdf"]))
        if not pages:
            raise UsageError(f"{folder} holds no tests.", f"It should hold {self.layout}.")
        return [Sample(page, _with_baseline(page, facts), pictures[page]) for page, facts in pages.items()]

    def score(self, sample: Sample, prediction: str) -> Scores:
        known = [fact for fact in sample.truth if fact["type"] in CHECKS]
        checked = [(fact, passes(fact, prediction)) for fact in known]
        strange = len(sample.truth) - len(known)
        notes = (f"{strange} tests of a kind we do not know are left out",) if strange else ()
        tests = [{"id": f["id"], "type": f["type"], "file": f["file"], "passed": ok} for f, ok in checked]
        failed = "\n".join(f"{fact['type']}: {_said(fact)}" for fact, ok in checked if not ok)
        passed = sum(ok for _, ok in checked) / len(checked)
        return Scores({"passed": passed}, failed, prediction, notes, {"tests": tests})

    def extra(self, results: Sequence[SampleResult]) -> dict[str, float]:
        by_file: dict[str, list[float]] = defaultdict(list)
        by_type: dict[str, list[float]] = defaultdict(list)
        for test in (test for result in results for test in result.details.get("tests", [])):
            by_file[test["file"]].append(test["passed"])
            by_type[test["type"]].append(test["passed"])
        if not by_file:
            return {}
        means = [sum(passed) / len(passed) for passed in by_file.values()]
        types = {f"passed {kind}": sum(p) / len(p) for kind, p in sorted(by_type.items())}
        return {"score": sum(means) / len(means), **types}


def passes(fact: Fact, content: str) -> bool:
    """Whether the page passes the test. Its kind must be in CHECKS."""
    return CHECKS[str(fact["type"])](fact, content)


def plain(text: str) -> str:
    """Returns text as the tests compare it: no emphasis, single spaces, one form for quotes and dashes."""
    text = re.sub(r"<br/?>", " ", text)
    text = re.sub(r"</?[bi]>", "", text)
    text = re.sub(r"\*\*(.*?)\*\*", r"\1", text)
    text = re.sub(r"__(.*?)__", r"\1", text)
    text = re.sub(r"(\*|_)(.*?)\1", r"\2", text)
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", text)).translate(_SIGNS)


def _near(wanted: str, fact: Fact) -> float:
    return 1.0 - int(fact.get("max_diffs") or 0) / max(1, len(wanted))


def _present(fact: Fact, content: str) -> bool:
    wanted, text = plain(fact["text"]), plain(content)
    if not fact.get("case_sensitive", True):
        wanted, text = wanted.lower(), text.lower()
    first, last = fact.get("first_n"), fact.get("last_n")
    if first or last:
        text = (text[:first] if first else "") + (text[-last:] if last else "")
    return fuzz.partial_ratio(wanted, text) / 100.0 >= _near(wanted, fact)


def _absent(fact: Fact, content: str) -> bool:
    return not _present(fact, content)


def _order(fact: Fact, content: str) -> bool:
    text = plain(content)
    most = int(fact.get("max_diffs") or 0)
    before, after = (
        near_starts(plain(fact["before"]), text, most),
        near_starts(plain(fact["after"]), text, most),
    )
    return bool(before.size and after.size and before.min() < after.max())


def near_starts(wanted: str, text: str, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Returns where `wanted` starts in the text, within `most` edits (Sellers 1980, run from the end)."""
    if most == 0:
        return np.array([found.start() for found in re.finditer(re.escape(wanted), text)], dtype=np.int64)
    pattern = np.array([ord(c) for c in reversed(wanted)])
    ramp = np.arange(len(pattern) + 1)
    column = ramp.copy()
    starts: list[int] = []
    for at in range(len(text) - 1, -1, -1):
        following = column + 1
        following[1:] = np.minimum(following[1:], column[:-1] + (pattern != ord(text[at])))
        following[0] = 0
        column = np.minimum.accumulate(following - ramp) + ramp
        if column[-1] <= most:
            starts.append(at)
    return np.array(starts, dtype=np.int64)


def _table(fact: Fact, content: str) -> bool:
    wanted = plain(fact["cell"])
    for table in all_tables(content, markdown=not fact.get("ignore_markdown_tables")):
        for place, cell in table.cells.items():
            near = fuzz.ratio(wanted, plain(cell.text)) / 100.0 >= max(MIN_CELL_RATIO, _near(wanted, fact))
            if near and _neighbours_fit(fact, table, place):
                return True
    return False


def _neighbours_fit(fact: Fact, table: OlmOcrGrid, place: Place) -> bool:
    for side in ("up", "down", "left", "right"):
        if fact.get(side) and not _one_says(fact, str(fact[side]), table, table.beside(place, side)):
            return False
    for name, side in (("left_heading", "left"), ("top_heading", "up")):
        if fact.get(name) and not _one_says(fact, str(fact[name]), table, table.headings(place, side)):
            return False
    return True


def _one_says(fact: Fact, words: str, table: OlmOcrGrid, places: set[Place]) -> bool:
    wanted = plain(words)
    least = max(MIN_CELL_RATIO, _near(wanted, fact))
    return any(fuzz.ratio(wanted, plain(table.cells[place].text)) / 100.0 >= least for place in places)


def _math(fact: Fact, content: str) -> bool:
    marks = _FORMULA_MARKS[:2] if fact.get("ignore_dollar_delimited") else _FORMULA_MARKS
    wanted = fact["math"].strip()
    for mark in marks:
        for formula in re.findall(mark, content, re.DOTALL):
            if formula.strip() == wanted or formula_form(formula, True) == formula_form(wanted, True):
                return True
        content = re.sub(mark, "", content, flags=re.DOTALL)
    return False


def _baseline(fact: Fact, content: str) -> bool:
    """The page is not blank, does not end in a loop, and has no letters of scripts it should not have."""
    longest = fact.get("max_length")
    if longest is not None:
        if fact.get("max_length_skips_image_alt_tags"):
            content = re.sub(r"!\[.*?\]\(.*?\)", "", content)
        return sum(c.isalnum() for c in content) <= int(longest)
    if not any(c.isalnum() for c in content):
        return False
    if max(_end_repeats(re.sub(r"\s+", " ", content), size) for size in range(1, 6)) > MAX_REPEATS:
        return False
    return not (fact.get("check_disallowed_characters", True) and _STRANGE.search(content))


def _end_repeats(text: str, size: int) -> int:
    """Counts how often the text's last `size` letters repeat at its end."""
    last, count, at = text[-size:], 0, len(text) - size
    while at >= 0 and text[at : at + size] == last:
        count, at = count + 1, at - size
    return count


CHECKS: dict[str, Callable[[Fact, str], bool]] = {
    "present": _present,
    "absent": _absent,
    "order": _order,
    "table": _table,
    "math": _math,
    "baseline": _baseline,
}


def _with_baseline(page: str, facts: list[Fact]) -> list[Fact]:
    """Adds the test for a broken page where no file asks for it, as the benchmark does."""
    if any(fact["type"] == "baseline" for fact in facts):
        return facts
    return [*facts, {"id": f"{page}_baseline", "type": "baseline", "file": "baseline"}]


def _said(fact: Fact) -> str:
    words = [fact.get(key) for key in ("text", "before", "after", "cell", "math")]
    return " … ".join(str(word) for word in words if word)

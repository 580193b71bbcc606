"""Scores your own pages against plain text files beside their pictures or PDFs, as running text.

For data sets that give only the text of a page: receipts, books, a folder of your own. The character error
rates depend on the order of the text; the word scores do not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import ClassVar

from penstock.errors import UsageError
from penstock.scripts import has_hangul
from penstock_eval.benchmarks.base import Benchmark, Sample, Scores
from penstock_eval.benchmarks.files import PICTURES, need_folder
from penstock_eval.metrics.text import collapse_spaces, korean_error_rates, nid
from penstock_eval.results import SampleResult

_IMAGE = re.compile(r"!\[(?:\\.|[^\]\\])*\]\([^)]*\)")
_TAG = re.compile(r"</?[a-zA-Z][^>]{0,200}>|<!--.*?-->", re.DOTALL)
_MARKS = re.compile(r"^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+)", re.MULTILINE)
_RULES = re.compile(r"^[\s|:-]*-{3,}[\s|:-]*$", re.MULTILINE)
_LEADERS = re.compile(r"(?:\s*[.·…]){3,}")  # the dots of a table of contents, and any ellipsis
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~$<>])")


@dataclass(frozen=True)
class PagesWithText(Benchmark):
    """Means are over pages; the `_pooled` figures are all edits over all characters."""

    name: ClassVar[str] = "pages"
    title: ClassVar[str] = "Pages with their text"
    layout: ClassVar[str] = "one .txt file a page, beside its picture or PDF of the same name"
    metrics: ClassVar[dict[str, bool]] = {
        "cer": False,
        "cer_without_spaces": False,
        "spacing_error_rate": False,
        "word_recall": True,
        "word_precision": True,
        "nid": True,
    }

    @property
    def protocol(self) -> str:
        return "running text without Markdown marks and runs of dots, NFC"

    def samples(self, folder: Path) -> list[Sample]:
        files = sorted(need_folder(folder, self.layout).rglob("*.txt"))
        if not files:
            raise UsageError(f"{folder} holds no .txt files.", f"It should hold {self.layout}.")
        return [Sample(f.stem, f.read_text(encoding="utf-8"), _source(f)) for f in files]

    def score(self, sample: Sample, prediction: str) -> Scores:
        truth, said = composed(sample.truth), composed(plain_text(prediction))
        rates = korean_error_rates([truth], [said])
        values = {
            "cer": rates["cer"],
            "cer_without_spaces": rates["cer_without_spaces"],
            "nid": nid(truth, said),
        }
        if has_hangul(truth):
            values["spacing_error_rate"] = rates["spacing_error_rate"]
        recall, precision = word_scores(truth, said)
        values |= {"word_recall": recall, "word_precision": precision}
        return Scores(values, truth, said)

    def extra(self, results: Sequence[SampleResult]) -> dict[str, float]:
        rates = korean_error_rates([r.truth for r in results], [r.prediction for r in results])
        return {f"{name}_pooled": rates[name] for name in ("cer", "cer_without_spaces")}


def plain_text(markdown: str) -> str:
    """Returns the words of Markdown without pictures, tags, heading marks, bullets, pipes and escapes."""
    text = _TAG.sub(" ", _IMAGE.sub(" ", markdown))
    text = _RULES.sub(" ", _MARKS.sub("", text)).replace("**", "").replace("|", " ")
    return unescape(_ESCAPE.sub(r"\1", text))


def composed(text: str) -> str:
    """Returns text in NFC with single spaces and without runs of dots: dot leaders are not read."""
    return collapse_spaces(_LEADERS.sub(" ", unicodedata.normalize("NFC", text)))


def word_scores(truth: str, said: str) -> tuple[float, float]:
    """Returns the recall and the precision of words. Ignores case and order."""
    wanted, given = Counter(truth.casefold().split()), Counter(said.casefold().split())
    shared = (wanted & given).total()
    return shared / max(1, wanted.total()), shared / max(1, given.total())


def _source(text: Path) -> str:
    beside = (text.with_suffix(suffix) for suffix in (*PICTURES, ".pdf"))
    return next((str(path) for path in beside if path.is_file()), "")

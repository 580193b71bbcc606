"""Scores Markdown of Office, HWPX and web files against the trees that the files were made of.

The body is compared without notes, comments and hidden sheets, of which each tool keeps what it likes where
it likes; `kept` says how much of them is there. Every score is of one document.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from penstock.errors import UsageError
from penstock_eval.benchmarks.base import Benchmark, Sample, Scores
from penstock_eval.benchmarks.files import need_folder
from penstock_eval.metrics.asides import without_asides
from penstock_eval.metrics.formula_spelling import formulas_similarity
from penstock_eval.metrics.markdown_pieces import MarkdownPieces, pieces_of
from penstock_eval.metrics.outline import outline_similarity
from penstock_eval.metrics.tables import TedsScore, document, teds_both
from penstock_eval.metrics.text import nid, normalised_edit

TRUTH, DOCUMENTS = "truth.jsonl", "documents"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class OfficeFiles(Benchmark):
    """`lists` and `headings` compare trees, `tables` is TEDS over all tables of a document."""

    name: ClassVar[str] = "office"
    title: ClassVar[str] = "Office files of known content"
    layout: ClassVar[str] = f"{TRUTH} and {DOCUMENTS}/, which `penstock eval office` writes"
    metrics: ClassVar[dict[str, bool]] = {
        "headings": True,
        "lists": True,
        "tables": True,
        "table_shape": True,
        "formulas": True,
        "pictures": True,
        "order": True,
        "text_edit": False,
        "lost": False,
        "invented": False,
        "kept": True,
    }

    @property
    def protocol(self) -> str:
        return "office trees 1: numbers as shown, asides apart"

    def samples(self, folder: Path) -> list[Sample]:
        need_folder(folder, self.layout)
        if not (folder / TRUTH).is_file():
            raise UsageError(f"{folder} holds no {TRUTH}.", f"It should hold {self.layout}.")
        rows = map(json.loads, (folder / TRUTH).read_text(encoding="utf-8").splitlines())
        return [
            Sample(
                row["id"],
                {"markdown": row["markdown"], "asides": row["asides"]},
                str(folder / DOCUMENTS / row["file"]),
                (row["format"], row["language"], *row["features"]),
            )
            for row in rows
        ]

    def score(self, sample: Sample, prediction: str) -> Scores:
        truth, asides = sample.truth["markdown"], sample.truth["asides"]
        found = without_asides(prediction, [aside["pieces"] for aside in asides], truth)
        wanted, given = pieces_of(truth), pieces_of(found.rest)
        values = {
            "order": nid(wanted.text, given.text),
            "text_edit": normalised_edit(wanted.text_outside, given.text_outside),
            **_word_scores(wanted.text, given.text),
        }
        tables = _tables(wanted, given)
        shown = {
            "headings": outline_similarity(wanted.headings, given.headings),
            "lists": outline_similarity(wanted.items, given.items),
            "formulas": formulas_similarity(wanted.formulas, given.formulas),
            "tables": tables.teds if tables else None,
            "table_shape": tables.structure if tables else None,
            "pictures": _same_number(wanted.num_pictures, given.num_pictures),
            "kept": sum(found.kept) / len(found.kept) if found.kept else None,
        }
        values |= {name: value for name, value in shown.items() if value is not None}
        notes = (tables.note,) if tables and tables.note else ()
        return Scores(values, truth, prediction, notes)


def _tables(wanted: MarkdownPieces, given: MarkdownPieces) -> TedsScore | None:
    """Returns TEDS of all tables as one tree: one too many costs as much as one too few. None without any."""
    if not wanted.tables:
        return None
    if not given.tables:
        return TedsScore(0.0, 0.0)
    return teds_both(_as_one(given.tables), _as_one(wanted.tables), spelled=True)


def _as_one(tables: tuple[str, ...]) -> str:
    """Returns one table with a section for each."""
    rows = (re.sub(r"^<table[^>]*>|</table>$", "", table.strip()) for table in tables)
    return document("<table>" + "".join(f"<tbody>{each}</tbody>" for each in rows) + "</table>")


def _same_number(wanted: int, given: int) -> float | None:
    return min(wanted, given) / max(wanted, given) if wanted else None


def _word_scores(truth: str, said: str) -> dict[str, float]:
    """Returns the share of the truth's words that is not there, and of the said words that no truth has."""
    wanted, given = _words(truth), _words(said)
    shared = (wanted & given).total()
    return {
        "lost": 1.0 - shared / max(1, wanted.total()),
        "invented": 1.0 - shared / given.total() if given else 0.0,
    }


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))

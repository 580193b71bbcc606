"""When a search says that nothing fits: what that costs questions with an answer, and spares others.

    python benchmarks/quality/nothing_fits.py [DATA] [--work FOLDER] [--fit]

DATA holds `devset`, `korean_pdf` and `korean_text` (PENSTOCK_DATA). Each collection is read by its layer,
embedded by the built-in embedder and indexed. A collection is asked its own questions, which one of its pages
answers, and those of all others, which none does, with OFF_TOPIC. Questions are parts of sentences and three
words of a paragraph in a frame; those of `korean` were written by people. `--fit` prints the greatest
threshold that refuses no question of the tune collections (src/penstock/retrieval/fitting.py is a little
below); the questions of the check ones had no part in it. The last line is JSON.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import penstock
from penstock.passes.questions import Questions
from penstock.retrieval.fitting import Evidence, evidence_of
from penstock.retrieval.hits import NO_FILTERS, WEIGHTS
from penstock.retrieval.index_folder import FOLDER, open_index
from penstock.retrieval.ranking import fused
from penstock.retrieval.small_index import SmallIndex
from penstock.retrieval.tokens import telling
from penstock.store.out import Out

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.questions import QUESTIONS

from benchmarks.lib.common import DATA, REPOSITORY, SAMPLE, finish
from benchmarks.quality.words_that_tell import FRAME, MIN_WORDS, OFF_TOPIC, digest

TUNE, CHECK = (
    ("jose_papers", "rendered_korean", "zugferd_invoices"),
    ("korean", "rendered_multilang", "debian_refcards"),
)
A_COLLECTION = 40  # questions
OF_SENTENCE = 7  # words


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    collection: str = ""  # whose page answers it
    page: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a collection has for a question. `rank` is that of the right page, 0: not found."""

    has_answer: bool
    evidence: Evidence
    rank: int


def inputs(data: Path, name: str) -> list[str]:
    if name == "korean":
        return [str(data / "korean_pdf"), str(data / "korean_text"), str(SAMPLE)]
    return [str(data / "devset" / name)]


def searchable(data: Path, name: str, work: Path) -> Path:
    out = work / name
    if not (out / FOLDER).is_dir():
        for _ in penstock.parse(inputs(data, name), out=str(out), layout="rules", pages="1-30"):
            pass
        penstock.embed(out)
        penstock.index(out)
        print(f"  {name} is indexed", flush=True)
    return out


def questions_of(out: Path, name: str) -> list[Question]:
    if name == "korean":
        return list(written(out))
    made = sorted(from_paragraphs(out, name), key=lambda question: digest(question.text))
    return made[:A_COLLECTION]


def written(out: Path) -> Iterator[Question]:
    pages = {(entry.document, entry.part + 1): entry.id for entry in Out(out).entries()}
    for text, document, page in QUESTIONS:
        ids = [id for (name, number), id in pages.items() if document in name and number == page]
        yield from (Question(text, "korean", id) for id in ids[:1])


def from_paragraphs(out: Path, name: str) -> Iterator[Question]:
    for page in Out(out).read_pages():
        for region in page.regions:
            said = region.content or ""
            words = said.split()
            if region.label != "text" or len(words) < 2 * MIN_WORDS:
                continue
            if digest(said) % 2:
                start = digest(said) % (len(words) - OF_SENTENCE)
                yield Question(" ".join(words[start : start + OF_SENTENCE]), name, page.id)
                continue
            telling = sorted(set(re.findall(r"\w{5,}", said)), key=lambda word: digest(word + said))
            if len(telling) >= MIN_WORDS:
                yield Question(FRAME.format(*telling[:3]), name, page.id)


def asked(out: Path, name: str, questions: Sequence[Question]) -> Iterator[Asked]:
    """Asks all questions without a threshold, so that what would have been found is known."""
    reading = open_index(out / FOLDER)
    index = SmallIndex.at(reading.home)
    assert index is not None, f"{name} is too large for the quick search"
    with Questions(out) as vectors:
        for question in questions:
            tokens = telling(index.tokens(question.text))
            rankings = index.rankings(tokens, vectors.vector(question.text), NO_FILTERS, WEIGHTS)
            evidence = evidence_of(rankings, len(tokens), index.num_rows)
            ids = list(fused(rankings, WEIGHTS, 10))
            rank = ids.index(question.page) + 1 if question.page in ids else 0
            yield Asked(question.collection == name, evidence, rank)
    reading.close()


def rates(rows: Sequence[Asked], fits: Any) -> dict[str, float]:
    own, others = [r for r in rows if r.has_answer], [r for r in rows if not r.has_answer]
    gains = [1 / math.log2(row.rank + 1) if row.rank else 0.0 for row in own]
    kept = [gain if fits(row.evidence) else 0.0 for gain, row in zip(gains, own, strict=True)]
    return {
        "questions": len(own), "without an answer": len(others),
        "still answered": round(fmean(fits(row.evidence) for row in own), 3),
        "ndcg@10 before": round(fmean(gains), 4), "ndcg@10": round(fmean(kept), 4),
        "nothing fits": round(fmean(not fits(row.evidence) for row in others), 3),
        "nothing found before": round(fmean(not row.evidence.found for row in others), 3),
    }  # fmt: skip


def fitted(rows: Sequence[Asked]) -> float:
    """Returns the greatest threshold that refuses no question with an answer."""
    sums = [
        r.evidence.likeness + r.evidence.words
        for r in rows
        if r.has_answer and r.evidence.likeness is not None
    ]
    return math.floor(100 * min(sums)) / 100


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--work", type=Path, default=REPOSITORY / "build" / "nothing_fits")
    parser.add_argument("--fit", action="store_true", help="print the fitted threshold")
    given = parser.parse_args()
    outs = {name: searchable(given.data, name, given.work) for name in (*TUNE, *CHECK)}
    own = {name: questions_of(out, name) for name, out in outs.items()}
    found: dict[str, dict[str, float]] = {}
    rows: dict[str, list[Asked]] = {}
    for half in (TUNE, CHECK):
        for name in half:
            theirs = [question for other in half for question in own[other]]
            every = [*theirs, *map(Question, OFF_TOPIC)]
            rows[name] = list(asked(outs[name], name, every))
            found[name] = rates(rows[name], lambda evidence: evidence.fits("use"))
            print(name, found[name], flush=True)
    tune = [row for name in TUNE for row in rows[name]]
    check = [row for name in CHECK for row in rows[name]]
    if given.fit:
        print("fitted:", fitted(tune))
    total = {
        half: rates(own_rows, lambda evidence: evidence.fits("use"))
        for half, own_rows in (("tune", tune), ("check", check))
    }
    print(total)
    finish("nothing_fits", **total, collections=found)


if __name__ == "__main__":
    main()

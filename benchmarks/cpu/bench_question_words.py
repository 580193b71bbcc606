"""Compares Korean words of questions as Kiwi cuts them with those looked up among the forms of a run.

    python benchmarks/cpu/bench_question_words.py OUT

OUT is an indexed run of the Korean test data and the sample (tests/support/questions.py says which), small
enough for the quick search. For each kind of question: the share whose page comes first, and among the first
five, by words alone. Last line: JSON.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.questions import FIGURE_QUESTIONS, QUESTIONS, VISUAL, Question

from benchmarks.lib.common import finish
from penstock.retrieval.hits import NO_FILTERS, WEIGHTS, Filters
from penstock.retrieval.index_folder import FOLDER, open_index
from penstock.retrieval.small_index import SmallIndex
from penstock.retrieval.tokens import question_tokens

KINDS = {"pages": (QUESTIONS, NO_FILTERS), "figures": (FIGURE_QUESTIONS, Filters(labels=VISUAL))}
BY_WORDS = {**WEIGHTS, "text": 0.0, "image": 0.0, "region": 0.0}


def ranks(index: SmallIndex, question: Question, tokens: list[str], filters: Filters) -> list[bool]:
    _, document, page = question
    hits = index.search(list(dict.fromkeys(tokens)), None, 5, filters, BY_WORDS)
    return [document in hit.document and hit.page == page for hit in hits]


def main() -> None:
    reading = open_index(Path(sys.argv[1]) / FOLDER)
    index = SmallIndex.at(reading.home)
    assert index is not None, "this run is too large for the quick search"
    found = {}
    for kind, (questions, filters) in KINDS.items():
        for way, words in {"kiwi": question_tokens, "forms": index.tokens}.items():
            places = [ranks(index, question, words(question[0]), filters) for question in questions]
            first = sum(bool(place) and place[0] for place in places) / len(questions)
            found[f"{kind}_{way}"] = {
                "at_1": round(first, 3),
                "at_5": round(sum(map(any, places)) / len(places), 3),
            }
    for name, row in found.items():
        print(f"{name}: {row['at_1']} first, {row['at_5']} among the first five")
    finish("question_words", **found)


if __name__ == "__main__":
    main()

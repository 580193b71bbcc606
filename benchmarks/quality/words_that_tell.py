"""What leaving out words that say nothing does to a search by words.

    python benchmarks/quality/words_that_tell.py [DATA] [--work FOLDER]

DATA holds `devset` (PENSTOCK_DATA). The pages are those of `jose_papers`, read by rules and indexed by words
alone. Of every fourth paragraph a question is made: three of its words in a frame of words that say nothing.
The page of the paragraph is right. Questions in OFF_TOPIC have no page. "Before" compares all words.
The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Any

import penstock
from penstock.passes.index import index_out
from penstock.passes.small_search import small_search
from penstock.retrieval import small_index, tokens
from penstock.retrieval.hits import Hit, SearchOptions
from penstock.store.out import Out

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA

FRAME = "what is said about {} and how does the {} with the {}"
OFF_TOPIC = (
    "what is the capital of Peru", "how do I bake the bread with yeast",
    "who was the first king of the Belgians", "when does the train to Lyon leave",
    "why is the sky so blue at noon", "where can I buy the cheapest bicycle",
    "what are the rules of chess", "how old is the oldest oak in the forest",
    "which volcano is the highest on the island", "is there a ferry from here to the harbour",
)  # fmt: skip
MIN_WORDS, OF_PARAGRAPHS = 8, 4


@dataclass(frozen=True)
class Question:
    """A question with its page, in one half of all."""

    text: str
    page: str
    half: str


def digest(text: str) -> int:
    return int(sha1(text.encode()).hexdigest(), 16)


def questions(out: Path) -> Iterator[Question]:
    for page in Out(out).read_pages():
        for region in page.regions:
            said = region.content or ""
            words = sorted(set(re.findall(r"[A-Za-z]{5,}", said)), key=lambda word: digest(word + said))
            number = digest(said)
            if region.label == "text" and len(words) > MIN_WORDS and number % OF_PARAGRAPHS == 0:
                half = "tune" if number % (2 * OF_PARAGRAPHS) == 0 else "check"
                yield Question(FRAME.format(*(word.lower() for word in words[:3])), page.id, half)


def hits_of(out: Path, question: str) -> list[Hit]:
    found = small_search(out, question, SearchOptions())
    return found.hits if found else []


def scored(out: Path, asked: Iterable[Question]) -> dict[str, float]:
    first, gain = [], []
    for question in asked:
        ids = [hit.page_id for hit in hits_of(out, question.text)]
        rank = ids.index(question.page) + 1 if question.page in ids else 0
        first.append(rank == 1)
        gain.append(1 / math.log2(rank + 1) if rank else 0.0)
    count = max(1, len(first))
    return {
        "questions": len(first), "right page first": round(sum(first) / count, 3),
        "ndcg@10": round(sum(gain) / count, 3),
    }  # fmt: skip


def figures(out: Path) -> dict[str, Any]:
    asked = list(questions(out))
    found = [len(hits_of(out, text)) for text in OFF_TOPIC]
    halves = {half: scored(out, [one for one in asked if one.half == half]) for half in ("tune", "check")}
    return {**halves, "off-topic questions with hits": sum(map(bool, found)), "of": len(found)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--work", type=Path, default=None, help="keeps what was read")
    given = parser.parse_args()
    out = (given.work or Path(tempfile.mkdtemp())) / "jose_papers"
    for _ in penstock.parse(str(given.data / "devset" / "jose_papers"), out=str(out), layout="rules"):
        pass
    index_out(out, rebuild=False)
    now = figures(out)
    small_index.telling = lambda words: list(dict.fromkeys(words))
    before = figures(out)
    small_index.telling = tokens.telling
    print(json.dumps({"before": before, "now": now}))


if __name__ == "__main__":
    main()

"""Counts words of the text layer that are glued or wrongly parted, by the truth of the development pages.

    python benchmarks/quality/glued_words.py [DATA] [--pages 2] [--source jose_papers ...] [--half odd]

DATA is the folder with `devset` (PENSTOCK_DATA). A word is glued if the truth does not have it, but has its
two parts one after the other; it is parted if two words beside each other are one word of the truth and
never stand so in it. Documents go by halves of their name's hash: tune on even, believe odd. `made` are
pages written here, whose spaces are 0.11 to 0.25 of the size. The last line is JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from penstock.engines.pdf.file import PdfFile
from penstock.region import Word

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.made_pdf import pdf

from benchmarks.lib.common import DATA

LETTERS = re.compile(r"[^\W\d_]+")
COMMAND = re.compile(r"\\[A-Za-z@]+\*?|%.*")
TRUTHS = {  # the ends of the files that hold what a PDF says
    "awesome_cv": ".tex",
    "debian_multilang": ".md",
    "jose_papers": ".md",
    "latexml_math": ".tex",
    "rendered_korean": ".md",
    "rendered_multilang": ".md",
    "texlive_journal_designs": ".tex",
    "texlive_language_samples": ".tex",
}
MADE = "made"
MADE_TEXT = (
    "you have the right to withdraw or change what was agreed within the time that both sides have set",
    "water runs through the old mill and turns the wheel that drives the saw and the stones for flour",
    "every page of the report says in which year a line was laid and how much it carried in that year",
)


def documents(data: Path, source: str) -> Iterator[tuple[str, Path, str]]:
    """Name, file and truth of each document of a source."""
    folder, end = data / "devset" / source, TRUTHS[source]
    for path in sorted(folder.glob("*.pdf")):
        found = [*folder.glob(f"{path.stem}*{end}"), *folder.glob(f"{path.stem}__*{end}")]
        texts = [one.read_text("utf-8", "replace") for one in dict.fromkeys(found)]
        if texts:
            yield path.stem, path, COMMAND.sub(" ", "\n".join(texts)) if end == ".tex" else "\n".join(texts)


def made_documents(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Pages whose words are text objects of their own, with spaces as narrow as tight lines have."""
    for gap in range(110, 251, 10):
        rows = []
        for row, text in enumerate(MADE_TEXT):
            shown = " ".join(f"[{-gap if n else 0} ({word})] TJ" for n, word in enumerate(text.split()))
            rows.append(f"BT /F1 9 Tf 20 {100 + 20 * row} Td {shown} ET")
        path = folder / f"made_{gap}.pdf"
        path.write_bytes(pdf([" ".join(rows)], "/MediaBox [0 0 595 200]"))
        yield path.stem, path, "\n".join(MADE_TEXT)


def lines_of(path: Path, pages: int) -> Iterator[list[str]]:
    """The words of each line, by the file's order."""
    with PdfFile(str(path)) as file:
        for index in range(min(pages, file.num_pages)):
            line: list[Word] = []
            for word in file.layer(index, file.size(index, dpi=144, max_side=3500)).words:
                if line and (abs(word.baseline - line[-1].baseline) > 1 or word.box[0] < line[-1].box[0]):
                    yield [one.text for one in line]
                    line = []
                line.append(word)
            yield [one.text for one in line]


def count(path: Path, truth: str, pages: int) -> tuple[int, int, int]:
    """How many words there are, how many are glued, how many parted."""
    told = [word.casefold() for word in LETTERS.findall(truth)]
    known, beside = set(told), set(pairwise(told))
    words = glued = parted = 0
    for line in lines_of(path, pages):
        found = [LETTERS.fullmatch(text.strip(".,;:!?()[]\"'")) for text in line]
        plain = [match.group().casefold() if match else "" for match in found]
        words += sum(map(bool, plain))
        glued += sum(word not in known and _is_glued(word, beside) for word in plain)
        parted += sum(a + b in known and (a, b) not in beside for a, b in pairwise(plain) if a and b)
    return words, glued, parted


def _is_glued(word: str, beside: set[tuple[str, str]]) -> bool:
    """Whether any two words that follow each other in the truth make up the word, or begin it."""
    halves = ((word[:place], word[place:]) for place in range(1, len(word)))
    return any(pair in beside or (len(pair[0]) > 2 and _begins(pair, beside)) for pair in halves)


def _begins(pair: tuple[str, str], beside: set[tuple[str, str]]) -> bool:
    first, rest = pair
    return any((first, rest[:place]) in beside for place in range(3, len(rest)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--pages", type=int, default=2)
    parser.add_argument("--source", action="append", choices=[*TRUTHS, MADE])
    parser.add_argument("--half", choices=["even", "odd"])
    given = parser.parse_args()
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    with tempfile.TemporaryDirectory() as folder:
        for source in given.source or [*TRUTHS, MADE]:
            listed = made_documents(Path(folder)) if source == MADE else documents(given.data, source)
            for name, path, truth in listed:
                half = "odd" if hashlib.sha1(name.encode()).digest()[-1] % 2 else "even"
                if given.half in (None, half):
                    row = sums[f"{source} {half}"]
                    row[:] = [a + b for a, b in zip(row, count(path, truth, given.pages), strict=True)]
    for key, (words, glued, parted) in sums.items():
        print(f"{key:32} {words:7} words {glued:5} glued {parted:5} parted")
    print(
        json.dumps(
            {key: dict(zip(("words", "glued", "parted"), row, strict=True)) for key, row in sums.items()}
        )
    )


if __name__ == "__main__":
    main()

"""Office files, HWP and mails that others made: how many are read, and what is found of what is expected.

    python benchmarks/quality/office_files.py [--write docs/quality.md]

Reads the folder `devset/formats` of the test data by structure, one file after the other. Expected files are
what other projects keep for their own tests: Markdown and text that were reviewed, and not always right.
Headings and tables are counted in both. Words are compared as bags: `found` is the part of the expected words
that are read, `wanted` the part of the words read that are expected. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from penstock.engines.office.blocks import StructureBlock
from penstock.engines.office.open import open_structure
from penstock.errors import BadInput
from penstock.sources import formats
from penstock.workers.office.unit_pages import STORED

DATA = Path(os.environ.get("PENSTOCK_DATA", "../shared/data")) / "devset" / "formats"
MARKS = ("<!-- office files -->", "<!-- end of office files -->")
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_TABLE = re.compile(r"^\|(?:\s*:?-+:?\s*\|)+\s*$|<table", re.MULTILINE)
_MARKUP = re.compile(r"<[^>]{0,2000}>|!?\[([^\]]*)\]\([^)]*\)|[#|*_`\\>~-]|&[a-z]+;|\$+")
_PREAMBLE = re.compile(r"\A# HWP 문서\n(?:\s*\*\*[^\n]*\n)*")  # of hwp.js: version and paper
_WORD = re.compile(r"\w+")


@dataclass
class KindFigures:
    """What was read of one kind."""

    files: int = 0
    read: int = 0
    headings: int = 0
    tables: int = 0
    characters: int = 0
    compared: int = 0  # files with an expected one
    our_headings: int = 0  # of these
    our_tables: int = 0
    expected_headings: int = 0
    expected_tables: int = 0
    found: list[float] = field(default_factory=list)
    wanted: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, help="page that gets the table between its marks")
    options = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"{DATA} is not here.")
    kinds: dict[str, KindFigures] = {}
    problems: list[str] = []
    began = time.monotonic()
    for path in sorted(DATA.rglob("*")):
        if path.is_file() and (kind := kind_of(path)):
            look(path, kind, kinds.setdefault(path.suffix.lower().lstrip("."), KindFigures()), problems)
    text = table(kinds, problems)
    print(text)
    if options.write:
        page = options.write.read_text("utf-8")
        before, _, rest = page.partition(MARKS[0])
        options.write.write_text(
            f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", "utf-8"
        )
    figures = {
        name: vars(found) | {"found": mean(found.found), "wanted": mean(found.wanted)}
        for name, found in kinds.items()
    }
    print(json.dumps({"kinds": figures, "failed": problems, "seconds": round(time.monotonic() - began, 1)}))


def kind_of(path: Path) -> str | None:
    """Returns the kind of a file that is to be read; None for an expected one."""
    if any(part.endswith(("expected_md", "expected_xhtml")) for part in path.parts):
        return None
    with path.open("rb") as file:
        kind = formats.sniff(file.read(formats.HEAD_BYTES), path.suffix.lower())
    return kind if kind in formats.STRUCTURES - {"text", "markdown", "csv", "html"} else None


def look(path: Path, kind: str, figures: KindFigures, problems: list[str]) -> None:
    figures.files += 1
    try:
        file = open_structure(str(path), kind)
        blocks = [block for unit in range(file.num_units) for block in file.unit(unit).blocks]
        file.close()
    except BadInput as exc:
        problems.append(f"{path.name}: {exc.message}")
        return
    figures.read += 1
    said = " ".join(words_of(block) for block in blocks if block.mark != STORED)
    headings, tables = sum(block.level > 0 for block in blocks), sum(bool(block.cells) for block in blocks)
    figures.headings += headings
    figures.tables += tables
    figures.characters += len("".join(said.split()))
    if (expected := expected_of(path)) is not None:
        text = _PREAMBLE.sub("", expected.read_text("utf-8", "replace"))
        figures.compared += 1
        figures.our_headings += headings
        figures.our_tables += tables
        figures.expected_headings += len(_HEADING.findall(text))
        figures.expected_tables += len(_TABLE.findall(text))
        compare(said, text, figures)


def words_of(block: StructureBlock) -> str:
    return " ".join([block.text, *(cell.text for cell in block.cells)])


def expected_of(path: Path) -> Path | None:
    """Returns what another project expects of a file, as Markdown or text."""
    folder = path.parent
    places = (
        folder / f"{path.name}.md", folder / f"{path.stem}.md", folder / f"{path.name}.txt",
        folder.with_name(f"{folder.name}_expected_md") / f"{path.name}.md",
        folder.with_name(f"{folder.name}_expected_md") / f"{path.stem}.md",
    )  # fmt: skip
    return next((place for place in places if place.is_file()), None)


def compare(said: str, text: str, figures: KindFigures) -> None:
    ours, theirs = bag(said), bag(_MARKUP.sub(r" \1 ", text))
    both = sum((ours & theirs).values())
    if theirs:
        figures.found.append(both / sum(theirs.values()))
    if ours:
        figures.wanted.append(both / sum(ours.values()))


def bag(text: str) -> Counter[str]:
    """Returns words; of Korean and scripts without spaces each letter, so that a break costs nothing."""
    words = (word for word in _WORD.findall(text.casefold()) if word.strip("_"))
    return Counter(
        piece
        for word in words
        for piece in (word if any(ord(letter) > 0x2E80 for letter in word) else [word])
    )


def mean(values: list[float]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None


def table(kinds: dict[str, KindFigures], problems: list[str]) -> str:
    rows = [
        "| kind | read | headings | tables | characters | with an expected file | headings of these |"
        " tables of these | expected words found | words that are expected |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(kinds.items()):
        rows.append(
            f"| {name.upper()} | {one.read} of {one.files} | {one.headings} | {one.tables} |"
            f" {one.characters:,} | {one.compared} | {one.our_headings} of {one.expected_headings} |"
            f" {one.our_tables} of {one.expected_tables} |"
            f" {shown(one.found)} | {shown(one.wanted)} |"
        )
    failed = [f"- {problem}" for problem in problems]
    return "\n".join([*rows, *(["", "Failed, with the reason:", "", *failed] if failed else [])])


def shown(values: list[float]) -> str:
    found = mean(values)
    return f"{found:.3f}" if found is not None else "–"


if __name__ == "__main__":
    main()

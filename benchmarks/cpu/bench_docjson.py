"""Measures grounded answers of 2,000 pages to one DocJSON file: CPU seconds on one core and peak memory.

    python benchmarks/cpu/bench_docjson.py [PAGES]

Pages look like real ones: about 1,000 tokens, headings, paragraphs, a table of 40 cells, a figure.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.file import write
from penstock.documents.grounding.page import read_page, regions_of
from penstock.page import Page

SENTENCE = "수압관은 저수지의 물을 발전소의 수차까지 이끄는 굵은 강철관이다 그림에서 보듯 낙차가 커진다"
WORDS = SENTENCE.split()
WIDTH, HEIGHT = 1190, 1684


def answer(number: int) -> str:
    def sentence(seed: int, count: int) -> str:
        return " ".join(WORDS[(seed * 7 + i * i) % len(WORDS)] for i in range(count)) + "."

    parts = [
        _anchor("header", 30),
        "연간 보고서",
        _anchor("sub_title", 60),
        f"## {number % 30 + 1}.{number % 7} 절의 제목",
    ]
    for block in range(10):
        parts += [_anchor("text", 100 + 50 * block), f"{sentence(number + block, 34)} 표 {number}을 보라."]
    rows = "".join(
        "<tr>" + "".join(f"<td>{number * row * column % 9973}</td>" for column in range(1, 6)) + "</tr>"
        for row in range(1, 9)
    )
    parts += [_anchor("table", 620) + "\n" + _anchor("table_caption", 600)]
    parts += [f"<center>표 {number}. 연도별 매출</center>", f"<table>{rows}</table>"]
    parts += [_anchor("image", 800), "", _anchor("image_caption", 930), f"그림 {number}. 유량의 변화"]
    return "  \n\n".join(parts)


def _anchor(label: str, top: int) -> str:
    return f"<|ref|>{label}<|/ref|><|det|>[[62, {top}, 920, {top + 40}]]<|/det|>"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    answers = [answer(number) for number in range(50)]
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parsed = 0.0

    def items() -> Iterator[Page]:
        nonlocal parsed
        for number in range(count):
            began = time.process_time()
            page = read_page(answers[number % 50], WIDTH, HEIGHT)
            regions = regions_of(page, WIDTH, HEIGHT, number == 0, "bench")
            parsed += time.process_time() - began
            yield Page(
                id=f"doc/{number}",
                uri="doc.pdf",
                document="doc.pdf",
                part=number,
                width=WIDTH,
                height=HEIGHT,
                regions=regions,
            )

    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "doc.json"
        with path.open("wb") as file:
            write(file, Assembler("doc.pdf"), items(), Path(folder))
        size_mb = path.stat().st_size / 2**20
    total = time.process_time() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before_mb
    figures = {
        "pages": count,
        "cpu_s": round(total, 2),
        "parser_s": round(parsed, 2),
        "file_mb": round(size_mb, 1),
        "memory_grew_mb": round(grown, 1),
        "chars_a_page": sum(map(len, answers)) // len(answers),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

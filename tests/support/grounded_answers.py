"""Grounded answers as the models write them and as they go wrong, in any of the three dialects.

Written from the grammar and from failures that users of the models have reported. `CASES` maps a name
to a function that writes the answer with a dialect's anchors.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

Boxes = str | list[list[float]]


def official(label: str, boxes: Boxes, content: str = "") -> str:
    return f"<|ref|>{label}<|/ref|><|det|>{_written(boxes)}<|/det|>\n{content}"


def bare(label: str, boxes: Boxes, content: str = "") -> str:
    return f"{label}{_written(boxes)}\n{content}"


def det_first(label: str, boxes: Boxes, content: str = "") -> str:
    numbers = boxes if isinstance(boxes, str) else ", ".join(str(box) for box in boxes)
    return f"<|det|>{label} {numbers}<|/det|>{content}"


def _written(boxes: Boxes) -> str:
    return boxes if isinstance(boxes, str) else str(boxes)


class Anchor(Protocol):
    """Writes one block with its mark."""

    def __call__(self, label: str, boxes: Boxes, content: str = "") -> str: ...


DIALECTS: dict[str, Anchor] = {"official": official, "bare": bare, "det_first": det_first}
Case = Callable[[Anchor], str]

A, B, C = [[62, 57, 920, 130]], [[62, 140, 920, 400]], [[62, 420, 920, 800]]
TABLE = "<table><tr><td>연도</td><td>매출</td></tr><tr><td>2023</td><td>1,204</td></tr></table>"
GAP = "  \n\n"
PROSE = "수압관은 저수지의 물을 발전소의 수차까지 이끄는 굵은 강철관이다."


def page(*blocks: str) -> str:
    return GAP.join(blocks)


CASES: dict[str, Case] = {
    "title and text": lambda a: page(a("title", A, "# Head, Flow and Power"), a("text", B, PROSE)),
    "depth in hashes": lambda a: page(
        a("title", A, "#### 제1장 총칙"), a("sub_title", B, "## 1.1 목적"), a("text", C, PROSE)
    ),
    "table with its caption first": lambda a: page(
        a("table", B) + "\n" + a("table_caption", A, "<center>표 1. 연도별 매출</center>"), TABLE
    ),
    "table, caption, footnote": lambda a: page(
        a("table", B) + "\n" + a("table_caption", A) + "\n" + a("table_footnote", C, "Table 1. Sales"),
        TABLE,
        "* in millions",
    ),
    "table alone": lambda a: page(a("table", B, TABLE), a("text", C, PROSE)),
    "table with words before": lambda a: a("table", B, "Table 3. Sales\n" + TABLE),
    "two tables, one anchor": lambda a: a("table", B, TABLE + "\n\n" + TABLE.replace("매출", "이익")),
    "table as pipes": lambda a: a("table", B, "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nafter"),
    "table as text": lambda a: a("table", B) + "\n" + a("table_caption", A, "Table 2.\n\na b c\n1 2 3"),
    "image and caption": lambda a: page(
        a("image", B) + "\n" + a("image_caption", C, "<center>그림 3. 유량의 변화</center>")
    ),
    "chart with data": lambda a: page(a("chart", B) + "\n" + a("image_caption", C, "Figure 2. Flow"), TABLE),
    "equation": lambda a: a("equation", B, "\\[ P = \\eta \\rho g Q H \\]"),
    "equation with coloneqq": lambda a: a("equation", B, "\\[ x \\coloneqq 1 \\]"),
    "furniture": lambda a: page(
        a("header", A, "Annual report"), a("text", B, PROSE), a("page_number", C, "12")
    ),
    "several boxes": lambda a: a("text", [[62, 140, 480, 400], [500, 140, 920, 400]], PROSE),
    "other brackets": lambda a: a("text", "[[62,140,920,400]]" if a is bare else "[62,140,920,400]", PROSE),
    "floats of one": lambda a: a("text", [[0.062, 0.14, 0.92, 0.4]], PROSE),
    "beyond the grid": lambda a: a("text", [[62, 140, 1320, 400]], PROSE),
    "below zero": lambda a: a("text", [[-12, 140, 920, 400]], PROSE),
    "corners swapped": lambda a: a("text", [[920, 400, 62, 140]], PROSE),
    "no area": lambda a: a("text", [[62, 140, 62, 140]], PROSE),
    "three numbers": lambda a: a("text", "[[62, 140, 920]]", PROSE),
    "seven numbers": lambda a: a("text", "[[62, 140, 920, 400, 1, 2, 3]]", PROSE),
    "unknown label": lambda a: a("barcode", B, "8 801234 567890"),
    "capitals and spaces": lambda a: a("Sub title", A, "## 결론"),
    "text before any mark": lambda a: "A line that no anchor claims.\n\n" + a("text", B, PROSE),
    "tags that are text": lambda a: a("text", B, "a < b, </IUT role> and <script>alert(1)</script> stay"),
    "stray tokens": lambda a: a("text", B, PROSE + "<｜end▁of▁sentence｜>") + "<|User|>",
    "printed noise": lambda a: "=====================\nBASE:  torch.Size([1, 256, 1280])\n"
    "NO PATCHES\n=====================\n" + a("text", B, PROSE),
    "a line said twice": lambda a: page(
        a("text", B, "First line of it.\n" + PROSE), a("text", [[62, 140, 920, 200]], "First line of it.")
    ),
    "cut in an anchor": lambda a: page(a("text", B, PROSE), a("table", C, "").rstrip("\n")[:-9]),
    "cut in a table": lambda a: page(a("text", B, PROSE), a("table", C, TABLE[:-30])),
    "cut in a token": lambda a: a("text", B, PROSE) + "\n\n<|re",
    "loop in a line": lambda a: page(a("title", A, "# Title"), a("text", B, "again and " * 200)),
    "loop of empty cells": lambda a: a("table", C, "<table><tr>" + "<td></td>" * 400),
    "loop of blocks": lambda a: page(*[a("text", [[62, 10 + i, 920, 40 + i]], PROSE) for i in range(60)]),
    "loop of lines": lambda a: a("text", B, "\n".join([PROSE] * 12) + "\nThe end."),
    "empty": lambda a: "",
    "only a mark": lambda a: a("text", B),
}  # fmt: skip

# what only marks of this kind can get wrong
OWN: dict[str, dict[str, str]] = {
    "official": {
        "unclosed det, new anchor": "<|ref|>text<|/ref|><|det|>[[220, "
        "<|ref|>table<|/ref|><|det|>[[1, 2, 30, 40]]<|/det|>\n" + TABLE,
        "unclosed ref": "<|ref|>text<|det|>[[62, 140, 920, 400]]<|/det|>\nbody",
        "ref without det": "<|ref|>text<|/ref|>\nbody\n\n<|ref|>text<|/ref|>"
        "<|det|>[[1, 2, 3, 4]]<|/det|>\nmore",
        "stray closings": "one<|/det|>two<|/ref|>three",
        "det without close": "<|ref|>text<|/ref|><|det|>[[62, 140, 920, 400]]\n2023 was a good year",
        "a sentence as the label": "<|ref|>물길을 읽는 법<|/ref|><|det|>[[62, 57, 920, 130]]<|/det|>",
        "code in the box": "<|ref|>text<|/ref|><|det|>__import__('os').system('true')<|/det|>\nbody",
    },
    "bare": {
        "label in a sentence": "text[[62, 140, 920, 400]]\nsee table[[1]] and [[2]]",
        "no marks at all": "# A page\n\nwith plain Markdown and [[a link]]",
        "indented": "  text [[62, 140, 920, 400]]  \nbody",
    },
    "det_first": {
        "no label": "<|det|>[62, 140, 920, 400]<|/det|>body",
        "unclosed": "<|det|>text [62, 140, 920, 400]body<|det|>text [1, 2, 30, 40]<|/det|>more",
        "double brackets": "<|det|>text [[62, 140, 920, 400]]<|/det|>body",
    },
}


def answers(dialect: str) -> dict[str, str]:
    written = {name: case(DIALECTS[dialect]) for name, case in CASES.items()}
    return written | OWN[dialect]


PIECES = (
    "<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "[[", "]]", "<table>", "</table>", "<td", "|", "\n", "<|",
    "[" * 300, "<" * 300, "9" * 300, "0.5, " * 200, "<|ref|>" * 100, "<|det|>[" * 100, "text[[" * 100,
    " " * 500,
)  # fmt: skip


def mutated(chance: random.Random, seeds: list[str]) -> str:
    """One seed answer with a few cuts, doublings, swaps and strange characters."""
    text = chance.choice(seeds)
    for _ in range(chance.randint(1, 6)):
        at, end = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        kind = chance.randrange(7)
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:end] + text[at:end] * chance.randint(1, 4) + text[end:]
        elif kind == 2:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind == 3:
            text = text[:at]
        elif kind == 4:
            text = text[:at] + chance.choice(seeds) + text[at:]
        elif kind == 5:
            text = text[:at] + chr(chance.choice((0, 9, 0x1F600, 0xD7A3, 0xFFFF, 0x200B))) + text[at:]
        else:
            text = text[:at] + text[at:end][::-1] + text[end:]
    return text[:40_000]

"""Writes glm_format.json: pages of regions, and what the GLM-OCR SDK's formatter makes of them.

Needs a Python environment with glmocr==0.1.5 and without wordfreq, and nothing of Penstock:
    python tests/documents/formats/golden/make_glm_format.py > tests/documents/formats/golden/glm_format.json
A region is [label, content, box on the 0..1000 grid, whether it has a crop].
"""

from __future__ import annotations

import json
import random
import re
from importlib.resources import files
from typing import Any

import yaml
from glmocr.config import ResultFormatterConfig
from glmocr.postprocess import result_formatter

SEED, NUM_RANDOM = 20261115, 60
LEFT = [100, 100, 400, 140]
LABELS = [
    "abstract", "algorithm", "aside_text", "chart", "content", "display_formula", "doc_title", "figure_title",
    "footer", "footer_image", "footnote", "formula_number", "header", "header_image", "image",
    "inline_formula", "number", "paragraph_title", "reference", "reference_content", "seal", "table", "text",
    "vertical_text", "vision_footnote",
]  # fmt: skip
SHARDS = [
    "$", "$", "$$", "\\", "\\$", "\\t", ".", "....", "·", "····", "_", "____", "\\_", "\\_\\_\\_\\_", "a",
    "b", "1", "(1)", "（2）", "가", "的", "-", "•", "#", "```", "<table", "</table>", "\\[", "\\]", "\\(",
    "\\)", "x", "1.", "a)", "A）", "，", "é", " ", "\n", "\n\n", "\t", "- ", "* ", "## ", "\u3000", "\r",
]  # fmt: skip
WORDS = [
    "exam-", "ple", "the", "Result", "well-", "known", "inter-", "national", "(1)", "$x$", "$ y $",
    "state-of-", "7.4.1", "•", "item", "re-", "sults.",
]  # fmt: skip
NUMBERS = ["(1)", "（2）", "(1.2)", "3", "$$a$$", "<table><tr></tr></table>", "x^2", "\\[x\\]", "\\tab\\t\n"]
BEGINS_MAIMED = re.compile(r"(\\t)+[A-Za-z]")  # a command such as \theta, taken for a tab
LOOP = "".join(chr(97 + i * 7 % 26) for i in range(26))  # 26 letters, no two runs alike

NAMED: dict[str, list[list[Any]]] = {
    "titles": [["doc_title", "# A  title"], ["paragraph_title", "- ## 2 Part"], ["paragraph_title", "#Part"]],
    "formulas": [
        ["display_formula", "$$ a $$"], ["inline_formula", "\\(b\\)"], ["display_formula", "c $x$ d"],
        ["display_formula", "\\[ e"], ["display_formula", "$$"],
    ],
    "numbers": [
        ["display_formula", "a"], ["formula_number", "(1)"], ["formula_number", "（2）"],
        ["display_formula", "b"],
        ["formula_number", "(3)"], ["text", "x"], ["formula_number", "1.2"], ["display_formula", "c"],
        ["formula_number", "(9"],
    ],
    "hyphens": [
        ["text", "an exam-"], ["image", None], ["text", "Capital"], ["text", "ple of it"], ["text", "no-"],
        ["text", "123"], ["text", "odd-"], ["text", "b!"], ["text", "-"], ["text", "alone"],
    ],
    "bullets": [
        ["text", "• one"], ["text", "two"], ["text", "* three"], ["text", "four", [111, 0, 300, 9]],
        ["text", "·five"], ["abstract", "six"], ["text", "- seven"],
    ],
    "lists": [["text", "(1)x"], ["text", "（b）y"], ["text", "1.x"], ["text", "a)x"], ["text", "2）x"],
              ["text", "7.4.1 z"], ["text", "(1)x\ny"], ["text", "12.5"]],
    "text": [
        ["text", "a\nb\n\nc\n\n\nd"], ["text", "```py\nx"], ["text", "\\t\\ta.....b____c\\_\\_\\_\\_d\\t"],
        ["text", "a$ x $b"], ["text", "cost \\$5 and $6"], ["text", "$ $"], ["text", None], ["seal", "印"],
        ["text", "a$$b$ c $d$$e$f \\$ g$h\\$ i $j"], ["text", "$k\\\n$l$m"],
    ],
    "tables": [["table", "<table><tr><td>a.....b</td></tr></table>"], ["table", "| a.....b |"]],
    "pictures": [["image", None, [1, 2, 3, 4], True], ["chart", None, [5, 6, 7, 8], True], ["image", None]],
    "loop": [["text", "begin " + LOOP * 90 + " end"]],
    "short unit": [["text", "begin " + "ab" * 1_200 + " end"]],
    "nine copies": [["text", "".join(f"<{i}>" + chr(97 + i % 26) * 11 + LOOP * 9 for i in range(9))]],
    "same lines": [["text", "\n".join(f"{i} " * 9 if i % 6 == 5 else "the same line" for i in range(160))]],
}  # fmt: skip


def made(pages: list[list[list[Any]]]) -> dict[str, Any] | None:
    """The SDK's result, or None where it writes a block twice or maims a formula, which we do not."""
    formulas = [region[1] or "" for page in pages for region in page if region[0].endswith("_formula")]
    if any(map(BEGINS_MAIMED.match, formulas)):
        return None
    crops = {
        (p, *box): [p, i] for p, page in enumerate(pages) for i, (_, _, box, crop) in enumerate(page) if crop
    }
    raw = [[_row(i, region) for i, region in enumerate(page)] for page in pages]
    joined = _watch_joining()
    rows, markdown, pictures = FORMATTER.process(raw, crops)
    if any(num_longer > num_gone for num_longer, num_gone in joined):
        return None
    return {"pages": pages, "json": json.loads(rows), "markdown": markdown, "pictures": pictures}


def _row(index: int, region: list[Any]) -> dict[str, Any]:
    label, content, (x0, y0, x1, y1), _ = region
    polygon = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
    row = {"index": index, "label": label, "score": 0.9, "bbox_2d": [x0, y0, x1, y1], "polygon": polygon}
    return {**row, "task_type": "text", "content": content}


def _watch_joining() -> list[tuple[int, int]]:
    """For each page, how many blocks grew when hyphens were joined, and how many went."""
    seen: list[tuple[int, int]] = []

    def join(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        before = {id(block) for block in blocks}
        after = type(FORMATTER)._merge_text_blocks(FORMATTER, blocks)
        seen.append((sum(id(block) not in before for block in after), len(blocks) - len(after)))
        return after

    FORMATTER._merge_text_blocks = join
    return seen


def some_content(rng: random.Random) -> str | None:
    kind = rng.random()
    if kind < 0.04:
        return None
    if kind < 0.5:
        return "".join(rng.choice(SHARDS) for _ in range(rng.randint(1, 14)))
    if kind < 0.9:
        words = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 8)))
        return (
            rng.choice(["", "", "- ", "• ", "(1)", "1.", "$$", "\\["]) + words + rng.choice(["", "-", "$$"])
        )
    return rng.choice(NUMBERS)


def some_page(rng: random.Random) -> list[list[Any]]:
    page = []
    for i in range(rng.randint(0, 8)):
        often = rng.choice(["text", "text", "text", "display_formula", "formula_number", "image"])
        label = rng.choice(LABELS) if rng.random() < 0.5 else often
        left, top = rng.choice([100, 105, 110, 111, 300]), 100 * i + rng.randint(0, 50)
        picture = label in ("image", "chart")
        box = [left, top, left + rng.randint(10, 500), top + 40]
        page.append([label, None if picture else some_content(rng), box, picture and rng.random() < 0.8])
    return page


def main() -> None:
    rng = random.Random(SEED)
    cases = {}
    for name, page in NAMED.items():
        cases[name] = made([[(region + [LEFT, False][len(region) - 2 :]) for region in page]])
    for number in range(NUM_RANDOM):
        cases[f"random {number}"] = made([some_page(rng) for _ in range(rng.randint(1, 2))])
    kept = {name: case for name, case in cases.items() if case is not None}
    print("{")
    print(
        ",\n".join(
            f"{json.dumps(name)}: {json.dumps(case, ensure_ascii=False)}" for name, case in kept.items()
        )
    )
    print("}")


result_formatter.zipf_frequency = None
_CONFIG = yaml.safe_load(files("glmocr").joinpath("config.yaml").read_text("utf-8"))
FORMATTER = result_formatter.ResultFormatter(ResultFormatterConfig(**_CONFIG["pipeline"]["result_formatter"]))

if __name__ == "__main__":
    main()

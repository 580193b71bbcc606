"""Makes tests/fixtures/omnidocbench: the sample's pages and answers with mistakes.

    python tools/make_benchmark_fixture.py

The expected scores are our own code's. That code gives the official program's numbers on the official pages,
which the tests marked `shared_data` check, so a score that moves here has moved there.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from penstock_eval.benchmarks.omnidocbench import OmniDocBench
from penstock_eval.scoring import score_folder

REPO = Path(__file__).resolve().parent.parent
SAMPLE = REPO / "src" / "penstock" / "sample" / "sample.json"
FOLDER = REPO / "tests" / "fixtures" / "omnidocbench"
VERSIONS = ("v1.0", "v1.5", "v1.6")
CATEGORIES = {
    "doc_title": "title",
    "paragraph_title": "title",
    "text": "text_block",
    "figure_title": "figure_caption",
    "display_formula": "equation_isolated",
    "formula_number": "equation_caption",
    "table": "table",
    "header": "header",
    "number": "page_number",
    "chart": "figure",
}
UNREAD = ("header", "number", "chart")  # no place in the reading order


def annotated(page: dict[str, Any]) -> dict[str, Any]:
    """A page of the sample in the benchmark's words."""
    places = (place for place in range(1, 100))
    boxes = [
        {
            "category_type": CATEGORIES[block["label"]],
            "poly": [block["box"][i] for i in (0, 1, 2, 1, 2, 3, 0, 3)],
            "ignore": False,
            "order": None if block["label"] in UNREAD else next(places),
            "anno_id": number,
            **{key: block[key] for key in ("text", "latex", "html") if key in block},
        }
        for number, block in enumerate(page["blocks"])
    ]
    attributes = {"data_source": "book", "language": "en_ch_mixed", "layout": "1andmore_column"}
    info = {"image_path": f"page{page['page']}.jpg", "page_no": page["page"], "page_attribute": attributes}
    return {"layout_dets": boxes, "page_info": info, "extra": {"relation": []}}


def answered(page: dict[str, Any], dice: random.Random) -> str:
    """The page's Markdown with a block lost, two blocks swapped and some letters wrong."""
    blocks = [block for block in page["blocks"] if block["label"] not in UNREAD]
    parts = [_markdown(block, dice) for block in blocks]
    del parts[dice.randrange(len(parts))]
    at = dice.randrange(len(parts) - 1)
    parts[at], parts[at + 1] = parts[at + 1], parts[at]
    return "\n\n".join(parts) + "\n"


def _markdown(block: dict[str, Any], dice: random.Random) -> str:
    if "html" in block:
        return str(block["html"]).replace("<td>", "<td>~", 3)
    if "latex" in block:
        return f"$${str(block['latex']).replace('eta', 'nu')}$$"
    letters = [dice.choice("ox제") if dice.random() < 0.03 else letter for letter in block["text"]]
    return ("## " if block["label"].endswith("title") else "") + "".join(letters)


def numbers(version: str) -> dict[str, float]:
    """What our code scores the answers, by measure."""
    found = score_folder(OmniDocBench(version=version), FOLDER, FOLDER / "predictions", workers=0).summary
    return {**{name: interval.mean for name, interval in found.scores.items()}, **found.extra}


def main() -> None:
    pages = json.loads(SAMPLE.read_text(encoding="utf-8"))["pages"]
    (FOLDER / "predictions").mkdir(parents=True, exist_ok=True)
    _write(FOLDER / "OmniDocBench.json", [annotated(page) for page in pages])
    for page in pages:
        answer = answered(page, random.Random(page["page"]))
        (FOLDER / "predictions" / f"page{page['page']}.md").write_text(answer, encoding="utf-8")
    _write(FOLDER / "expected.json", {version: numbers(version) for version in VERSIONS})


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

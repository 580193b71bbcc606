"""A scripted server: replays grounded answers for the sample's pages, made from its truth."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

NATIVE = {
    "doc_title": "title", "paragraph_title": "sub_title", "text": "text", "chart": "image", "table": "table",
    "figure_title": "image_caption", "header": "header", "number": "page_number",
    "display_formula": "equation", "formula_number": "text",
}  # fmt: skip


def sample_truth() -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((files("penstock") / "sample" / "sample.json").read_text("utf-8"))
    return truth


def page_answer(page: dict[str, Any], width: float, height: float) -> str:
    """The page as DeepSeek-OCR writes pages: a table's caption anchor before its body."""
    blocks = page["blocks"]
    parts = []
    for place, block in enumerate(blocks):
        label = block["label"]
        before = blocks[place - 1] if place else None
        following = blocks[place + 1]["label"] if place + 1 < len(blocks) else ""
        if label == "figure_title" and following == "table":
            continue  # said with its table
        anchor = _anchor(NATIVE[label], block["box"], width, height)
        if label == "table" and before and before["label"] == "figure_title":
            caption = _anchor("table_caption", before["box"], width, height)
            parts.append(f"{anchor}\n{caption}\n<center>{before['text']}</center>  \n\n{_html(block)}")
        else:
            parts.append(f"{anchor}\n{_content(block, label)}")
    return "  \n\n".join(parts)


def _content(block: dict[str, Any], label: str) -> str:
    if label == "doc_title":
        return "# " + str(block["text"])
    if label == "paragraph_title":
        return "## " + str(block["text"])
    if label == "display_formula":
        return f"\\[ {block['latex']} \\]"
    if label == "table":
        return _html(block)
    return str(block.get("text", ""))


def _html(block: dict[str, Any]) -> str:
    rows: dict[int, str] = {}
    for cell in block["cells"]:
        spans = "".join(f' {name}="{cell[name]}"' for name in ("rowspan", "colspan") if cell[name] > 1)
        rows[cell["row"]] = rows.get(cell["row"], "") + f"<td{spans}>{cell['text']}</td>"
    return "<table>" + "".join(f"<tr>{cells}</tr>" for _, cells in sorted(rows.items())) + "</table>"


def _anchor(label: str, box: list[float], width: float, height: float) -> str:
    x0, y0, x1, y1 = (
        round(value * 999 / size) for value, size in zip(box, (width, height, width, height), strict=True)
    )
    return f"<|ref|>{label}<|/ref|><|det|>[[{x0}, {y0}, {x1}, {y1}]]<|/det|>"

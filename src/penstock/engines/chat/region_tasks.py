"""Which task a recogniser of regions performs for each label.

The table is PP-DocLayoutV3's in GLM-OCR: most labels are read as text, tables and formulas with prompts of
their own, pictures keep their crop, and margins (headers, footers, notes) are dropped unless requested.
"""

from __future__ import annotations

from typing import Literal

Task = Literal["text", "table", "formula", "question", "fields", "keep", "drop"]
Margins = Literal["drop", "read"]

_DROPPED = frozenset(
    {"aside_text", "footer", "footer_image", "footnote", "header", "header_image", "number", "reference"}
)
_KEPT = frozenset({"chart", "image"})
_FORMULAS = frozenset({"display_formula", "inline_formula"})


def task_of(label: str, margins: Margins) -> Task:
    if label == "table":
        return "table"
    if label in _FORMULAS:
        return "formula"
    if label in _KEPT:
        return "keep"
    if label in _DROPPED:
        if margins == "drop":
            return "drop"
        return "keep" if label.endswith("_image") else "text"
    return "text"


# Tokens of an answer for each 28 x 28 pixels of the picture, with room: dense Korean print at 200 dpi
# has about 0.7 tokens on such a square, a table's HTML about twice its text's. A question may ask for a
# formula; the names of fields are not on the picture.
_TOKENS_A_SQUARE = {"text": 2.0, "table": 4.0, "formula": 4.0, "question": 4.0, "fields": 2.0}
_MIN_TOKENS = {"text": 64, "table": 512, "formula": 256, "question": 256, "fields": 1_024}


def token_budget(task: Task, width: int, height: int, max_tokens: int) -> int:
    """How many tokens an answer may have, from the size of the picture: ends loops early and cuts no page."""
    squares = width * height / (28 * 28)
    return min(max_tokens, round(_MIN_TOKENS[task] + _TOKENS_A_SQUARE[task] * squares))

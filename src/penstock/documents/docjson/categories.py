"""The seven categories of DocJSON, and how a region gets one.

Labels decide where they can. Layout models call nearly every visual an image: its caption's words, then
the words inside it, tell a graph from a diagram; a vision model may decide in pass 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.documents.docjson.model import Category, CategorySource, Role
from penstock.region import FORMULA_LABELS, HEADING_LABELS, MARGIN_LABELS

ROLES: dict[str, Role] = {
    "figure_title": "caption",
    "vision_footnote": "footnote",
    "footnote": "footnote",
    "reference": "reference",
    "reference_content": "reference",
    "algorithm": "code",
    "content": "contents",
}
TICKS = 5  # numbers in a picture that has nearly nothing else: a chart's axes
TICK_SHARE = 0.55

_GRAPH = re.compile(
    r"그래프|차트|추이|변화|비율|분포|통계|증감|곡선|히스토그램|에 따른|대비|graph|chart|plot|curve|trend|"
    r"histogram|distribution|versus|\bvs\b|per (?:second|day|year|month)|over time",
    re.IGNORECASE,
)
_DIAGRAM = re.compile(
    r"구성도|흐름도|개요도|순서도|구조도|체계도|절차도|조직도|모식도|계통도|배치도|아키텍처|시나리오|프로세스|"
    r"diagram|flow ?chart|architecture|schematic|workflow|framework|pipeline|block scheme|topology",
    re.IGNORECASE,
)
_TICK = re.compile(r"[-+]?\d[\d,.:/%]*(?:m|km|kg|s|h|년|월|일|%)?")


def role_of(label: str) -> Role:
    if label in MARGIN_LABELS:
        return "furniture"  # DocJSON's word for margins
    if label in FORMULA_LABELS or label == "formula_number":
        return "formula"
    return ROLES.get(label, "")


def category_of(label: str, is_title: bool) -> Category:
    """Returns the category by the label alone; pictures are complex images until more is known."""
    if label in HEADING_LABELS:
        return "text_header" if is_title else "text_section"
    if label == "table":
        return "table"
    if label == "chart":
        return "graph"
    if label in ("image", "seal", "header_image", "footer_image"):
        return "complex_image"
    return "text_paragraph"


def visual_category(captions: Sequence[str], words: str) -> tuple[Category, CategorySource]:
    """Returns a picture's category by its caption, then by what is written in it."""
    caption = " ".join(captions)
    if _DIAGRAM.search(caption):
        return "diagram", "rule"
    if _GRAPH.search(caption):
        return "graph", "rule"
    tokens = words.split()
    ticks = sum(_TICK.fullmatch(token) is not None for token in tokens)
    if ticks >= TICKS and ticks >= TICK_SHARE * len(tokens):
        return "graph", "rule"
    return "complex_image", "label"

"""Reads OmniDocBench's annotation file: pages with their elements, truncated text joined."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import BadInput
from penstock_eval.omnidocbench.protocols import FORMULA_CATEGORY, TEXT_CATEGORIES


@dataclass(frozen=True, slots=True)
class TrueElement:
    """One annotated element. `order` is None or 0 if it has no place in the reading order."""

    category: str
    order: float | None
    text: str = ""
    latex: str = ""
    html: str = ""
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> float | str:
        """The order; "" if it is None or 0, as in the benchmark."""
        return self.order if self.order else ""


@dataclass(frozen=True, slots=True)
class TruePage:
    """One annotated page. `slices` are its attributes: language, layout, data source, ..."""

    image: str
    elements: tuple[TrueElement, ...]
    slices: tuple[str, ...]

    @property
    def stem(self) -> str:
        return Path(self.image).stem

    def of(self, *categories: str) -> list[TrueElement]:
        """Returns elements of these categories in reading order; equal places in the categories' order."""
        chosen = [e for category in categories for e in self.elements if e.category == category]
        return sorted(chosen, key=lambda element: element.order or 0)

    @property
    def texts(self) -> list[TrueElement]:
        return self.of(*TEXT_CATEGORIES)

    @property
    def texts_and_formulas(self) -> list[TrueElement]:
        return self.of(*TEXT_CATEGORIES, FORMULA_CATEGORY)


def read_pages(path: Path, *, marked: bool = False) -> list[TruePage]:
    """Returns all pages of an OmniDocBench JSON file. `marked` reads as v1.6 does: it leaves out parts that
    are marked to be ignored, and counts a block named in two relations of truncated text once."""
    try:
        pages = json.loads(path.read_text(encoding="utf-8"))
        return [_page(page, marked) for page in pages]
    except (ValueError, KeyError, TypeError) as exc:
        raise BadInput(
            f"{path} is not an OmniDocBench annotation file ({type(exc).__name__}: {exc}).",
            "Give the folder or the JSON file of the published data set.",
        ) from exc


def _page(page: dict[str, Any], marked: bool) -> TruePage:
    info = page["page_info"]
    slices: list[str] = []
    for name, value in info.get("page_attribute", {}).items():
        if isinstance(value, list):  # special issues; those of tables are said again by the tables
            slices += [str(issue) for issue in value if "table" not in str(issue)]
        else:
            slices.append(f"{name}: {value}")
    return TruePage(Path(info["image_path"]).name, tuple(_elements(page, marked)), tuple(slices))


def _elements(page: dict[str, Any], marked: bool) -> list[TrueElement]:
    groups = _merged_groups(page) if marked else _truncated_groups(page)
    members = {anno for group in groups for anno in group}
    boxes = {box["anno_id"]: box for box in page["layout_dets"]}
    shown = [box for box in page["layout_dets"] if not (marked and box.get("ignore"))]
    whole = [_element(box) for box in shown if box["anno_id"] not in members]
    if not marked:
        return whole + [_joined([boxes[anno] for anno in group]) for group in groups]
    found = [[boxes[anno] for anno in group if anno in boxes] for group in groups]
    return whole + [_joined(group) for group in found if group and not any(b.get("ignore") for b in group)]


def _element(box: dict[str, Any]) -> TrueElement:
    return TrueElement(
        category=box["category_type"],
        order=box.get("order"),
        text=str(box.get("text", "")),
        latex=str(box.get("latex", "")),
        html=str(box.get("html", "")),
        attributes={name: str(value) for name, value in (box.get("attribute") or {}).items()},
    )


def _truncated_groups(page: dict[str, Any]) -> list[list[int]]:
    """Groups the blocks of text that a column or page break cut; each relation names two.

    Quirk: a block named in two relations stands twice in its group, and its text counts twice.
    """
    groups: list[list[int]] = []
    for relation in page.get("extra", {}).get("relation", []):
        if relation["relation_type"] != "truncated":
            continue
        pair = [relation["source_anno_id"], relation["target_anno_id"]]
        known = [group for group in groups if pair[0] in group or pair[1] in group]
        for group in known:
            group.extend(pair)
        if not known:
            groups.append(pair)
    return groups


def _merged_groups(page: dict[str, Any]) -> list[list[int]]:
    """Groups as v1.6 does: groups that share a block become one, and each block stands in it once."""
    groups: list[set[int]] = []
    for relation in page.get("extra", {}).get("relation", []):
        if relation["relation_type"] == "truncated":
            pair = {relation["source_anno_id"], relation["target_anno_id"]}
            touching = [group for group in groups if group & pair]
            groups = [group for group in groups if not group & pair] + [pair.union(*touching)]
    return [list(group) for group in groups]


def _joined(boxes: list[dict[str, Any]]) -> TrueElement:
    boxes = sorted(boxes, key=lambda box: box["order"])
    text = "".join(str(box["text"]) for box in boxes)
    return TrueElement(category=boxes[0]["category_type"], order=boxes[0]["order"], text=text)

"""Pages whose truth is XML or tokens: PAGE and ALTO of scans, boxes, DocBank, LaTeXML."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from lxml import etree

from benchmarks.quality.ground.sample import Sample, Truth
from penstock.box import Box
from penstock_eval.omnidocbench.truth import TrueElement

PICTURES = (".jpg", ".tif", ".png")
_HEADINGS = ("heading",)
_OUTSIDE = {"header": "header", "page-number": "page_number", "signature-mark": "page_number"}
_NO_BLOCK = ("1_overall", "8_textline")
_LAST = re.compile(r"_\d+(\.out)?$")
_TOKEN_TEXT = ("abstract", "author", "caption", "list", "paragraph", "reference", "section", "title")


def page_xml(data: Path, source: str) -> Iterator[Sample]:
    for xml in sorted((data / source).glob("*.xml")):
        document = xml.stem.partition("__")[0] if "__GT-PAGE__" in xml.stem else _LAST.sub("", xml.stem)
        yield Sample(source, document, _picture(xml), None, partial(read_page_xml, xml))


def alto(data: Path, source: str) -> Iterator[Sample]:
    for xml in sorted((data / source).glob("*.xml")):
        yield Sample(source, _LAST.sub("", xml.stem), _picture(xml), None, partial(read_alto, xml))


def tokens(data: Path, source: str) -> Iterator[Sample]:
    for file in sorted((data / source).glob("*.txt")):
        picture = file.with_suffix(".jpg")
        if picture.is_file():
            yield Sample(source, _LAST.sub("", file.stem), picture, None, partial(read_tokens, file))


def latexml(data: Path, source: str) -> Iterator[Sample]:
    """Documents of any length: what the first page shows is part of the source."""
    for xml in sorted((data / source).glob("*.xml")):
        yield Sample(source, xml.stem, xml.with_suffix(".pdf"), 0, partial(read_latexml, xml))


def coco(data: Path, source: str) -> Iterator[Sample]:
    found = json.loads((data / source / "samples.json").read_text(encoding="utf-8"))
    for image in found["images"]:
        marked = [mark["bbox"] for mark in found["annotations"] if mark["image_id"] == image["id"]]
        boxes: tuple[Box, ...] = tuple((x, y, x + w, y + h) for x, y, w, h in marked)
        path = data / source / image["file_name"]
        document = path.stem.partition("_")[0]
        yield Sample(source, document, path, None, partial(Truth, boxes=boxes))


def read_page_xml(file: Path) -> Truth:
    root = _root(file)
    regions = {region.get("id"): region for region in root.iter("{*}TextRegion")}
    order = [ref.get("regionRef") for ref in root.iter("{*}RegionRefIndexed")]
    names = [name for name in order if name in regions] or list(regions)
    elements = tuple(
        TrueElement(_category(regions[name].get("type", "")), rank, _region_text(regions[name]))
        for rank, name in enumerate(names, 1)
    )
    return Truth(elements=elements)


def _category(kind: str) -> str:
    return "title" if kind in _HEADINGS else _OUTSIDE.get(kind, "text_block")


def _region_text(region: etree._Element) -> str:
    lines = [_line(line) for line in region.iter("{*}TextLine")]
    return joined(lines)


def _line(line: etree._Element) -> str:
    found = line.find("{*}TextEquiv/{*}Unicode")
    return (found.text or "") if found is not None else ""


def joined(lines: list[str]) -> str:
    """Returns lines as running text: words that a line's end divides are made whole."""
    text = "\n".join(lines)
    return re.sub(r"[-¬⸗=]\n(?=[a-zäöüßàâçéèêëîïôûùœæ])", "", text).replace("\n", " ")


def read_alto(file: Path) -> Truth:
    lines = [
        " ".join(word.get("CONTENT", "") for word in line.iter("{*}String"))
        for line in _root(file).iter("{*}TextLine")
    ]
    return Truth(text=joined(lines))


def read_tokens(file: Path) -> Truth:
    """DocBank: a token a line with its label; runs of one label are a block."""
    rows = [row.split("\t") for row in file.read_text(encoding="utf-8").splitlines()]
    runs = [
        (label, " ".join(row[0] for row in run if not row[0].startswith("##LTLine")))
        for label, run in groupby((row for row in rows if len(row) >= 10), key=lambda row: row[9])
    ]
    shown = [(label, text) for label, text in runs if label in _TOKEN_TEXT and text.strip()]
    headings = tuple(text for label, text in shown if label in ("section", "title"))
    return Truth(letters=" ".join(text for _, text in shown), headings=headings)


def read_latexml(file: Path) -> Truth:
    root = _root(file)
    formulas = [math.get("tex", "") for math in root.iter("{*}Math") if math.get("mode") == "display"]
    elements = tuple(
        TrueElement("equation_isolated", rank, latex=f"$${tex}$$") for rank, tex in enumerate(formulas, 1)
    )
    text = " ".join(root.itertext())
    return Truth(elements=elements if len(formulas) <= 12 else (), ordered=False, source_text=text)


def _root(file: Path) -> etree._Element:
    return etree.parse(str(file)).getroot()


def _picture(xml: Path) -> Path:
    return next((p for p in map(xml.with_suffix, PICTURES) if p.is_file()), xml.with_suffix(".jpg"))


def voc(data: Path, source: str) -> Iterator[Sample]:
    """Boxes of blocks, in pixels of the picture as it was published."""
    scales = _scales(data / source / "scale.tsv")
    for xml in sorted((data / source).glob("*.xml")):
        picture = _picture(xml)
        boxes = partial(read_voc, xml, scales.get(picture.name, 1.0))
        yield Sample(source, _LAST.sub("", xml.stem), picture, None, boxes)


def read_voc(file: Path, scale: float) -> Truth:
    boxes: list[Box] = []
    for marked in _root(file).iter("{*}object"):
        if not (marked.findtext("name") or "").startswith(_NO_BLOCK):
            x0, y0, x1, y1 = (
                float(marked.findtext(f"bndbox/{side}") or 0) * scale
                for side in ("xmin", "ymin", "xmax", "ymax")
            )
            boxes.append((x0, y0, x1, y1))
    return Truth(boxes=tuple(boxes))


def _scales(file: Path) -> dict[str, float]:
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="\t"))
    return {row["file"]: int(row["w"]) / int(row["orig_w"]) for row in rows}

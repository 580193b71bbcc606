"""Small data sets in the files of eight public benchmarks, drawn and written here.

The layouts are those of the published sets: OmniDocBench's annotation JSON, DP-Bench's reference.json with
PDFs, OCRBench.json, Nanonets' Parquet with JSON annotations, UniMERNet's text files with numbered pictures,
PubTabNet's JSON lines of tokens, HTML files beside pictures, IAM's Parquet as Teklia publishes it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from PIL import Image

FORMULAS = {"spe": ["x+1"], "cpe": [r"\frac{a}{b}"], "sce": ["y^{2}"], "hwe": [r"\sqrt{z}"]}
LINES = ("water runs down", "to the wheel")
QUESTIONS = (("what is written in the image?", "CENTRE"), ("What is the total?", "42"))
RECEIPTS = ({"company": "Mill & Co", "total": "42.00"}, {"date": "2026-11-16", "주소": "서울"})
TABLES = (("a", "b"), ("c", "d"))
TITLE, WORDS = "The mill", "Water runs down to the wheel and turns it."


def picture(text: str, width: int = 320, height: int = 120) -> bytes:
    """A PNG with the words, and with no other picture's bytes."""
    pixels = np.full((height, width, 3), 255, np.uint8)
    cv2.putText(pixels, text, (8, height // 2), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (0, 0, 0), 2)
    return cv2.imencode(".png", pixels)[1].tobytes()


def page(width: int = 800, height: int = 600) -> bytes:
    """A drawn page with a title and a paragraph."""
    pixels = np.full((height, width, 3), 255, np.uint8)
    cv2.putText(pixels, TITLE, (80, 120), cv2.FONT_HERSHEY_COMPLEX, 1.6, (0, 0, 0), 3)
    for row in range(5):
        cv2.putText(pixels, WORDS[:38], (80, 220 + 40 * row), cv2.FONT_HERSHEY_COMPLEX, 0.9, (0, 0, 0), 2)
    return cv2.imencode(".png", pixels)[1].tobytes()


def omnidocbench(folder: Path) -> list[bytes]:
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "mill.png").write_bytes(page())
    texts = [("title", TITLE), ("text_block", WORDS)]
    boxes = [
        {"category_type": kind, "poly": [0] * 8, "order": order, "anno_id": order, "text": text}
        for order, (kind, text) in enumerate(texts, 1)
    ]
    info = {"image_path": "mill.png", "page_attribute": {"language": "english"}}
    rows = [{"layout_dets": boxes, "page_info": info, "extra": {"relation": []}}]
    (folder / "OmniDocBench.json").write_text(json.dumps(rows))
    return []


def dpbench(folder: Path) -> list[bytes]:
    (folder / "pdfs").mkdir(parents=True)
    Image.open(io.BytesIO(page())).save(folder / "pdfs" / "mill.pdf", "PDF", resolution=72)
    elements = [
        {"category": kind, "content": {"text": text, "html": "", "markdown": ""}}
        for kind, text in (("Heading1", TITLE), ("Paragraph", WORDS))
    ]
    (folder / "reference.json").write_text(json.dumps({"mill.pdf": {"elements": elements}}))
    return []


def ocrbench(folder: Path) -> list[bytes]:
    (folder / "images").mkdir(parents=True)
    rows, pictures = [], []
    for number, (question, answer) in enumerate(QUESTIONS):
        pictures.append(picture(answer, 200 + number))
        (folder / "images" / f"{number}.png").write_bytes(pictures[-1])
        row = {"dataset_name": "IIIT5K", "type": "Regular Text Recognition"}
        rows.append({**row, "image_path": f"images/{number}.png", "question": question, "answers": [answer]})
    (folder / "OCRBench.json").write_text(json.dumps(rows))
    return pictures


def nanonets_kie(folder: Path) -> list[bytes]:
    pictures = [picture(next(iter(fields.values())), 400 + n) for n, fields in enumerate(RECEIPTS)]
    said = [json.dumps(fields, ensure_ascii=False) for fields in RECEIPTS]
    _parquet(folder / "data" / "test-00000.parquet", pictures, annotations=said)
    return pictures


def unimernet(folder: Path) -> list[bytes]:
    folder.mkdir(parents=True)
    pictures = []
    for number, (kind, lines) in enumerate(FORMULAS.items()):
        (folder / kind).mkdir()
        (folder / f"{kind}.txt").write_text("\n".join(lines) + "\n")
        pictures.append(picture(lines[0], 180 + number, 64))
        (folder / kind / "0000000.png").write_bytes(pictures[-1])
    return pictures


def unimernet_parquet(folder: Path) -> list[bytes]:
    """As copies of the set on the Hub are: a file a kind, named after it."""
    pictures = []
    for number, (kind, lines) in enumerate(sorted(FORMULAS.items())):
        pictures.append(picture(lines[0], 180 + number, 64))
        _parquet(folder / "UniMERNet" / f"{kind}-00000-of-00001.parquet", pictures[-1:], latex_formula=lines)
    return pictures


def pubtabnet(folder: Path) -> list[bytes]:
    (folder / "val").mkdir(parents=True)
    pictures, rows = [], []
    structure = ["<tbody>", "<tr>", "<td>", "</td>", "<td>", "</td>", "</tr>", "</tbody>"]
    for number, cells in enumerate(TABLES):
        pictures.append(picture("  ".join(cells), 240 + number))
        (folder / "val" / f"PMC{number}.png").write_bytes(pictures[-1])
        html = {"structure": {"tokens": structure}, "cells": [{"tokens": [cell]} for cell in cells]}
        rows.append({"filename": f"PMC{number}.png", "split": "val", "imgid": number, "html": html})
    (folder / "PubTabNet_2.0.0.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return pictures


def teds_test(folder: Path) -> list[bytes]:
    folder.mkdir(parents=True)
    pictures = []
    for number, cells in enumerate(TABLES):
        pictures.append(picture("  ".join(cells), 260 + number))
        (folder / f"t{number}.png").write_bytes(pictures[-1])
        inside = "".join(f"<td>{cell}</td>" for cell in cells)
        (folder / f"t{number}.html").write_text(f"<table><tr>{inside}</tr></table>")
    return pictures


def handwritten(folder: Path) -> list[bytes]:
    pictures = [picture(line, 300 + number, 48) for number, line in enumerate(LINES)]
    _parquet(folder / "data" / "test-00000.parquet", pictures, text=list(LINES))
    return pictures


def _parquet(path: Path, pictures: list[bytes], **columns: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    images = [{"bytes": data, "path": f"{number}.png"} for number, data in enumerate(pictures)]
    parquet.write_table(pa.table({"image": images, **columns}), path)


# each writes its data set and returns the pictures of its samples in their order; pages are not asked about
WRITERS: dict[str, Callable[[Path], list[bytes]]] = {
    "omnidocbench": omnidocbench,
    "dpbench": dpbench,
    "ocrbench": ocrbench,
    "nanonets-kie": nanonets_kie,
    "unimernet": unimernet,
    "pubtabnet": pubtabnet,
    "teds-test": teds_test,
    "handwritten": handwritten,
}

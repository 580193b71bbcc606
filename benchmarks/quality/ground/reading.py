"""Reads the sampled pages into a work folder that is gone on with: what was read before is not read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2 as pdfium

import penstock
from benchmarks.lib.common import all_cpu_s
from benchmarks.quality.ground.sample import Sample
from penstock.box import Pixels
from penstock.page import Page

DPI = 200  # of pages that are turned into pictures
KINDS = ("born-digital", "pictures")
CPU = "cpu.json"


def read_pages(samples: Sequence[Sample], work: Path, options: dict[str, Any]) -> dict[Path, Page]:
    """Returns the pages by the file each was read from; failed ones are not among them."""
    found: dict[Path, Page] = {}
    for kind in KINDS:
        files = {file: sample for sample in samples if _kind(file := page_file(sample, work)) == kind}
        if files:
            found |= _read(list(files), work / "runs" / kind, options)
    return found


def _kind(file: Path) -> str:
    return KINDS[0] if file.suffix == ".pdf" else KINDS[1]


def _read(files: Iterable[Path], out: Path, options: dict[str, Any]) -> dict[Path, Page]:
    began, anew = all_cpu_s(), 0
    for page in penstock.parse([str(file) for file in files], out=out, retry_failed=True, **options):
        if not page.resumed:
            anew += 1
            print(f"  {Path(page.uri).name}: {page.failure or 'read'}", flush=True)
    _add_cpu(out / CPU, all_cpu_s() - began, anew)
    return {Path(page.uri).resolve(): page for page in penstock.read(out) if page.failure is None}


def _add_cpu(file: Path, seconds: float, pages: int) -> None:
    if pages:
        known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else [0.0, 0]
        file.write_text(json.dumps([known[0] + seconds, known[1] + pages]), encoding="utf-8")


def cpu_s_a_page(work: Path) -> dict[str, float]:
    """Returns CPU seconds a page by kind, with the start of what reads them, over all runs of the folder."""
    files = {kind: work / "runs" / kind / CPU for kind in KINDS}
    known = {kind: json.loads(f.read_text(encoding="utf-8")) for kind, f in files.items() if f.is_file()}
    return {kind: round(seconds / pages, 2) for kind, (seconds, pages) in known.items()}


def page_file(sample: Sample, work: Path) -> Path:
    """Returns a file that holds this page alone, made where it is not there."""
    if sample.part is None and not sample.turned:
        return sample.path.resolve()
    suffix = ".png" if sample.turned else ".pdf"
    target = work.parent / "pages" / sample.source / f"{sample.key}{suffix}"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        _write_turned(sample, target) if sample.turned else _write_alone(sample, target)
    return target.resolve()


def _write_alone(sample: Sample, target: Path) -> None:
    """The other pages are taken out, so that the fields of forms stay."""
    document = pdfium.PdfDocument(sample.path)
    for number in reversed(range(len(document))):
        if number != sample.part:
            document.del_page(number)
    document.save(target)


def _write_turned(sample: Sample, target: Path) -> None:
    page = pdfium.PdfDocument(sample.path)[sample.part or 0]
    cv2.imwrite(str(target), turned(page.render(scale=DPI / 72).to_numpy()[:, :, :3], sample.turned))


def turned(pixels: Pixels, degrees: int) -> Pixels:
    """Returns the picture turned on white paper that is large enough for it."""
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    across, down = abs(matrix[0, 0]), abs(matrix[0, 1])
    size = (round(height * down + width * across), round(height * across + width * down))
    matrix[0, 2] += (size[0] - width) / 2
    matrix[1, 2] += (size[1] - height) / 2
    return np.asarray(cv2.warpAffine(pixels, matrix, size, borderValue=(255, 255, 255)), dtype=np.uint8)

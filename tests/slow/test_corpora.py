"""Real pages: Korean to the character, mixed layers without loss, and everything that is hard."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import cv2
import pypdfium2 as pdfium
import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq, Levenshtein

import penstock
from penstock.page import Page
from penstock.region import Region

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]

RUNNING = range(6, 26, 4)  # pages of the Debian history after the title and the contents, from 0


def bare(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def said(page: Page) -> str:
    """What the page says, tables without their tags."""
    return bare("".join(_plain(region) for region in page.regions))


def _plain(region: Region) -> str:
    text = region.content or ""
    return re.sub(r"<[^>]*>", "", text) if region.label == "table" else text


def pages_of(out: Path, name: str) -> list[Page]:
    return [page for page in penstock.read(out) if Path(page.uri).name == name]


def by_part(pages: list[Page]) -> dict[int, Page]:
    return {page.part: page for page in pages}


@pytest.fixture(scope="module")
def history(shared_data: Path) -> Path:
    return shared_data / "korean_text" / "project-history.ko.pdf"


@pytest.fixture(scope="module")
def truth(history: Path) -> list[str]:
    document = pdfium.PdfDocument(history)
    return [bare(page.get_textpage().get_text_range()) for page in document]


def test_korean_pictures_are_read_within_five_percent(
    history: Path, truth: list[str], tmp_path: Path
) -> None:
    document = pdfium.PdfDocument(history)
    for number in RUNNING:
        picture = document[number].render(scale=200 / 72).to_numpy()[:, :, :3]
        cv2.imwrite(str(tmp_path / f"{number:02d}.png"), picture)
    wrong = total = 0
    for page in penstock.parse(tmp_path):
        number = int(Path(page.uri).stem)
        assert page.failure is None
        wrong += Levenshtein.distance(said(page), truth[number])
        total += len(truth[number])
        assert len(said(page)) <= 1.05 * len(truth[number]) + 20, f"page {number + 1} says something twice"
    print(f"CER without spaces: {wrong / total:.4f}")
    assert wrong / total <= 0.05


def test_the_text_layer_keeps_ninety_nine_percent_in_order(korean_run: Path, truth: list[str]) -> None:
    kept = total = 0
    for page in pages_of(korean_run, "project-history.ko.pdf"):
        if page.part < RUNNING.start:
            continue
        assert page.failure is None
        kept += LCSseq.similarity(said(page), truth[page.part])
        total += len(truth[page.part])
    print(f"characters in order: {kept / total:.4f}")
    assert kept / total >= 0.99


def test_auto_yields_what_the_better_of_layer_and_ocr_does(shared_data: Path, korean_run: Path) -> None:
    [report] = (shared_data / "korean_pdf").glob("*.pdf")
    auto = by_part(pages_of(korean_run, report.name))
    layer, ocr = (
        by_part(list(penstock.parse(report, pages="1-8", text_layer=mode))) for mode in ("always", "never")
    )
    shares = {}
    for number in sorted(ocr):
        assert auto[number].failure is None
        better = max((distinct(layer[number]), distinct(ocr[number])), key=size)
        text = bare("".join(line.text for region in auto[number].regions for line in region.lines))
        shares[number + 1] = round(share_in(better, text), 3)
        assert len(said(auto[number])) <= 1.1 * max(len(said(layer[number])), len(said(ocr[number]))) + 20
    print(f"share of the better reading, page by page: {shares}")
    assert min(shares.values()) >= 0.98


def distinct(page: Page) -> set[str]:
    """The page's distinct lines, without leaders and single characters."""
    lines = {bare(re.sub(r"[.·…]{2,}", "", line.text)) for region in page.regions for line in region.lines}
    return {line for line in lines if len(line) > 1}


def size(lines: set[str]) -> int:
    return sum(map(len, lines))


def share_in(lines: set[str], text: str) -> float:
    """The part of the lines' characters that the text says too; two readings of one line differ by slips."""
    found = {line for line in lines if fuzz.partial_ratio(line, text) >= 70}
    return size(found) / max(1, size(lines))


def test_omnidocbench_pages_parse_and_their_distance_is_told(shared_data: Path) -> None:
    folder = shared_data / "omnidocbench_demo"
    [annotations] = [path for path in folder.rglob("*.json") if "OmniDocBench_demo" in path.name][:1]
    truth = {Path(row["page_info"]["image_path"]).name: row for row in json.loads(annotations.read_text())}
    images = sorted(path for path in folder.rglob("*") if path.name in truth)[::6]  # all: score_all.py
    distances = []
    for page in penstock.parse(images):
        assert page.failure is None, page.failure
        blocks = [
            b for b in truth[Path(page.uri).name]["layout_dets"] if b.get("text") and not b.get("ignore")
        ]
        want = bare("".join(b["text"] for b in sorted(blocks, key=lambda b: b.get("order") or 0)))
        distances.append(Levenshtein.normalized_distance(said(page), want))
        print(f"{Path(page.uri).name[:40]:<40} {distances[-1]:.3f}")
    assert len(distances) == 3
    print(f"mean normalised edit distance: {sum(distances) / len(distances):.4f}")


def test_hard_pdfs_neither_crash_nor_hang(shared_data: Path, tmp_path: Path) -> None:
    inputs = [shared_data / "gnarly_pdfs", shared_data / "docling_tests"]
    listed = 0
    some = "1-2,8-10"  # of many kinds; what their names warn of stands on pages 8 to 10
    for page in penstock.parse(inputs, out=tmp_path / "out", layout="rules", pages=some, page_timeout=60):
        listed += 1
        assert page.failure is None or page.failure.message
    pages = list(penstock.read(tmp_path / "out"))
    assert len(pages) == listed == len({page.id for page in pages}) >= 93
    failed = [page for page in pages if page.failure]
    assert [Path(page.uri).parent.parent.name for page in failed] == ["pdf_password"]
    assert "password" in str(failed[0].failure)

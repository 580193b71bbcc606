"""Real pages: Korean to the character, mixed layers without loss, and everything that is hard."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import cv2
import pypdfium2 as pdfium
import pytest
from rapidfuzz.distance import LCSseq, Levenshtein

import penstock
from penstock.item import Item

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]

RUNNING = range(6, 26)  # pages of the Debian history after the title and the contents, from 0


def bare(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def said(page: Item) -> str:
    """What the page says, tables without their tags."""
    return bare(re.sub(r"<[^>]*>", "", "".join(region.content or "" for region in page.regions)))


def by_part(pages: list[Item]) -> dict[int, Item]:
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


def test_the_text_layer_keeps_ninety_nine_percent_in_order(history: Path, truth: list[str]) -> None:
    kept = total = 0
    for page in penstock.parse(history, pages="7-26"):
        assert page.failure is None
        kept += LCSseq.similarity(said(page), truth[page.part])
        total += len(truth[page.part])
    print(f"characters in order: {kept / total:.4f}")
    assert kept / total >= 0.99


def test_auto_yields_what_the_better_of_layer_and_ocr_does(shared_data: Path) -> None:
    [report] = (shared_data / "korean_pdf").glob("*.pdf")
    auto, layer, ocr = (
        by_part(list(penstock.parse(report, text_layer=mode))) for mode in ("auto", "always", "never")
    )
    for number in auto:
        assert auto[number].failure is None
        better = max((layer[number], ocr[number]), key=lambda page: len(distinct(page)))
        found = distinct(auto[number])
        # OCR's slips are not text of the page: what both readings of a picture agree on is
        shared = sum((found & distinct(better)).values())
        share = shared / max(1, sum(distinct(better).values()))
        print(f"page {number + 1}: {share:.3f} of {sum(distinct(better).values())}")
        assert share >= 0.98, number + 1
        assert len(said(auto[number])) <= 1.1 * max(len(said(layer[number])), len(said(ocr[number]))) + 20


def distinct(page: Item) -> Counter[str]:
    """The page's distinct pieces of text: runs of two letters, each as often as it is there at most once."""
    text = said(page)
    return Counter({text[at : at + 2]: 1 for at in range(len(text) - 1)})


def test_omnidocbench_pages_parse_and_their_distance_is_told(shared_data: Path) -> None:
    folder = shared_data / "omnidocbench_demo"
    [annotations] = [path for path in folder.rglob("*.json") if "OmniDocBench_demo" in path.name][:1]
    truth = {Path(row["page_info"]["image_path"]).name: row for row in json.loads(annotations.read_text())}
    images = [path for path in folder.rglob("*") if path.name in truth]
    distances = []
    for page in penstock.parse(images):
        assert page.failure is None, page.failure
        blocks = [
            b for b in truth[Path(page.uri).name]["layout_dets"] if b.get("text") and not b.get("ignore")
        ]
        want = bare("".join(b["text"] for b in sorted(blocks, key=lambda b: b.get("order") or 0)))
        distances.append(Levenshtein.normalized_distance(said(page), want))
        print(f"{Path(page.uri).name[:40]:<40} {distances[-1]:.3f}")
    assert len(distances) == 18
    print(f"mean normalised edit distance: {sum(distances) / len(distances):.4f}")


def test_hard_pdfs_neither_crash_nor_hang(shared_data: Path, tmp_path: Path) -> None:
    inputs = [shared_data / "gnarly_pdfs", shared_data / "docling_tests"]
    listed = 0
    for page in penstock.parse(inputs, out=tmp_path / "out", layout="rules", page_timeout=60):
        listed += 1
        assert page.failure is None or page.failure.message
    pages = list(penstock.read(tmp_path / "out"))
    assert len(pages) == listed == len({page.id for page in pages}) >= 290
    failed = [page for page in pages if page.failure]
    assert [Path(page.uri).parent.parent.name for page in failed] == ["pdf_password"]
    assert "password" in str(failed[0].failure)

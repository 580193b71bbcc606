"""Scores photographs of pages whose text is known, read with and without flattening, in one run.

    python benchmarks/quality/photographed_pages.py [DATA] [--pages N] [--seed S] [--slices flat,curled]
        [--keep FOLDER] [--modes off,auto]

DATA is the folder of test data (PENSTOCK_DATA): paragraphs of DP-Bench's reference and of a Korean history
are set by Pillow in one or two columns, and photographed by `lib/scenes/photographed.py`, whose bent
sheet and camera the flattening does not know. Slices: `scan` (rendered, not photographed: nothing may
change), `flat`, `tilted`, `curled`, `folded`, `dark`, `close` (the page's edges are outside of the frame).
Needs the fonts Lato, DejaVu and Nanum. Distance is the edit distance of a page's text over its length,
order that of its blocks, `tables` the share of pages on which prose became a table. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import cv2
import numpy as np
import pypdfium2 as pdfium
from PIL import Image, ImageDraw, ImageFont

import penstock
from penstock.box import Pixels
from penstock_eval.metrics.text import collapse_spaces, normalised_edit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA
from benchmarks.lib.scenes.photographed import Bend, CameraView, Light, photograph

PAGE = (1654, 2339)  # pixels: A4 at 200 dpi
FRAME = (2250, 3000)
FONTS = Path("/usr/share/fonts/truetype")
LATIN = ("lato/Lato-Regular.ttf", "dejavu/DejaVuSerif.ttf", "dejavu/DejaVuSans.ttf")
KOREAN = ("nanum/NanumMyeongjo.ttf", "nanum/NanumBarunGothic.ttf")
SLICES = ("scan", "flat", "tilted", "curled", "folded", "dark", "close")
_TAG = re.compile(r"<[^>]*>|[#*|`\\]|!\[[^]]*\]\([^)]*\)")


@dataclass(frozen=True)
class SetPage:
    """A page that was set, and the blocks on it in reading order."""

    pixels: Pixels
    blocks: tuple[str, ...]


def paragraphs(data: Path) -> tuple[list[str], list[str]]:
    """English and Korean paragraphs of 150 to 700 letters."""
    reference = json.loads((data / "dpbench/ground-truth/reference.json").read_text(encoding="utf-8"))
    latin = [
        collapse_spaces(element["content"]["text"])
        for page in reference.values()
        for element in page["elements"]
        if element["category"] == "Paragraph"
    ]
    document = pdfium.PdfDocument(data / "korean_text/project-history.ko.pdf")
    lines = [
        line.strip()
        for number in range(4, len(document) - 2)
        for line in document[number].get_textpage().get_text_range().splitlines()
        if len(line.strip()) > 25 and re.search("[가-힣]", line)
    ]
    korean = [collapse_spaces(" ".join(lines[at : at + 6])) for at in range(0, len(lines) - 6, 6)]
    plain = [text for text in latin if 150 <= len(text) <= 700 and text.isascii()]
    return plain, [re.sub(r"[^\x20-\x7e가-힣]", "", text) for text in korean]


def set_page(texts: list[str], number: int, columns: int, korean: bool) -> SetPage:
    """A page with as many of the texts as fit, in a font and size of its own."""
    dice = np.random.default_rng(number)
    names = KOREAN if korean else LATIN
    size = int(dice.integers(26, 33))
    font = ImageFont.truetype(str(FONTS / names[number % len(names)]), size)
    picture = Image.new("RGB", PAGE, (250, 249, 245))
    pen = ImageDraw.Draw(picture)
    margin, gutter, leading = 170, 60, round(size * 1.55)
    width = (PAGE[0] - 2 * margin - gutter * (columns - 1)) // columns
    blocks, column, y = [], 0, 190
    for text in texts:
        lines = wrapped(text, font, width)
        if y + leading * len(lines) > PAGE[1] - 200:
            column, y = column + 1, 190
            if column == columns:
                break
        for line in lines:
            pen.text((margin + column * (width + gutter), y), line, font=font, fill=(30, 30, 34))
            y += leading
        blocks.append(text)
        y += leading // 2
    return SetPage(np.asarray(picture), tuple(blocks))


def wrapped(text: str, font: ImageFont.FreeTypeFont, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        while font.getlength(word) > width:
            most = next(n for n in range(len(word), 0, -1) if font.getlength(word[:n]) <= width)
            lines, word = [*lines, word[:most]], word[most:]
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def scene(name: str, dice: np.random.Generator) -> tuple[Bend, CameraView, Light]:
    """How a page of the slice lies, is seen and is lit."""

    def about(size: float) -> float:
        return float(dice.uniform(-size, size))

    bend, tilt, turn = Bend(), 7.0, 4.0
    light = Light(
        slope=(about(0.35), about(0.35)),
        shadow=float(dice.uniform(0, 0.3)),
        cast=(1.0, float(dice.uniform(0.93, 1)), float(dice.uniform(0.82, 1))),
        noise=float(dice.uniform(1.5, 4)),
        blur=float(dice.uniform(0.5, 1.1)),
    )
    share = float(dice.uniform(0.72, 0.9))
    if name == "tilted":
        tilt, turn, share = 24.0, 12.0, float(dice.uniform(0.6, 0.75))
    if name == "curled":
        knots = dice.uniform(-0.45, 0.45, 4)
        bend = Bend(curl=tuple(float(k) for k in knots - knots.mean()), turn=about(8))
    if name == "folded":
        bend = Bend(crease=(about(0.14), about(0.14)), curl=(about(0.08), about(0.08)))
    if name == "dark":
        bend = Bend(curl=(about(0.12), about(0.12), about(0.12)))
        light = Light(
            level=float(dice.uniform(0.3, 0.45)), slope=(about(0.6), about(0.6)),
            shadow=float(dice.uniform(0.4, 0.6)), cast=(1.0, 0.9, 0.72), noise=6.0, blur=1.0,
        )  # fmt: skip
    if name == "close":
        bend = Bend(curl=(about(0.3), about(0.3), about(0.3)))
        share, tilt, turn = 1.03, 5.0, 2.0
    view = CameraView(
        pitch=about(tilt), yaw=about(tilt), roll=about(turn), share=share,
        focal=float(dice.uniform(0.75, 1.0)), lens=about(0.05), shift=(about(0.02), about(0.02)),
    )  # fmt: skip
    return bend, view, light


def write_photos(data: Path, folder: Path, slices: list[str], count: int, seed: int) -> dict[str, SetPage]:
    """Writes `count` photos of each slice. Returns the pages by the photos' names."""
    latin, korean = paragraphs(data)
    folder.mkdir(parents=True, exist_ok=True)
    pages: dict[str, SetPage] = {}
    for name in slices:
        for number in range(count):
            dice = np.random.default_rng([seed, SLICES.index(name), number])
            is_korean = number % 4 == 3
            texts = [str(text) for text in dice.permutation(korean if is_korean else latin)]
            page = set_page(texts, int(dice.integers(1 << 30)), 1 + number % 2, is_korean)
            path = folder / f"{name}-{number:02d}.jpg"
            seen = page.pixels
            if name != "scan":
                bend, view, light = scene(name, dice)
                seen = photograph(page.pixels, FRAME, bend, view, light, int(dice.integers(1 << 30))).pixels
            quality = int(dice.integers(65, 92))
            cv2.imwrite(str(path), seen[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
            pages[path.stem] = page
    return pages


def said(markdown: str) -> str:
    return collapse_spaces(_TAG.sub(" ", markdown))


def order_distance(blocks: tuple[str, ...], text: str) -> float:
    """How far the order in which the blocks' beginnings and ends stand is from the true one."""
    marks = [mark for block in blocks for mark in (block[:30], block[-30:])]
    places = [best_place(mark, text) for mark in marks]
    found = sorted((place, number) for number, place in enumerate(places) if place is not None)
    return normalised_edit(range(len(marks)), [number for _, number in found])


def best_place(mark: str, text: str) -> int | None:
    from rapidfuzz import fuzz

    best = fuzz.partial_ratio_alignment(mark, text, score_cutoff=70)
    return best.dest_start if best else None


def scores(page: penstock.Page, truth: SetPage) -> dict[str, float]:
    text = said(page.markdown)
    return {
        "distance": normalised_edit(collapse_spaces(" ".join(truth.blocks)), text),
        "order": order_distance(truth.blocks, text),
        "tables": float(any(region.label == "table" for region in page.regions)),
    }


def read(folder: Path, mode: str) -> tuple[list[penstock.Page], float]:
    begun = time.monotonic()
    options: Any = {} if mode == "before" else {"flatten": mode}
    pages = list(penstock.parse(folder, crops=False, **options))
    return pages, time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--pages", type=int, default=8, help="of each slice")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slices", default=",".join(SLICES))
    parser.add_argument("--modes", default="off,auto")
    parser.add_argument("--keep", type=Path, help="a folder for the photos")
    given = parser.parse_args()
    slices = given.slices.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch) / "photos"
        truths = write_photos(given.data, folder, slices, given.pages, given.seed)
        told: dict[str, Any] = {"pages": given.pages, "seed": given.seed}
        for mode in given.modes.split(","):
            pages, seconds = read(folder, mode)
            told[mode] = {"seconds": round(seconds, 1), **by_slice(pages, truths, slices)}
            for name in slices:
                print(f"{mode:6} {name:8}", told[mode][name], flush=True)
    print(json.dumps(told))


def by_slice(
    pages: list[penstock.Page], truths: dict[str, SetPage], slices: list[str]
) -> dict[str, dict[str, float]]:
    scored = [(Path(page.uri).stem, page, scores(page, truths[Path(page.uri).stem])) for page in pages]
    for name, page, values in scored:
        told = getattr(page, "flattened", "")
        print(f"  {name:12}", {key: round(value, 3) for key, value in values.items()}, told, flush=True)
    return {
        name: {
            key: round(mean(values[key] for stem, _, values in scored if stem.startswith(name)), 4)
            for key in ("distance", "order", "tables")
        }
        for name in slices
    }


if __name__ == "__main__":
    main()

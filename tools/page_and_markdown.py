"""Draws docs/img/page_and_markdown.png: the sample's scanned page beside its Markdown.

    apt-get install fonts-nanum fonts-lato
    python tools/page_and_markdown.py docs/img/page_and_markdown.png

The page is read anew by the built-in models, so the picture shows what they do today, mistakes included.
"""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageDraw, ImageFont

import penstock

PAGE = 4  # the scan: English, Korean and a table
WIDTH, MARGIN, GAP, BAR = 2000, 48, 56, 64  # pixels; shown at half of it, so that it is sharp on every screen
PAGE_WIDTH = 860
FONTS = Path("/usr/share/fonts/truetype")
SANS, MONO = FONTS / "lato/Lato-Bold.ttf", FONTS / "nanum/NanumGothicCoding.ttf"
GROUND, PAPER, INK, GREY, LINE = "#eef3f6", "#ffffff", "#1f2d38", "#5b6b78", "#d3dde4"
COLOURS = {
    "doc_title": "#c2410c",
    "paragraph_title": "#c2410c",
    "text": "#1c7ba8",
    "figure_title": "#7c5cbf",
    "table": "#2f8f5b",
}
MONO_SIZE, MONO_STEP = 25, 37

Font = ImageFont.FreeTypeFont
Block = tuple[str, list[str]]  # a region's label and its Markdown, wrapped


def main(target: str) -> None:
    sample = str(resources.files("penstock") / "sample" / "sample.pdf")
    [page] = penstock.parse(sample, pages=PAGE)
    with pdfium.PdfDocument(sample) as document:
        scan = document[PAGE - 1].render(scale=PAGE_WIDTH / document[PAGE - 1].get_width()).to_pil()
    bottom = max(region.box[3] for region in page.regions) * PAGE_WIDTH / page.width
    height = round(bottom) + 90  # the rest of the sheet is blank
    canvas = Image.new("RGB", (WIDTH, height + BAR + 2 * MARGIN), GROUND)
    draw = ImageDraw.Draw(canvas)
    left, right, top = MARGIN, MARGIN + PAGE_WIDTH + GAP, MARGIN + BAR
    _title(draw, left, "report.pdf, page 4: a scan")
    _title(draw, right, "out/markdown/report.md")
    canvas.paste(scan.crop((0, 0, PAGE_WIDTH, height)), (left, top))
    _frame(draw, (left, top, left + PAGE_WIDTH, top + height), None)
    for region in page.regions:
        _region(draw, region, PAGE_WIDTH / page.width, left, top)
    _frame(draw, (right, top, WIDTH - MARGIN, top + height), PAPER)
    _markdown(draw, page, right + 36, top + 34, WIDTH - MARGIN - right - 72)
    _arrow(draw, left + PAGE_WIDTH + 6, right - 6, top + height // 2)
    canvas.quantize(colors=128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        target, optimize=True
    )


def _title(draw: ImageDraw.ImageDraw, x: int, words: str) -> None:
    draw.text((x, MARGIN), words, fill=INK, font=ImageFont.truetype(str(SANS), 34))


def _frame(draw: ImageDraw.ImageDraw, box: tuple[int, int, int, int], fill: str | None) -> None:
    draw.rectangle(box, fill=fill, outline=LINE, width=2)


def _region(draw: ImageDraw.ImageDraw, region: penstock.Region, scale: float, left: int, top: int) -> None:
    x0, y0, x1, y1 = (round(value * scale) for value in region.box)
    colour = COLOURS.get(region.label, GREY)
    draw.rectangle((left + x0 - 6, top + y0 - 6, left + x1 + 6, top + y1 + 6), outline=colour, width=3)
    font = ImageFont.truetype(str(SANS), 19)
    words = f"{region.index + 1}  {region.label}"
    width = draw.textlength(words, font=font)
    draw.rectangle((left + x0 - 6, top + y0 - 32, left + x0 + width + 8, top + y0 - 6), fill=colour)
    draw.text((left + x0 + 1, top + y0 - 31), words, fill=PAPER, font=font)


def _markdown(draw: ImageDraw.ImageDraw, page: penstock.Item, x: int, y: int, width: int) -> None:
    """Every block with a bar in the colour of its region."""
    font = ImageFont.truetype(str(MONO), MONO_SIZE)
    for label, lines in _blocks(page, font, width - 28):
        colour = COLOURS.get(label, GREY)
        draw.rectangle((x, y - 2, x + 6, y + len(lines) * MONO_STEP - 6), fill=colour)
        for line in lines:
            draw.text((x + 28, y), line, fill=colour if line.startswith("#") else INK, font=font)
            y += MONO_STEP
        y += 26


def _blocks(page: penstock.Item, font: Font, width: int) -> list[Block]:
    texts = page.markdown.strip().split("\n\n")
    return [
        (region.label, [part for line in text.splitlines() for part in _wrap(line, font, width)])
        for region, text in zip(page.regions, texts, strict=True)
    ]


def _wrap(line: str, font: Font, width: int) -> list[str]:
    lines = [""]
    for word in line.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _arrow(draw: ImageDraw.ImageDraw, x0: int, x1: int, y: int) -> None:
    draw.line((x0, y, x1 - 12, y), fill=GREY, width=6)
    draw.polygon(((x1, y), (x1 - 18, y - 12), (x1 - 18, y + 12)), fill=GREY)


if __name__ == "__main__":
    main(sys.argv[1])

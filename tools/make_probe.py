"""Draws the page that a service reads to see whether it can: `python tools/make_probe.py`.

A heading and two lines of print, as few pixels as a layout network needs to see them as text.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

PROBE = Path(__file__).parent.parent / "src" / "penstock" / "sample" / "probe.png"
SIZE = (620, 400)
LINES = (
    (40, 44, "A page to begin with"),
    (24, 130, "The service has read this sentence, and so it is"),
    (24, 168, "ready to read the pages that are sent to it."),
)


def draw() -> Image.Image:
    picture = Image.new("L", SIZE, 255)
    pen = ImageDraw.Draw(picture)
    for height, top, text in LINES:
        pen.text((40, top), text, fill=0, font=ImageFont.load_default(height))
    return picture


if __name__ == "__main__":
    draw().quantize(16).save(PROBE, optimize=True)
    print(PROBE, PROBE.stat().st_size, "bytes")

"""Things in photos: what they are, their width, depth and height, their volume.

pip install 'penstock-pipeline[photos]'
python examples/photos.py [PHOTO [LABEL]]      (without PHOTO: a wardrobe that this file draws)

On a CPU one thing a photo is outlined and measured by its outline, the camera and the size such things
usually have: an estimate, with its range. On a GPU many things are found by name.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

import penstock


def draw_wardrobe(path: Path) -> None:
    """A wall, a floor and a brown wardrobe."""
    photo = Image.new("RGB", (800, 600), "#d8d2c8")
    draw = ImageDraw.Draw(photo)
    draw.rectangle((0, 430, 800, 600), fill="#a9977f")
    draw.rectangle((290, 120, 520, 500), fill="#6b4226")
    draw.line((405, 120, 405, 500), fill="#3f2615", width=4)
    photo.save(path)


def measure(photo: Path, label: str) -> None:
    for item in penstock.volumes(photo, labels=(label,)):
        for thing in item.objects:
            if thing.size is None or thing.bbox_cbm is None:
                print(
                    f"{thing.label}: not measured. {thing.failure.message if thing.failure else thing.note}"
                )
                continue
            width, depth, height = thing.size
            print(f"{thing.label}: {width:.2f} x {depth:.2f} x {height:.2f} m, {thing.bbox_cbm:.2f} m³")
            print(f"  likely {thing.low_cbm:.2f} to {thing.high_cbm:.2f} m³; how: {thing.estimate}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        photo = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "wardrobe.png"
        if len(sys.argv) == 1:
            draw_wardrobe(photo)
        measure(photo, sys.argv[2] if len(sys.argv) > 2 else "wardrobe")


if __name__ == "__main__":
    main()

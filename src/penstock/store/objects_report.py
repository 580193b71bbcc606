"""The report a mover shows a customer: photos with what was found, the list, the totals.

One HTML file without scripts or outside files: it can be mailed and printed.
"""

from __future__ import annotations

import base64
import datetime
import html
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.item import Item, PhotoObject
from penstock.objects.furniture import FT3_PER_M3
from penstock.objects.masks import unpack
from penstock.objects.totals import Total
from penstock.store.inventory import Inventory, Line, how_sure
from penstock.store.objects_export import read_inventory
from penstock.store.pictures import page_pictures

if TYPE_CHECKING:
    from penstock.item import Pixels

PHOTO_SIDE = 1100  # pixels: sharp on a screen, a few hundred kB
COLOURS = ((37, 99, 235), (220, 38, 38), (5, 150, 105), (217, 119, 6), (124, 58, 237), (8, 145, 178))
WORDS = {
    "metric": "measured in 3D",
    "anchored": "3D shape, size by camera and floor",
    "prior": "estimated from outline, camera and type",
    "": "",
}
TEMPLATE = Path(__file__).with_name("objects_report.html")


def report(out: Path, items: list[Item]) -> str:
    """The whole page."""
    found = read_inventory(out, items)
    photos = [
        _photo(item, picture, found, out)
        for item, picture in page_pictures(out, items, None)
        if not isinstance(picture, str)
    ]
    fields = {
        "date": datetime.date.today().isoformat(),
        "summary": _summary(found),
        "photos": "\n".join(photos),
        "rows": "\n".join(_row(line) for line in found.lines),
        "foot": _foot(found),
        "failed": _failed(found),
    }
    page = TEMPLATE.read_text("utf-8")
    for name, value in fields.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    return page


def _summary(found: Inventory) -> str:
    count = sum(line.counted for line in found.lines)
    cards = [
        ("Items", str(count), "counted once each"),
        ("Volume to move", f"{found.moving.cbm:.1f} m³", _span(found.moving)),
        (
            "In cubic feet",
            f"{found.moving.cbm * FT3_PER_M3:.0f} ft³",
            _span(found.moving, FT3_PER_M3, "ft³", 0),
        ),
        ("As they stand", f"{found.boxes.cbm:.1f} m³", "boxes around the items"),
    ]
    return "".join(
        f'<div class="card"><div class="name">{name}</div><div class="value">{value}</div>'
        f'<div class="hint">{hint}</div></div>'
        for name, value, hint in cards
    )


def _span(total: Total, factor: float = 1.0, unit: str = "m³", digits: int = 1) -> str:
    return f"likely {total.low * factor:.{digits}f} to {total.high * factor:.{digits}f} {unit}"


def _photo(item: Item, picture: Pixels, found: Inventory, out: Path) -> str:
    lines = [line for line in found.lines if line.item.id == item.id]
    scale = min(1.0, PHOTO_SIDE / max(picture.shape[:2]))
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    drawn = np.ascontiguousarray(small, np.uint8)
    for line in lines:
        _tint(drawn, line, out)
    jpeg = cv2.imencode(".jpg", drawn[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()
    height, width = drawn.shape[:2]
    marks = "".join(_mark(line, scale, width / 32) for line in lines)
    return (
        f'<figure><svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(item.document)}">'
        f'<image href="data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}" width="{width}"'
        f' height="{height}"/>{marks}</svg><figcaption>{html.escape(item.document)}</figcaption></figure>'
    )


def _colour(line: Line) -> tuple[int, int, int]:
    return COLOURS[((line.same_as or line.number) - 1) % len(COLOURS)]


def _tint(drawn: Pixels, line: Line, out: Path) -> None:
    """The mask as a veil with an edge."""
    path = line.thing.mask_path
    if path is None or not (out / path).is_file():
        return
    mask = unpack((out / path).read_bytes()).astype(np.uint8)
    small = cv2.resize(mask, (drawn.shape[1], drawn.shape[0]), interpolation=cv2.INTER_NEAREST) > 0
    colour = _colour(line)
    drawn[small] = (0.72 * drawn[small] + 0.28 * np.array(colour)).astype(np.uint8)
    edges = cv2.findContours(small.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
    cv2.drawContours(drawn, edges, -1, colour, 3, cv2.LINE_AA)


def _mark(line: Line, scale: float, radius: float) -> str:
    """The thing's box and number on the photo."""
    x0, y0, x1, y1 = (v * scale for v in line.thing.box)
    colour = f"rgb{_colour(line)}"
    number = line.same_as or line.number
    cx, cy = (x0 + x1) / 2, max(1.1 * radius, min(y0 + 1.3 * radius, y1))
    return (
        f'<rect x="{x0:.0f}" y="{y0:.0f}" width="{x1 - x0:.0f}" height="{y1 - y0:.0f}" fill="none"'
        f' stroke="{colour}" stroke-width="2" stroke-dasharray="8 6" rx="4"/>'
        f'<circle cx="{cx:.0f}" cy="{cy:.0f}" r="{radius:.0f}" fill="{colour}" stroke="white"'
        f' stroke-width="3"/>'
        f'<text x="{cx:.0f}" y="{cy + 0.35 * radius:.0f}" text-anchor="middle" class="num"'
        f' font-size="{radius:.0f}">{number}</text>'
    )


def _row(line: Line) -> str:
    thing = line.thing
    dot = f'<span class="dot" style="background:rgb{_colour(line)}">{line.number}</span>'
    name = html.escape(thing.label.replace("_", " "))
    if thing.failure is not None:
        why = html.escape(f"{thing.failure.message} {thing.failure.advice}".strip())
        return f'<tr class="off"><td>{dot}</td><td>{name}</td><td colspan="5">not measured: {why}</td></tr>'
    notes = [WORDS.get(thing.estimate, thing.estimate), thing.note]
    if line.same_as is not None:
        notes.insert(0, f"the same as no. {line.same_as}, not counted again")
    if not thing.movable:
        notes.insert(0, "stays")
    note = html.escape("; ".join(note for note in notes if note))
    return (
        f'<tr class="{"" if line.counted else "off"}"><td>{dot}</td>'
        f'<td>{name}<div class="note">{note}</div></td><td class="n">{_size(thing)}</td>'
        f'<td class="n">{_number(thing.bbox_cbm, 2)}</td><td class="n">{_number(thing.moving_cbm, 2)}</td>'
        f'<td class="n">{_number((thing.moving_cbm or 0) * FT3_PER_M3, 1)}</td>'
        f'<td class="n">{how_sure(thing)}</td></tr>'
    )


def _size(thing: PhotoObject) -> str:
    return " × ".join(f"{100 * side:.0f}" for side in thing.size) if thing.size else ""


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _foot(found: Inventory) -> str:
    return (
        f'<tr><td></td><td>Total</td><td></td><td class="n">{found.boxes.cbm:.2f}</td>'
        f'<td class="n">{found.moving.cbm:.2f}</td><td class="n">{found.moving.cbm * FT3_PER_M3:.1f}</td>'
        f'<td class="n">{found.moving.low:.2f} to {found.moving.high:.2f} m³</td></tr>'
    )


def _failed(found: Inventory) -> str:
    told = [("Not read", [item.document for item in found.failed]), ("Nothing found in", found.empty)]
    return "".join(
        f'<p class="warn">{words}: {html.escape(", ".join(names))}.</p>' for words, names in told if names
    )

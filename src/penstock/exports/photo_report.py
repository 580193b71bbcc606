"""The report a mover shows a customer: photos with what was found, the list, the totals.

One HTML file without scripts or outside files, in English and Korean: it can be mailed and printed.
"""

from __future__ import annotations

import base64
import datetime
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.engines.image.codec import encode_jpeg
from penstock.exports.inventory import Inventory, InventoryLine, is_thing_unsure, photo_name, read_inventory
from penstock.exports.overlays import shrunk
from penstock.exports.page_pictures import page_pictures
from penstock.exports.photo_phrases import HOW, PAGE, Both, both, language_of, name_of, notes_of
from penstock.photo import Photo, PhotoObject
from penstock.photos.furniture import FT3_PER_M3
from penstock.photos.masks import unpack
from penstock.photos.totals import Total
from penstock.store.out import Out

if TYPE_CHECKING:
    from penstock.box import Pixels

PHOTO_SIDE = 1100  # pixels: sharp on a screen, a few hundred kB
THUMB_SIDE, THUMB_MARGIN = 160, 0.06
JPEG_QUALITY = 85
COLOURS = ((37, 99, 235), (220, 38, 38), (5, 150, 105), (217, 119, 6), (124, 58, 237), (8, 145, 178))
TEMPLATE = Path(__file__).with_name("photo_report.html")


def report(out: Out, items: list[Photo]) -> str:
    """The whole page."""
    found = read_inventory(out, items)
    photos, thumbs = [], {}
    lines_of: dict[str, list[InventoryLine]] = {}
    for line in found.lines:
        lines_of.setdefault(line.item.id, []).append(line)
    for item, picture in page_pictures(out, items, None):
        if isinstance(picture, str):  # why it cannot be drawn again
            continue
        lines = lines_of.get(item.id, [])
        photos.append(_photo(item, picture, lines, out))
        thumbs.update({line.number: _thumb(picture, line) for line in lines})
    language = language_of([line.thing for line in found.lines])
    fields = {
        "lang": language,
        "ko_checked": "checked" if language == "ko" else "",
        "en_checked": "checked" if language == "en" else "",
        "date": datetime.date.today().isoformat(),
        "summary": _summary(found),
        "figures": "\n".join(photos),
        "rows": "\n".join(_row(line, thumbs.get(line.number, "")) for line in found.lines),
        "foot": _foot(found),
        "failed": _failed(found),
        **{name: both(words) for name, words in PAGE.items()},
        "plain_title": PAGE["title"][language == "ko"],
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda field: fields[field[1]], TEMPLATE.read_text("utf-8"))


def _summary(found: Inventory) -> str:
    count = sum(line.counted for line in found.lines)
    num_photos = len({line.item.id for line in found.lines})
    photos = "1 photo" if num_photos == 1 else f"{num_photos} photos"
    moving, feet = found.moving, FT3_PER_M3
    digits = 1 if moving.cbm >= 1 else 2
    cards: list[tuple[Both, str, Both]] = [
        (
            PAGE["items"],
            str(count),
            (f"in {photos}, counted once each", f"사진 {num_photos}장, 한 번씩 셈"),
        ),
        (("Volume to move", "운반 부피"), f"{moving.cbm:.{digits}f} m³", _span(moving, 1.0, "m³", digits)),
        (("In cubic feet", "세제곱피트"), f"{moving.cbm * feet:.0f} ft³", _span(moving, feet, "ft³", 0)),
        (
            ("As they stand", "놓인 부피"),
            f"{found.boxes.cbm:.{digits}f} m³",
            ("boxes around the items", "물품을 감싼 상자의 합"),
        ),
    ]
    return "".join(
        f'<div class="card"><div class="name">{both(name)}</div><div class="value">{value}</div>'
        f'<div class="hint">{both(hint)}</div></div>'
        for name, value, hint in cards
    )


def _span(total: Total, factor: float, unit: str, digits: int) -> Both:
    low, high = (f"{value * factor:.{digits}f}" for value in (total.low, total.high))
    english, korean = PAGE["unsure"] if total.is_unsure else ("", "")
    return (
        f"likely {low} to {high} {unit} {english}".rstrip(),
        f"예상 {low} ~ {high} {unit} {korean}".rstrip(),
    )


def _photo(item: Photo, picture: Pixels, lines: list[InventoryLine], out: Out) -> str:
    drawn, scale = shrunk(picture, PHOTO_SIDE)
    for line in lines:
        _tint(drawn, line, out)
    height, width = drawn.shape[:2]
    marks = "".join(_mark(line, scale, width / 36) for line in lines)
    name = html.escape(photo_name(item))
    return (
        f'<figure><svg viewBox="0 0 {width} {height}" role="img" aria-label="{name}">'
        f'<image href="{_jpeg(drawn)}" width="{width}" height="{height}"/>{marks}</svg>'
        f"<figcaption>{name}</figcaption></figure>"
    )


def _jpeg(pixels: Pixels) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(encode_jpeg(pixels, JPEG_QUALITY)).decode()}"


def _thumb(picture: Pixels, line: InventoryLine) -> str:
    """The thing cut out of its photo with a little of what is around it."""
    height, width = picture.shape[:2]
    x0, y0, x1, y1 = line.thing.box
    aside, above = THUMB_MARGIN * (x1 - x0), THUMB_MARGIN * (y1 - y0)
    left, top = max(0, round(x0 - aside)), max(0, round(y0 - above))
    cut = picture[top : min(height, round(y1 + above)), left : min(width, round(x1 + aside))]
    if not cut.size:  # a box outside the photo
        return ""
    scale = min(1.0, THUMB_SIDE / max(cut.shape[:2]))
    size = (max(1, round(cut.shape[1] * scale)), max(1, round(cut.shape[0] * scale)))
    small = cv2.resize(cut, size, interpolation=cv2.INTER_AREA)
    return f'<img class="thumb" alt="" src="{_jpeg(np.asarray(small, np.uint8))}">'


def _colour(line: InventoryLine) -> tuple[int, int, int]:
    return COLOURS[((line.same_as or line.number) - 1) % len(COLOURS)]


def _tint(drawn: Pixels, line: InventoryLine, out: Out) -> None:
    """Tints the thing's pixels and draws its edge."""
    path = line.thing.mask_path
    if path is None or not (out / path).is_file():
        return
    mask = unpack((out / path).read_bytes()).astype(np.uint8)
    small = cv2.resize(mask, (drawn.shape[1], drawn.shape[0]), interpolation=cv2.INTER_NEAREST) > 0
    colour = _colour(line)
    drawn[small] = (0.72 * drawn[small] + 0.28 * np.array(colour)).astype(np.uint8)
    edges = cv2.findContours(small.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
    cv2.drawContours(drawn, edges, -1, colour, 3, cv2.LINE_AA)


def _mark(line: InventoryLine, scale: float, radius: float) -> str:
    """The thing's box and number on the photo."""
    x0, y0, x1, y1 = (v * scale for v in line.thing.box)
    colour = f"rgb{_colour(line)}"
    number = line.same_as or line.number
    cx, cy = (x0 + x1) / 2, max(1.1 * radius, min(y0 + 1.3 * radius, y1))
    return (
        f'<rect x="{x0:.0f}" y="{y0:.0f}" width="{x1 - x0:.0f}" height="{y1 - y0:.0f}" fill="none"'
        f' stroke="{colour}" stroke-width="3" stroke-dasharray="10 7" rx="4"/>'
        f'<circle cx="{cx:.0f}" cy="{cy:.0f}" r="{radius:.0f}" fill="{colour}" stroke="white"'
        f' stroke-width="3"/>'
        f'<text x="{cx:.0f}" y="{cy + 0.35 * radius:.0f}" text-anchor="middle" class="num"'
        f' font-size="{radius:.0f}">{number}</text>'
    )


def _row(line: InventoryLine, thumb: str) -> str:
    thing = line.thing
    dot = f'<span class="dot" style="background:rgb{_colour(line)}">{line.number}</span>'
    head = f"<td>{dot}</td><td>{thumb}</td>"
    name = both(name_of(thing))
    if thing.failure is not None:
        why = f"{thing.failure.message} {thing.failure.advice}".strip()
        words = both((f"Not measured: {why}", f"측정하지 못했습니다: {why}"))
        return f'<tr class="off">{head}<td>{name}</td><td colspan="5">{words}</td></tr>'
    notes = "".join(
        f'<div class="note">{both(note)}</div>' for note in notes_of(thing, line.same_as, line.looks_like)
    )
    how = both(HOW.get(thing.estimate, (thing.estimate, thing.estimate)))
    return (
        f'<tr class="{"" if line.counted else "off"}">{head}'
        f'<td><b>{name}</b> <span class="how">{how}</span>{notes}</td><td class="n">{_size(thing)}</td>'
        f'<td class="n">{_number(thing.bbox_cbm, 2)}</td><td class="n">{_number(thing.moving_cbm, 2)}</td>'
        f'<td class="n soft">{_likely(thing)}</td>'
        f'<td class="n">{_number((thing.moving_cbm or 0) * FT3_PER_M3, 1)}</td></tr>'
    )


def _size(thing: PhotoObject) -> str:
    return " × ".join(f"{100 * side:.0f}" for side in thing.size) if thing.size else ""


def _likely(thing: PhotoObject) -> str:
    """The range of what is moved."""
    if not (thing.low_cbm and thing.high_cbm and thing.bbox_cbm and thing.moving_cbm):
        return ""
    share = thing.moving_cbm / thing.bbox_cbm
    ends = f"{thing.low_cbm * share:.2f} - {thing.high_cbm * share:.2f}"
    return f"{ends}{_unsure(is_thing_unsure(thing))}"


def _unsure(is_wide: bool) -> str:
    return f'<div class="note">{both(PAGE["unsure"])}</div>' if is_wide else ""


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _foot(found: Inventory) -> str:
    moving = found.moving
    return (
        f"<tr><td></td><td></td><td>{both(PAGE['total'])}</td><td></td>"
        f'<td class="n">{found.boxes.cbm:.2f}</td><td class="n">{moving.cbm:.2f}</td>'
        f'<td class="n">{moving.low:.2f} - {moving.high:.2f}{_unsure(moving.is_unsure)}</td>'
        f'<td class="n">{moving.cbm * FT3_PER_M3:.1f}</td></tr>'
    )


def _failed(found: Inventory) -> str:
    groups: list[tuple[Both, list[str]]] = [
        (("Photos that could not be read", "읽지 못한 사진"), [photo_name(item) for item in found.failed]),
        (("Nothing was found in", "물품을 찾지 못한 사진"), list(found.empty)),
    ]
    return "".join(
        f'<p class="warn">{both(words)}: {html.escape(", ".join(names))}</p>'
        for words, names in groups
        if names
    )

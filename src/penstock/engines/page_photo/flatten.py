"""Makes a photograph of a page flat, or says that it is none.

The way: text lines are traced, the paper is looked for. Both together tell a photograph from a scan: a scan's
lines are level and straight, and its paper fills the frame squarely. Then the paper's corners are pulled
square, the lines levelled twice (roughly, then finely), and the light made even.
A picture without print, whatever it shows, is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import cv2
import numpy as np

from penstock.engines.image.crop import scaled
from penstock.engines.page_photo.bend import Bending, bending
from penstock.engines.page_photo.flat_map import STEP, FlatMap, sampled
from penstock.engines.page_photo.light import is_uneven, lifted, paper_light
from penstock.engines.page_photo.paper import Paper, find_paper
from penstock.engines.page_photo.text_lines import TracedLine, TracedPage, traced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Floats = NDArray[np.float64]

FlattenMode = Literal["auto", "off", "always"]

WORK = 1600  # pixels of the long side on which lines are traced: print of 9 points is 10 pixels high there
MIN_LINES = 5  # fewer tell nothing of a page's shape
MANY_LINES = 12  # where no paper is seen: a few lines can bend together by chance
SQUARE = 1.5  # degrees: sides of a scan's paper lean less
BLACK, BLANK = 6, 243  # grey levels of a scanner's lid, and of the white that scans are filled up with
TOGETHER = 0.5  # of the lines' bend that a sheet must explain
BENT = 0.2  # letter heights that a fifth of a page's points are off a level line: 0.09 on scans
TURNED = 1.5  # degrees of all lines together, in uneven light
LEAN = 0.5  # degrees of all lines together that are worth a turn
PAD = 0.03  # of the paper's size that is kept around it: a curled side bulges
LEVEL = 0.1  # letter heights that lines may be off after two levellings: what scans are
ROUGH, FINE = 6.0, 0.6  # smoothness of a levelling
ROUNDS = (ROUGH, FINE, FINE, FINE)  # the last two for sheets that are bent a lot
MIN_LETTER, MAX_LETTER = 14.0, 26.0  # pixels of a letter on the flat picture: what recognisers like
FOCAL = 0.8  # of the frame's long side: main cameras of phones have 0.7 to 0.85
MAX_STRETCH = 1.8  # of a page that is seen from the side: what leans more is not read well anyway
MAX_GROWTH = 2.0
MAX_FLAT = 12e6  # pixels of the flat picture: A4 at 300 dpi has 8.7 million
COARSE = 4  # photo pixels for one of the mask that tells paper from table
MIN_SIDE = 300  # pixels: less holds no page of text
WHITE = 246
INSET = 0.99  # of the paper's outline: its very edge is shadow
OUTSIDE = (WHITE, WHITE, WHITE)


@dataclass(frozen=True, slots=True)
class FlatPage:
    """The flat picture, the way back to the photograph, and what was done in a few words."""

    pixels: Pixels = field(repr=False)
    back: FlatMap
    summary: str


@dataclass(frozen=True, slots=True)
class PhotoLook:
    """What a photograph shows at the size on which it is looked at."""

    picture: Pixels
    scale: float  # of that size to the photograph's
    page: TracedPage
    paper: Paper | None


def flattened(photo: Pixels, mode: FlattenMode = "auto") -> FlatPage | None:
    """The page on the photograph made flat, or None if it is no photograph of a page."""
    if mode == "off" or min(photo.shape[:2]) < MIN_SIDE:
        return None
    look = _look(photo)
    if len(look.page.lines) < MIN_LINES or not (mode == "always" or _is_photograph(look)):
        return None
    pulled = _pulled(look)
    bends, moved = _levelled(look, pulled)
    back = _back(photo, look, pulled, bends)
    return _finished(photo, look, back, _angle(look), moved)


def _look(photo: Pixels) -> PhotoLook:
    scale = min(1.0, WORK / max(photo.shape[:2]))
    small = scaled(photo, scale)
    page = traced(_grey(small))
    if len(page.lines) < MIN_LINES:
        return PhotoLook(small, scale, page, None)
    paper = find_paper(small, np.concatenate([line.points for line in page.lines]))
    return PhotoLook(small, scale, page, paper)


def _grey(picture: Pixels) -> NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), np.uint8)


def _is_photograph(look: PhotoLook) -> bool:
    paper = look.paper
    if paper is not None and _lean(paper.corners) > SQUARE and not _is_on_scanner(look.picture, paper):
        return True
    if len(look.page.lines) < MANY_LINES:
        return False
    if _degrees(look.page.lines) > TURNED and is_uneven(paper_light(look.picture)):
        return True  # a scan may lie askew, but its lamp is even
    return unevenness(look.page) > BENT and _bend_together(look)


def _is_on_scanner(picture: Pixels, paper: Paper) -> bool:
    """Whether nothing but black or white lies around the paper: a scanner's lid, never a table."""
    around = np.full((picture.shape[0] // COARSE, picture.shape[1] // COARSE), 1, np.uint8)
    cv2.fillPoly(around, [np.rint(paper.outline / COARSE).astype(np.int32)], 0)
    small = cv2.resize(_grey(picture), around.shape[::-1], interpolation=cv2.INTER_AREA)
    around = small[cv2.erode(around, np.ones((5, 5), np.uint8)) > 0]
    return len(around) > 0 and float(np.mean((around < BLACK) | (around > BLANK))) > 0.5


def _bend_together(look: PhotoLook) -> bool:
    """Whether one smooth sheet explains how the lines run: the labels of a map each run their own way."""
    height, width = look.picture.shape[:2]
    sheet = bending(look.page.lines, width, height, FINE)
    off = [line.points[:, 1] + sheet.at(line.points[:, 0], line.points[:, 1]) for line in look.page.lines]
    return _spread(off) < TOGETHER * unevenness(look.page) * look.page.letter


def unevenness(page: TracedPage) -> float:
    """How far the points of the lines are from level lines that all lean alike, in letter heights."""
    lean = _slope(page.lines)
    return _spread([line.points[:, 1] - lean * line.points[:, 0] for line in page.lines]) / page.letter


def _spread(heights: Sequence[Floats]) -> float:
    """How far the points of lines are from their line's own height: the fifth that is off the most."""
    return float(np.percentile(np.abs(np.concatenate([line - line.mean() for line in heights])), 80))


def _slope(lines: Sequence[TracedLine]) -> float:
    return float(np.median([line.slope for line in lines]))


def _degrees(lines: Sequence[TracedLine]) -> float:
    """How far all lines together are off level."""
    return abs(math.degrees(math.atan(_slope(lines))))


def _lean(corners: Floats) -> float:
    """The most degrees by which a side of the paper is off level or upright."""
    sides = np.roll(corners, -1, axis=0) - corners
    angles = np.degrees(np.arctan2(sides[:, 1], sides[:, 0]))
    return float(np.max(np.abs((angles + 45) % 90 - 45)))


def _angle(look: PhotoLook) -> float:
    if look.paper is not None:
        return _lean(look.paper.corners)
    return _degrees(look.page.lines)


@dataclass(frozen=True, slots=True)
class PulledPage:
    """The picture with its paper pulled square, by `matrix` from the picture that was looked at."""

    matrix: Floats
    width: int
    height: int


def _pulled(look: PhotoLook) -> PulledPage:
    """The paper as a rectangle; where none was found, the frame turned until the lines are level."""
    if look.paper is None:
        height, width = look.picture.shape[:2]
        lean = math.degrees(math.atan(_slope(look.page.lines)))
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), lean, 1.0)
        return PulledPage(np.vstack([turn, (0, 0, 1)]), width, height)
    corners = look.paper.corners
    sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    wide, tall = max(sides[0], sides[2]), max(sides[1], sides[3])
    tall *= min(MAX_STRETCH, max(1 / MAX_STRETCH, wide / tall / _proportion(corners, look.picture)))
    pad = PAD * max(wide, tall)
    square = np.array([(0, 0), (wide, 0), (wide, tall), (0, tall)]) + pad
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), square.astype(np.float32))
    return PulledPage(np.asarray(matrix, np.float64), math.ceil(wide + 2 * pad), math.ceil(tall + 2 * pad))


def _proportion(corners: Floats, picture: Pixels) -> float:
    """The paper's width over its height, as a camera with a phone's focal length sees such corners.

    What is seen from the side looks shorter than it is, and its letters lower.
    """
    height, width = picture.shape[:2]
    focal = FOCAL * max(width, height)
    centred = (corners - (width / 2, height / 2)) / focal
    top_left, top_right, low_right, low_left = np.column_stack([centred, np.ones(4)])
    # how much farther than the first corner its neighbours are: the four lie in one plane
    turn = np.cross(top_left, low_right)
    right = (turn @ low_left) / (np.cross(top_right, low_right) @ low_left)
    low = (turn @ top_right) / (np.cross(low_left, low_right) @ top_right)
    across, down = right * top_right - top_left, low * low_left - top_left
    return float(np.linalg.norm(across) / np.linalg.norm(down))


def _levelled(look: PhotoLook, pulled: PulledPage) -> tuple[list[Bending], float]:
    """The shifts that level the lines, first to last, and how far lines moved against a level one."""
    size = (pulled.width, pulled.height)
    picture = np.asarray(
        cv2.warpPerspective(look.picture, pulled.matrix, size, borderMode=cv2.BORDER_REPLICATE), np.uint8
    )
    inside = _inside(look, pulled)
    bends: list[Bending] = []
    grey, moved = _grey(picture), 0.0
    for smooth in ROUNDS:
        page = traced(grey, inside)
        if len(page.lines) < MIN_LINES:
            break
        uneven = unevenness(page)
        moved = moved or uneven
        if uneven < LEVEL and len(bends) > 1:
            break
        bends.append(bending(page.lines, *size, smooth))
        places = bends[-1].sources()
        grey = sampled(grey, places)
        inside = None if inside is None else sampled(inside, places, cv2.INTER_NEAREST)
    return bends, moved


def _inside(look: PhotoLook, pulled: PulledPage) -> NDArray[np.uint8] | None:
    """255 on the paper, without its very edge."""
    if look.paper is None:
        return None
    outline = cv2.perspectiveTransform(look.paper.outline.reshape(-1, 1, 2), pulled.matrix)
    mask = np.zeros((pulled.height, pulled.width), np.uint8)
    cv2.fillPoly(mask, [np.rint(outline).astype(np.int32)], 255)
    return np.asarray(cv2.erode(mask, np.ones((9, 9), np.uint8)), np.uint8)


def _back(photo: Pixels, look: PhotoLook, pulled: PulledPage, bends: Sequence[Bending]) -> FlatMap:
    """Where each place of the flat picture comes from: its bends undone from last to first, then the pull."""
    height, width = photo.shape[:2]
    grow = _growth(look, pulled)
    wide, tall = round(pulled.width * grow), round(pulled.height * grow)
    x, y = np.meshgrid(np.arange(0, wide + STEP, STEP) / grow, np.arange(0, tall + STEP, STEP) / grow)
    for bend in reversed(bends):
        y = bend.source(x, y)
    places = np.stack([x, y], axis=-1).reshape(-1, 1, 2)
    on_look = cv2.perspectiveTransform(places, np.linalg.inv(pulled.matrix))
    nodes = (on_look / look.scale).reshape(*x.shape, 2).astype(np.float32)
    return FlatMap(nodes, wide, tall, width, height)


def _growth(look: PhotoLook, pulled: PulledPage) -> float:
    """Flat pixels for each pixel that was looked at: the photograph's own, but print of a useful height."""
    letter = look.page.letter / look.scale  # on the photograph
    wanted = min(MAX_GROWTH, max(1.0, MIN_LETTER / letter)) if letter < MAX_LETTER else MAX_LETTER / letter
    most = math.sqrt(MAX_FLAT / (pulled.width * pulled.height))
    return min(wanted / look.scale, most)


def _finished(photo: Pixels, look: PhotoLook, back: FlatMap, angle: float, moved: float) -> FlatPage:
    flat = back.flattened(photo, OUTSIDE)
    light = paper_light(flat)
    done = []
    if look.paper is not None or angle > LEAN:
        done.append(f"{'perspective' if look.paper is not None else 'turned'} {angle:.0f}°")
    if moved > BENT / 2:
        done.append("curl")
    if is_uneven(light):
        done.append("shadows")
    pixels = lifted(flat, light)
    if look.paper is not None:
        _clear_table(pixels, back, look.paper.outline / look.scale)
    return FlatPage(pixels, back, ", ".join(done) or "light")


def _clear_table(pixels: Pixels, back: FlatMap, outline: Floats) -> None:
    """Paints white what lies off the paper: the grain of a table is no print."""
    middle = outline.mean(axis=0)
    shape = np.rint(middle + (outline - middle) * INSET).astype(np.int32)
    on_paper = np.zeros((back.photo_height // COARSE + 1, back.photo_width // COARSE + 1), np.uint8)
    cv2.fillPoly(on_paper, [shape // COARSE], 255)
    places = (back.nodes / COARSE).astype(np.float32)
    seen = sampled(on_paper, places, outside=(0, 0, 0))
    height, width = pixels.shape[:2]
    full = cv2.resize(seen, (seen.shape[1] * STEP, seen.shape[0] * STEP))[:height, :width]
    pixels[full < 128] = WHITE

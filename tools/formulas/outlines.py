"""Glyph outlines as polygons, from MathJax's SVG paths and from OpenType fonts, in thousandths of an em."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Contours = list[NDArray[np.int16]]

STEPS = 5  # straight pieces of a curve; at 46 pixels an em more cannot be seen
_PART = re.compile(r"([MLHVCQSTZ])|(-?\d*\.?\d+)")


def of_path(path: str) -> Contours:
    """Returns the polygons of an SVG path with absolute commands."""
    contours: Contours = []
    points: list[tuple[float, float]] = []
    for command, numbers in _commands(path):
        if command in "MZ" and points:
            contours.append(_polygon(points))
            points = []
        if command == "M":
            points = [(numbers[0], numbers[1])]
            numbers, command = numbers[2:], "L"
        _extend(points, command, numbers)
    if points:
        contours.append(_polygon(points))
    return [contour for contour in contours if len(contour) > 2]


def _commands(path: str) -> list[tuple[str, list[float]]]:
    found: list[tuple[str, list[float]]] = []
    for letter, number in _PART.findall(path):
        if letter:
            found.append((letter, []))
        else:
            found[-1][1].append(float(number))
    return found


def _extend(points: list[tuple[float, float]], command: str, numbers: list[float]) -> None:
    if command == "H":
        points += [(x, points[-1][1]) for x in numbers]
    elif command == "V":
        points += [(points[-1][0], y) for y in numbers]
    elif command == "L":
        points += list(zip(numbers[::2], numbers[1::2], strict=True))
    elif command in ("Q", "C"):
        size = 4 if command == "Q" else 6
        for at in range(0, len(numbers), size):
            piece = numbers[at : at + size]
            points += curve([points[-1], *zip(piece[::2], piece[1::2], strict=True)])
    elif command in ("S", "T"):
        raise ValueError(f"The path command {command} is not known.")


def curve(control: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points on a Bézier curve of two or three degrees, without its first."""
    made = []
    for step in range(1, STEPS + 1):
        t, level = step / STEPS, control
        while len(level) > 1:
            level = [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in pairwise(level)]
        made.append(level[0])
    return made


def _polygon(points: list[tuple[float, float]]) -> NDArray[np.int16]:
    return np.round(np.array(points)).astype(np.int16)


def of_font(file: Path, codepoints: list[int]) -> dict[int, Contours]:
    """Returns the outlines of letters and digits that an OpenType font has."""
    from fontTools.pens.svgPathPen import SVGPathPen
    from fontTools.ttLib import TTFont

    font = TTFont(file)
    glyphs, names, scale = font.getGlyphSet(), font.getBestCmap(), 1000 / font["head"].unitsPerEm
    made: dict[int, Contours] = {}
    for codepoint in codepoints:
        if codepoint not in names or not is_letter(codepoint):
            continue
        pen = SVGPathPen(glyphs)
        glyphs[names[codepoint]].draw(pen)
        made[codepoint] = [np.round(c * scale).astype(np.int16) for c in of_path(pen.getCommands())]
    return {codepoint: contours for codepoint, contours in made.items() if contours}


def is_letter(codepoint: int) -> bool:
    return unicodedata.category(chr(codepoint))[0] in "LN"


def extent(contours: Contours) -> tuple[int, int, int, int]:
    """The box around polygons: left, bottom, right, top."""
    points = np.concatenate(contours)
    x0, y0 = points.min(axis=0)
    x1, y1 = points.max(axis=0)
    return int(x0), int(y0), int(x1), int(y1)

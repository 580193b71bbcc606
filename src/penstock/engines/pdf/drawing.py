"""Finds the drawn lines and the pictures of a PDF page: what table rulings are made of.

A stroke is a thin box: a drawn line, a thin filled rectangle, or one edge of a larger rectangle.
Curves, text and shadings are passed by.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from ctypes import byref, c_float, c_int, c_uint
from typing import Any

import pypdfium2.raw as raw

from penstock.box import Box
from penstock.engines.pdf import calls
from penstock.engines.pdf.calls import Placement

MAX_OBJECTS = 20_000  # maps and CAD plots have 80,000 and more; reading them costs seconds and tells nothing
MAX_SEGMENTS = (
    2_000  # of one path: a 30 x 30 grid drawn in one go has 62 lines, an outline thousands of points
)
MAX_DEPTH = 8  # forms in forms; a file can nest them without end
THIN_POINTS = 3.0  # the widest ruling; thicker bars are boxes, whose edges count
SHORT_POINTS = 2.0  # anything shorter is a dot
WHITE = 250  # of 255, and whiter: paper
RECENT_FILLS = 32  # remembered: a cell's colour is drawn shortly before its text
SLANT = 0.5  # pixels a line may lean and still be level or upright, for drawings rounded by their maker


def read_drawing(page: Any, place: Placement) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
    """Strokes and pictures of the page, in drawing order, in pixels."""
    strokes: list[Box] = []
    pictures: list[Box] = []
    thing = _Shape()
    for shape, kind, where in _shapes(calls.address_of(page), place):
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            pictures.extend(_clipped(thing.box(shape, where), place))
        elif kind == raw.FPDF_PAGEOBJ_PATH:
            strokes.extend(box for box in thing.strokes(shape, where) if place.shows(box))
    return tuple(strokes), tuple(pictures)


def _shapes(page: int, place: Placement) -> Iterator[tuple[int, int, Placement]]:
    """Every object of the page and of the forms on it, with its kind and its way to pixels."""
    left = MAX_OBJECTS

    def walk(
        holder: int, count: Callable[..., Any], get: Callable[..., Any], where: Placement, depth: int
    ) -> Iterator[tuple[int, int, Placement]]:
        nonlocal left
        for index in range(count(holder)):
            left -= 1
            if left < 0:
                return
            shape = get(holder, index)
            kind = calls.object_type(shape)
            if kind != raw.FPDF_PAGEOBJ_FORM:
                yield shape, kind, where
            elif depth < MAX_DEPTH:
                matrix = raw.FS_MATRIX()
                calls.object_matrix(shape, byref(matrix))
                inside = where.after(matrix)
                yield from walk(shape, calls.form_objects, calls.form_object, inside, depth + 1)

    yield from walk(page, calls.page_objects, calls.page_object, place, 0)


def _clipped(box: Box, place: Placement) -> Iterator[Box]:
    """The part of a picture that lies on the page, unless it is a speck."""
    x0, y0 = max(0.0, box[0]), max(0.0, box[1])
    x1, y1 = min(float(place.width), box[2]), min(float(place.height), box[3])
    if x1 - x0 >= 2 and y1 - y0 >= 2:
        yield x0, y0, x1, y1


class _Shape:
    """Queries PDFium about one object at a time, with buffers made once a page."""

    def __init__(self) -> None:
        self._bounds = [c_float() for _ in range(4)]
        self._bound_refs = [byref(value) for value in self._bounds]
        self._fill = c_int()
        self._stroke = c_int()
        self._mode_refs = (byref(self._fill), byref(self._stroke))
        self._x, self._y, self._line_width = c_float(), c_float(), c_float()
        self._fills: deque[tuple[Box, tuple[int, ...]]] = deque(maxlen=RECENT_FILLS)

    def box(self, shape: int, where: Placement) -> Box:
        if not calls.object_bounds(shape, *self._bound_refs):
            return 0.0, 0.0, 0.0, 0.0
        left, bottom, right, top = self._bounds
        return where.box(left.value, bottom.value, right.value, top.value)

    def strokes(self, shape: int, where: Placement) -> Iterator[Box]:
        """The thin boxes one path draws."""
        if not calls.path_draw_mode(shape, *self._mode_refs):
            return
        filled, stroked = self._fill.value != raw.FPDF_FILLMODE_NONE, bool(self._stroke.value)
        if not (filled or stroked):
            return
        box = self.box(shape, where)
        scale = where.scale
        thickness, length = sorted((box[2] - box[0], box[3] - box[1]))
        if length < SHORT_POINTS * scale:
            return
        if thickness <= THIN_POINTS * scale:
            if length >= 2 * thickness:
                yield box
            return
        yield from self._edges(shape, where, stroked)

    def _edges(self, shape: int, where: Placement, stroked: bool) -> Iterator[Box]:
        """Level and upright segments of a stroked path, or the sides of a coloured rectangle."""
        count = calls.path_segments(shape)
        if not 2 <= count <= MAX_SEGMENTS:
            return
        if not stroked and (count > 5 or self._is_unseen(shape, where)):
            return
        matrix = raw.FS_MATRIX()
        calls.object_matrix(shape, byref(matrix))
        lines = list(self._lines(shape, count, where.after(matrix)))
        if not stroked and len(lines) != 4:  # a filled polygon has no ruling in it
            return
        half = self._half_width(shape, where.scale) if stroked else 0.0
        short = SHORT_POINTS * where.scale
        for x0, y0, x1, y1 in lines:
            if max(x1 - x0, y1 - y0) >= short:
                yield x0 - half, y0 - half, x1 + half, y1 + half

    def _lines(self, path: int, count: int, where: Placement) -> Iterator[Box]:
        start = at = (0.0, 0.0)
        for index in range(count):
            segment = calls.path_segment(path, index)
            calls.segment_point(segment, byref(self._x), byref(self._y))
            to = where.point(self._x.value, self._y.value)
            kind = calls.segment_type(segment)
            if kind == raw.FPDF_SEGMENT_MOVETO:
                start = to
            elif kind == raw.FPDF_SEGMENT_LINETO:
                yield from _axis_line(at, to)
            if calls.segment_closes(segment):
                yield from _axis_line(to, start)
            at = to

    def _half_width(self, shape: int, scale: float) -> float:
        calls.object_stroke_width(shape, byref(self._line_width))
        return min(self._line_width.value, THIN_POINTS) * scale / 2

    def _is_unseen(self, shape: int, where: Placement) -> bool:
        """Whether a fill leaves no edge to see: white, clear, or inside another of its colour.

        Word processors lay white under everything, and the cell's colour under each paragraph of it.
        """
        values = [c_uint() for _ in range(4)]
        calls.object_fill(shape, *(byref(value) for value in values))
        colour = tuple(value.value for value in values)
        if min(colour[:3]) >= WHITE or colour[3] == 0:
            return True
        box = self.box(shape, where)
        if any(colour == other and _holds(outer, box) for outer, other in self._fills):
            return True
        self._fills.append((box, colour))
        return False


def _holds(outer: Box, inner: Box) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and outer[2] >= inner[2] and outer[3] >= inner[3]


def _axis_line(start: tuple[float, float], end: tuple[float, float]) -> Iterator[Box]:
    (x0, y0), (x1, y1) = start, end
    level, upright = abs(y1 - y0) <= SLANT, abs(x1 - x0) <= SLANT
    if level != upright:
        yield min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)

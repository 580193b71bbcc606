"""PDFium's small questions, bound for speed, and the way from page points to pixels.

A page has thousands of characters and each question costs more in ctypes than in PDFium. These
bindings take plain addresses and keep the interpreter's lock: asking for an object takes a third
of the time, asking for a code or a box two thirds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_uint, c_ulong, c_void_p
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as raw

from penstock.box import Box


def _bind(name: str, restype: Any, *argtypes: Any) -> Callable[..., Any]:
    """PDFium's function with types of our own, leaving pypdfium2's binding as it is."""
    address = ctypes.cast(getattr(raw, name), c_void_p).value
    assert address is not None
    bound: Callable[..., Any] = ctypes.PYFUNCTYPE(restype, *argtypes)(address)
    return bound


RECT = POINTER(raw.FS_RECTF)
MATRIX = POINTER(raw.FS_MATRIX)
FLOATS = (POINTER(c_float),) * 4
UINTS = (POINTER(c_uint),) * 4

char_object = _bind("FPDFText_GetTextObject", c_void_p, c_void_p, c_int)
char_loose_box = _bind("FPDFText_GetLooseCharBox", c_int, c_void_p, c_int, RECT)
char_tight_box = _bind("FPDFText_GetCharBox", c_int, c_void_p, c_int, *(POINTER(c_double),) * 4)
char_origin = _bind("FPDFText_GetCharOrigin", c_int, c_void_p, c_int, *(POINTER(c_double),) * 2)
char_matrix = _bind("FPDFText_GetMatrix", c_int, c_void_p, c_int, MATRIX)
char_font_size = _bind("FPDFText_GetFontSize", c_double, c_void_p, c_int)
char_code = _bind("FPDFText_GetUnicode", c_uint, c_void_p, c_int)
char_is_hyphen = _bind("FPDFText_IsHyphen", c_int, c_void_p, c_int)
char_is_generated = _bind("FPDFText_IsGenerated", c_int, c_void_p, c_int)

text_font = _bind("FPDFTextObj_GetFont", c_void_p, c_void_p)
text_render_mode = _bind("FPDFTextObj_GetTextRenderMode", c_int, c_void_p)
font_name = _bind("FPDFFont_GetBaseFontName", c_ulong, c_void_p, c_char_p, c_ulong)
font_flags = _bind("FPDFFont_GetFlags", c_int, c_void_p)
font_weight = _bind("FPDFFont_GetWeight", c_int, c_void_p)
font_width = _bind("FPDFFont_GetGlyphWidth", c_int, c_void_p, c_uint, c_float, POINTER(c_float))
font_italic_angle = _bind("FPDFFont_GetItalicAngle", c_int, c_void_p, POINTER(c_int))

page_objects = _bind("FPDFPage_CountObjects", c_int, c_void_p)
page_object = _bind("FPDFPage_GetObject", c_void_p, c_void_p, c_int)
form_objects = _bind("FPDFFormObj_CountObjects", c_int, c_void_p)
form_object = _bind("FPDFFormObj_GetObject", c_void_p, c_void_p, c_ulong)
object_type = _bind("FPDFPageObj_GetType", c_int, c_void_p)
object_bounds = _bind("FPDFPageObj_GetBounds", c_int, c_void_p, *FLOATS)
object_matrix = _bind("FPDFPageObj_GetMatrix", c_int, c_void_p, MATRIX)
object_fill = _bind("FPDFPageObj_GetFillColor", c_int, c_void_p, *UINTS)
object_stroke_width = _bind("FPDFPageObj_GetStrokeWidth", c_int, c_void_p, POINTER(c_float))
path_draw_mode = _bind("FPDFPath_GetDrawMode", c_int, c_void_p, POINTER(c_int), POINTER(c_int))
path_segments = _bind("FPDFPath_CountSegments", c_int, c_void_p)
path_segment = _bind("FPDFPath_GetPathSegment", c_void_p, c_void_p, c_int)
segment_type = _bind("FPDFPathSegment_GetType", c_int, c_void_p)
segment_point = _bind("FPDFPathSegment_GetPoint", c_int, c_void_p, POINTER(c_float), POINTER(c_float))
segment_closes = _bind("FPDFPathSegment_GetClose", c_int, c_void_p)


def address_of(handle: Any) -> int:
    """The plain address behind one of pypdfium2's handles."""
    address = ctypes.cast(handle, c_void_p).value
    assert address is not None
    return address


@dataclass(frozen=True, slots=True)
class Placement:
    """An affine map from page points (y up) to pixels of the page's picture (y down).

    x' = a x + c y + e,  y' = b x + d y + f
    """

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float
    width: int
    height: int

    @classmethod
    def of(cls, page: Box, quarter_turns: int, width: int, height: int) -> Placement:
        """For a page box (left, bottom, right, top) shown turned clockwise by quarter turns."""
        left, bottom, right, top = page
        wide, high = right - left, top - bottom
        if quarter_turns % 2:
            wide, high = high, wide
        x, y = width / wide, height / high
        turned = {
            0: (x, 0.0, 0.0, -y, -left * x, top * y),
            1: (0.0, y, x, 0.0, -bottom * x, -left * y),
            2: (-x, 0.0, 0.0, y, right * x, -bottom * y),
            3: (0.0, -y, -x, 0.0, top * x, right * y),
        }[quarter_turns % 4]
        return cls(*turned, width=width, height=height)

    def after(self, m: raw.FS_MATRIX) -> Placement:
        """The map that applies `m` first: for what is drawn inside a form or by a path's matrix."""
        return Placement(
            self.a * m.a + self.c * m.b,
            self.b * m.a + self.d * m.b,
            self.a * m.c + self.c * m.d,
            self.b * m.c + self.d * m.d,
            self.a * m.e + self.c * m.f + self.e,
            self.b * m.e + self.d * m.f + self.f,
            width=self.width,
            height=self.height,
        )

    @property
    def scale(self) -> float:
        """Pixels a point, as the geometric mean of both axes."""
        return float(abs(self.a * self.d - self.b * self.c) ** 0.5)

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """The smallest upright box in pixels round a rectangle in points, however it is turned."""
        x0, y0 = self.a * left + self.c * bottom + self.e, self.b * left + self.d * bottom + self.f
        wide, high = right - left, top - bottom
        ax, bx, cy, dy = self.a * wide, self.b * wide, self.c * high, self.d * high
        return (
            x0 + min(ax, 0.0) + min(cy, 0.0),
            y0 + min(bx, 0.0) + min(dy, 0.0),
            x0 + max(ax, 0.0) + max(cy, 0.0),
            y0 + max(bx, 0.0) + max(dy, 0.0),
        )

    def shows(self, box: Box) -> bool:
        """Whether any of the box lies inside the picture."""
        return box[2] > 0 and box[3] > 0 and box[0] < self.width and box[1] < self.height

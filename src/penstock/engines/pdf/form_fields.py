"""Reads what the fields of a PDF form hold: readers show it, and PDFium keeps it out of the page's text.

Text, what was chosen of a list, and whether a box is ticked, as words at their fields. Not here: what is
hidden, passwords, buttons that do something, signatures.
"""

from __future__ import annotations

import ctypes
import textwrap
from collections.abc import Iterator
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from penstock.box import Box
from penstock.engines.pdf.calls import Placement
from penstock.region import Word

MAX_FIELDS = 5_000  # of a page; a tax form has 240
MAX_CHARS = 10_000  # of a value
MAX_OPTIONS = 1_000  # of a list
UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
PASSWORD = 1 << 13  # a flag of text fields, which show dots then
BOXES = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
LISTS = (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
TICKED, EMPTY = "☒", "☐"
USUAL_SIZE = 12.0  # points, of a field that leaves the size open
LETTER, LEADING = 0.5, 1.2  # of a text's size: about how wide a letter is, and how high a line


def read_fields(page: pdfium.PdfPage, place: Placement) -> Iterator[Word]:
    """Yields the words of the fields; where they stand in a field is guessed."""
    if page.formenv is None:
        return
    for index in range(min(raw.FPDFPage_GetAnnotCount(page.raw), MAX_FIELDS)):
        annotation = raw.FPDFPage_GetAnnot(page.raw, index)
        if annotation:
            try:
                yield from _words(page.formenv.raw, annotation, place)
            finally:
                raw.FPDFPage_CloseAnnot(annotation)


def _words(form: Any, annotation: Any, place: Placement) -> Iterator[Word]:
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)  # -1 of what is no field
    rect = raw.FS_RECTF()
    if kind < 0 or raw.FPDFAnnot_GetFlags(annotation) & UNSEEN or not raw.FPDFAnnot_GetRect(annotation, rect):
        return
    area = (rect.left, rect.bottom, rect.right, rect.top)
    if kind in BOXES:
        words = iter([(TICKED if raw.FPDFAnnot_IsChecked(form, annotation) else EMPTY, area)])
    else:
        words = _laid_out(_value(form, annotation, kind), area, _size(form, annotation, area))
    for text, box in words:
        at = place.box(*box)
        if place.shows(at):
            yield Word(text=text, box=at, size=(box[3] - box[1]) * place.scale, baseline=at[3])


def _value(form: Any, annotation: Any, kind: int) -> str:
    if kind in LISTS:
        count = min(raw.FPDFAnnot_GetOptionCount(form, annotation), MAX_OPTIONS)
        chosen = [index for index in range(count) if raw.FPDFAnnot_IsOptionSelected(form, annotation, index)]
        if chosen:
            return "\n".join(_text(raw.FPDFAnnot_GetOptionLabel, form, annotation, index) for index in chosen)
    elif kind != raw.FPDF_FORMFIELD_TEXTFIELD:
        return ""
    hidden = kind == raw.FPDF_FORMFIELD_TEXTFIELD and (
        raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & PASSWORD
    )
    return "" if hidden else _text(raw.FPDFAnnot_GetFormFieldValue, form, annotation)


def _text(ask: Any, *about: Any) -> str:
    """Returns what PDFium answers as UTF-16, without its closing zero and without control characters."""
    size = min(ask(*about, None, 0), 2 * MAX_CHARS)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    ask(*about, buffer, ctypes.sizeof(buffer))
    said = bytes(buffer).decode("utf-16-le", "replace").partition("\0")[0]
    return "".join(letter if letter.isprintable() else "\n" for letter in said)


def _size(form: Any, annotation: Any, area: Box) -> float:
    size = ctypes.c_float()
    raw.FPDFAnnot_GetFontSize(form, annotation, size)
    return min(size.value if size.value >= 1 else USUAL_SIZE, max(1.0, area[3] - area[1]))


def _laid_out(value: str, area: Box, size: float) -> Iterator[tuple[str, Box]]:
    """Yields each word with its box in points: lines from the top, one line in the middle of its field."""
    left, bottom, right, top = area
    room = max(1, int((right - left) / (LETTER * size)))
    fits = top - bottom >= 2 * LEADING * size  # another line
    lines = [part for line in value.split("\n") for part in (textwrap.wrap(line, room) if fits else [line])]
    lines = [line for line in lines if line.strip()]
    if not lines:
        return
    step = min(LEADING * size, (top - bottom) / len(lines))
    high = top if len(lines) > 1 else (top + bottom + size) / 2
    for row, line in enumerate(lines):
        letter = min(LETTER * size, (right - left) / len(line))
        y, x = high - row * step, left
        for word in line.split():
            x = left + letter * line.index(word, round((x - left) / letter))
            yield word, (x, y - min(size, step), x + letter * len(word), y)
            x += letter * len(word)

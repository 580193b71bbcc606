"""Reads what the fields of a PDF form hold: readers show it, and PDFium keeps it out of the page's text.

Text, what was chosen of a list, and whether a box is ticked, as words at their fields. Not here: what is
hidden, passwords, buttons that do something, signatures.
"""

from __future__ import annotations

import ctypes
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from penstock.box import Box
from penstock.engines.pdf.calls import Placement
from penstock.region import FormField, Word

MAX_FIELDS = 5_000  # of a page; a tax form has 240
MAX_CHARS, MAX_NAME = 10_000, 300  # of a value, and of what it is called
MAX_OPTIONS = 1_000  # of a list
UNSEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
PASSWORD = 1 << 13  # a flag of text fields, which show dots then
BOXES = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
LISTS = (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
TICKED, EMPTY = "☒", "☐"
USUAL_SIZE = 12.0  # points
LETTER, LEADING = 0.5, 1.2  # of a text's size: about how wide a letter is, and how high a line


def read_fields(page: pdfium.PdfPage, place: Placement) -> Iterator[FormField]:
    """Yields the fields that hold something, with their boxes in pixels."""
    if page.formenv is None:
        return
    for index in range(min(raw.FPDFPage_GetAnnotCount(page.raw), MAX_FIELDS)):
        annotation = raw.FPDFPage_GetAnnot(page.raw, index)
        if annotation:
            try:
                yield from _field(page.formenv.raw, annotation, place)
            finally:
                raw.FPDFPage_CloseAnnot(annotation)


def words_of(fields: Iterable[FormField], place: Placement) -> Iterator[Word]:
    """Yields the words of the fields. Where they stand in a field is guessed."""
    for field in fields:
        for text, box in _laid_out(field.text, field.box, USUAL_SIZE * place.scale):
            yield Word(text=text, box=box, size=box[3] - box[1], baseline=box[3])


def _field(form: Any, annotation: Any, place: Placement) -> Iterator[FormField]:
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)  # -1 of what is no field
    rect = raw.FS_RECTF()
    if kind < 0 or raw.FPDFAnnot_GetFlags(annotation) & UNSEEN or not raw.FPDFAnnot_GetRect(annotation, rect):
        return
    box = place.box(rect.left, rect.bottom, rect.right, rect.top)
    text = _value(form, annotation, kind).strip()
    if text and place.shows(box):
        name, label = (
            _text(ask, form, annotation)[:MAX_NAME]
            for ask in (raw.FPDFAnnot_GetFormFieldName, raw.FPDFAnnot_GetFormFieldAlternateName)
        )
        yield FormField(name, label, text, box)


def _value(form: Any, annotation: Any, kind: int) -> str:
    if kind in BOXES:
        return TICKED if raw.FPDFAnnot_IsChecked(form, annotation) else EMPTY
    if kind in LISTS:
        count = min(raw.FPDFAnnot_GetOptionCount(form, annotation), MAX_OPTIONS)
        chosen = [index for index in range(count) if raw.FPDFAnnot_IsOptionSelected(form, annotation, index)]
        if chosen:
            return "\n".join(_text(raw.FPDFAnnot_GetOptionLabel, form, annotation, index) for index in chosen)
    elif kind != raw.FPDF_FORMFIELD_TEXTFIELD or _is_password(form, annotation):
        return ""
    return _text(raw.FPDFAnnot_GetFormFieldValue, form, annotation)


def _is_password(form: Any, annotation: Any) -> bool:
    return bool(raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & PASSWORD)


def _text(ask: Any, *about: Any) -> str:
    """Returns what PDFium answers as UTF-16, without its closing zero and without control characters."""
    size = min(ask(*about, None, 0), 2 * MAX_CHARS)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    ask(*about, buffer, ctypes.sizeof(buffer))
    said = bytes(buffer).decode("utf-16-le", "replace").partition("\0")[0]
    return "".join(letter if letter.isprintable() else "\n" for letter in said)


def _laid_out(value: str, box: Box, size: float) -> Iterator[tuple[str, Box]]:
    """Yields each word with its box: lines from the top, one line in the middle of its field."""
    left, top, right, bottom = box
    size = min(size, max(1.0, bottom - top))
    room = max(1, int((right - left) / (LETTER * size)))
    fits = bottom - top >= 2 * LEADING * size  # another line
    lines = [part for line in value.split("\n") for part in (textwrap.wrap(line, room) if fits else [line])]
    lines = [line for line in lines if line.strip()]
    step = min(LEADING * size, (bottom - top) / len(lines))
    first = top if len(lines) > 1 else (top + bottom - size) / 2
    for row, line in enumerate(lines):
        letter, y = min(LETTER * size, (right - left) / len(line)), first + row * step
        for word in re.finditer(r"\S+", line):
            yield word[0], (left + letter * word.start(), y, left + letter * word.end(), y + min(size, step))

"""Sets lines, tables and charts on a PDF page, and remembers what it set where.

A small press for `make_sample.py`: every block it draws is noted with its label, its text and its
box in points from the page's top left, so that the expected text can never drift from the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = 595.0, 842.0  # A4 in points
INK, SOFT, WATER, WATER_PALE, CORAL = "#17262e", "#5d717b", "#1c7fa8", "#d5e8ef", "#d4543a"

# all under the SIL Open Font License, which lets documents embed them
FONTS = {
    "serif": "gentiumplus/GentiumPlus-Regular.ttf",
    "italic": "gentiumplus/GentiumPlus-Italic.ttf",
    "sans": "lato/Lato-Regular.ttf",
    "bold": "lato/Lato-Bold.ttf",
    "myeongjo": "nanum/NanumMyeongjo.ttf",
    "gothic": "nanum/NanumBarunGothic.ttf",
    "gothic-bold": "nanum/NanumBarunGothicBold.ttf",
}
KOREAN = {"serif": "myeongjo", "italic": "myeongjo", "sans": "gothic", "bold": "gothic-bold"}


def load_fonts(folder: Path) -> None:
    for name, file in FONTS.items():
        pdfmetrics.registerFont(TTFont(name, folder / file))


@dataclass(frozen=True)
class Style:
    font: str
    size: float
    leading: float
    colour: str = INK
    justified: bool = False
    centred: bool = False


TITLE = Style("bold", 26, 32, WATER)
HEADING = Style("bold", 14.5, 20)
BODY = Style("serif", 12.2, 19.2, justified=True)
NARROW = Style("serif", 11.2, 16.6, justified=True)
NARROW_KOREAN = Style("serif", 11.2, 18.2)  # few words to a line: justified, they would drift apart
CAPTION = Style("sans", 9.5, 13.5, SOFT, centred=True)
FURNITURE = Style("sans", 8.5, 11, SOFT)


def is_korean(text: str) -> bool:
    return any("가" <= letter <= "힣" for letter in text)


def font_for(style: Style, text: str) -> str:
    return KOREAN[style.font] if is_korean(text) else style.font


def width_of(text: str, font: str, size: float) -> float:
    return float(pdfmetrics.stringWidth(text, font, size))


def wrap(text: str, font: str, size: float, width: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, font, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


@dataclass
class Sheet:
    """One page. Coordinates are points from the top left; PDF's own count from the bottom."""

    canvas: Canvas
    blocks: list[dict[str, Any]] = field(default_factory=list)

    def note(self, label: str, box: Sequence[float], **more: Any) -> None:
        self.blocks.append({"label": label, **more, "box": [round(value, 1) for value in box]})

    def text(self, x: float, baseline: float, text: str, style: Style) -> None:
        """One string, unnoted."""
        font = font_for(style, text)
        self.canvas.setFont(font, style.size)
        self.canvas.setFillColor(style.colour)
        x -= width_of(text, font, style.size) / 2 if style.centred else 0
        self.canvas.drawString(x, HEIGHT - baseline, text)

    def block(self, label: str, text: str, style: Style, x: float, y: float, width: float) -> float:
        """A paragraph, noted under `label`. Returns where it ends."""
        font = font_for(style, text)
        lines = wrap(text, font, style.size, width)
        for number, line in enumerate(lines):
            baseline = y + style.leading * (number + 0.76)
            self._line(line, font, style, x, baseline, width, is_last=number == len(lines) - 1)
        end = y + style.leading * len(lines)
        widest = max(width_of(line, font, style.size) for line in lines)
        left = x - widest / 2 if style.centred else x
        right = x + width if style.justified and len(lines) > 1 else left + widest
        self.note(label, (left, y, right, end), text=text)
        return end

    def _line(
        self, line: str, font: str, style: Style, x: float, baseline: float, width: float, *, is_last: bool
    ) -> None:
        if not style.justified or is_last:
            self.text(x, baseline, line, style)
            return
        pen = self.canvas.beginText(x, HEIGHT - baseline)
        pen.setFont(font, style.size)
        pen.setFillColor(style.colour)
        pen.setWordSpace((width - width_of(line, font, style.size)) / max(1, line.count(" ")))
        pen.textOut(line)
        pen.setWordSpace(0)
        self.canvas.drawText(pen)

    def rule(
        self, x0: float, y0: float, x1: float, y1: float, colour: str = INK, weight: float = 0.7
    ) -> None:
        self.canvas.setStrokeColor(colour)
        self.canvas.setLineWidth(weight)
        self.canvas.line(x0, HEIGHT - y0, x1, HEIGHT - y1)

    def fill(self, x0: float, y0: float, x1: float, y1: float, colour: str) -> None:
        self.canvas.setFillColor(colour)
        self.canvas.rect(x0, HEIGHT - y1, x1 - x0, y1 - y0, stroke=0, fill=1)

    def curve(self, points: Sequence[tuple[float, float]], base: float, colour: str, shade: str) -> None:
        """A line through points, shaded down to `base`."""
        path = self.canvas.beginPath()
        path.moveTo(points[0][0], HEIGHT - base)
        for x, y in points:
            path.lineTo(x, HEIGHT - y)
        path.lineTo(points[-1][0], HEIGHT - base)
        self.canvas.setFillColor(shade)
        self.canvas.drawPath(path, stroke=0, fill=1)
        path = self.canvas.beginPath()
        path.moveTo(points[0][0], HEIGHT - points[0][1])
        for x, y in points[1:]:
            path.lineTo(x, HEIGHT - y)
        self.canvas.setStrokeColor(colour)
        self.canvas.setLineWidth(1.8)
        self.canvas.setLineJoin(1)
        self.canvas.drawPath(path, stroke=1, fill=0)


@dataclass(frozen=True)
class Cell:
    row: int
    col: int
    text: str
    rowspan: int = 1
    colspan: int = 1


def table(
    sheet: Sheet,
    cells: Sequence[Cell],
    x: float,
    y: float,
    widths: Sequence[float],
    height: float,
    *,
    head_rows: int = 1,
    size: float = 9.5,
) -> float:
    """A ruled table, noted with its cells and as HTML. Returns where it ends."""
    rows = max(cell.row + cell.rowspan for cell in cells)
    right, bottom = x + sum(widths), y + rows * height
    sheet.fill(x, y, right, y + head_rows * height, WATER_PALE)
    for cell in cells:
        x0, x1 = x + sum(widths[: cell.col]), x + sum(widths[: cell.col + cell.colspan])
        y0, y1 = y + cell.row * height, y + (cell.row + cell.rowspan) * height
        for edge in ((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)):
            sheet.rule(*edge)
        style = Style("bold" if cell.row < head_rows else "sans", size, size, centred=True)
        sheet.text((x0 + x1) / 2, (y0 + y1) / 2 + size * 0.36, cell.text, style)
    told = [vars(cell) for cell in sorted(cells, key=lambda cell: (cell.row, cell.col))]
    sheet.note("table", (x, y, right, bottom), cells=told, html=_html(cells, rows))
    return bottom


def _html(cells: Sequence[Cell], rows: int) -> str:
    told = ""
    for row in range(rows):
        told += "<tr>"
        for cell in sorted((cell for cell in cells if cell.row == row), key=lambda cell: cell.col):
            spans = f' rowspan="{cell.rowspan}"' if cell.rowspan > 1 else ""
            spans += f' colspan="{cell.colspan}"' if cell.colspan > 1 else ""
            told += f"<td{spans}>{cell.text}</td>"
        told += "</tr>"
    return f"<table>{told}</table>"

"""Scores born-digital pages: DP-Bench's reference typeset at its own boxes, read by the built-in recipe.

    python benchmarks/quality/typeset_pages.py [DATA] [--out OUT]

DATA is the folder of test data (PENSTOCK_DATA). Needs the package `typst`. Words, headings and tables stand
where the reference has them, so titles have their true sizes; tables are set in five ways in turn: full
grid, journal rules, white space alone, a rule under each row, lines between columns only. Pictures are grey
boxes. Not DP-Bench's own pages, whose PDFs are not among the test data. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import penstock
from penstock.documents.tables.html import from_loose_html
from penstock.region import TableCell
from penstock_eval.benchmarks.dpbench import DpBench

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.lib.common import DATA, REPOSITORY

WIDTH, HEIGHT = 595.0, 842.0  # points: A4
STYLES = ("grid", "journal", "white", "rows", "columns")
FONTS = ("Libertinus Serif", "New Computer Modern")
SHOWN = ("nid", "teds", "teds_s", "mhs", "mhs_s", "invented")
HEAD = """#set page(width: {width}pt, height: {height}pt, margin: 0pt)
#set text(font: "{font}", fallback: true)
#let fit(lines, size, x, y, width, pitch, weight) = context {{
  let widest = calc.max(..lines.map(line => measure(text(size: size, weight: weight, line)).width))
  let scale = if widest > width {{ width / widest }} else {{ 1.0 }}
  for (i, line) in lines.enumerate() {{
    place(top + left, dx: x, dy: y + i * pitch,
      text(size: size * scale, weight: weight, top-edge: "ascender", bottom-edge: "descender", line))
  }}
}}
"""


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def place_of(element: dict[str, Any]) -> tuple[float, float, float, float]:
    """Left, top, width and height in points."""
    xs, ys = ([corner[axis] for corner in element["coordinates"]] for axis in "xy")
    return (
        min(xs) * WIDTH,
        min(ys) * HEIGHT,
        (max(xs) - min(xs)) * WIDTH,
        (max(ys) - min(ys)) * HEIGHT,
    )


def typeset_table(cells: Sequence[TableCell], height: float, style: str) -> str:
    num_rows = max(cell.row for cell in cells) + 1
    num_columns = max(cell.column + cell.column_span for cell in cells)
    size = max(5.0, min(9.5, height / num_rows / 1.9))
    parts = [f"columns: ({', '.join(['auto'] * num_columns)},)", "inset: (x: 3pt, y: 2.5pt)"]
    parts.append("stroke: 0.5pt" if style == "grid" else "stroke: none")
    ends = ["table.hline(stroke: 0.7pt)"] if style in ("journal", "rows", "columns") else []
    if style == "columns":
        parts += [f"table.vline(x: {column}, stroke: 0.4pt)" for column in range(1, num_columns)]
    parts += ends
    for row in range(num_rows):
        parts += [typeset_cell(cell) for cell in cells if cell.row == row]
        if style == "rows" or (style == "journal" and row == 0):
            parts.append("table.hline(stroke: 0.4pt)")
    return f"#set text(size: {size:.1f}pt)\n#table({', '.join(parts + ends)})"


def typeset_cell(cell: TableCell) -> str:
    spans = f"rowspan: {cell.row_span}, colspan: {cell.column_span}"
    return f"table.cell({spans})[#text({quoted(' '.join(cell.text.split()))})]"


def typeset_page(elements: Sequence[dict[str, Any]], number: int) -> str:
    """The page's source: what stands where, in one of the fonts and from one of the styles on."""
    parts = [HEAD.format(width=WIDTH, height=HEIGHT, font=FONTS[number % len(FONTS)])]
    style = number
    for element in elements:
        x, y, width, height = place_of(element)
        at = f"#place(top + left, dx: {x:.1f}pt, dy: {y:.1f}pt, "
        table = from_loose_html(element["content"]["html"]) if element["category"] == "Table" else None
        if element["category"] in ("Figure", "Chart"):
            parts.append(f"{at}rect(width: {width:.1f}pt, height: {height:.1f}pt, fill: luma(80%)))")
        elif table:
            inside = typeset_table(table, height, STYLES[style % len(STYLES)])
            parts.append(f"{at}box(width: {width:.1f}pt)[{inside}])")
            style += 1
        else:
            parts.append(typeset_text(element, number))
    return "\n".join(parts)


def typeset_text(element: dict[str, Any], number: int) -> str:
    """The element's lines; two of three pages have bold headings."""
    x, y, width, height = place_of(element)
    lines = [line.strip() for line in element["content"]["text"].replace("$", "").split("\n") if line.strip()]
    if not lines:
        return ""
    pitch = height / len(lines)
    size = max(4.5, min(40.0, pitch / 1.18))
    weight = "bold" if element["category"] == "Heading1" and number % 3 != 2 else "regular"
    listed = ", ".join(map(quoted, lines))
    at = f"{x:.1f}pt, {y:.1f}pt, {width:.1f}pt, {pitch:.2f}pt"
    return f'#fit(({listed},), {size:.1f}pt, {at}, "{weight}")'


def typeset(reference: Path, folder: Path) -> list[Path]:
    import typst

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, (name, page) in enumerate(json.loads(reference.read_text(encoding="utf-8")).items()):
        path = folder / name
        if not path.is_file():
            path.write_bytes(typst.compile(typeset_page(page["elements"], number).encode()))
        paths.append(path)
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "build" / "typeset")
    chosen = parser.parse_args()
    paths = typeset(chosen.data / "dpbench" / "ground-truth" / "reference.json", chosen.out / "pdfs")
    read = {Path(page.uri).stem: page.markdown for page in penstock.parse(list(map(str, paths)), fresh=True)}
    bench = DpBench()
    found = [bench.score(s, read.get(s.id, "")).values for s in bench.samples(chosen.data / "dpbench")]
    means = {name: round(mean(row[name] for row in found if name in row), 4) for name in SHOWN}
    print(json.dumps({"pages": len(found), **means}))


if __name__ == "__main__":
    main()

"""Memory of a reader over a workbook of many sheets and a book of many chapters.

    python benchmarks/cpu/bench_office_memory.py [--parts xlsx=1000,xlsx=10000,epub=500,epub=5000]

Makes an XLSX and an EPUB with so many sheets and chapters, and reads each in a process of its own, unit by
unit, as a run does. Memory must not grow with the units beyond the list of a ZIP's parts. Last line: JSON.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from penstock.engines.office.open import open_structure

R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ROWS = "".join(
    f'<row r="{row}">'
    + "".join(f'<c r="{column}{row}"><v>{row * 7}</v></c>' for column in "ABCDEF")
    + "</row>"
    for row in range(1, 41)
)
SHEET = f"<worksheet><sheetData>{ROWS}</sheetData></worksheet>"
CONTAINER = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
WORDS = "".join(
    f"<p>Sentence {number} of a chapter that goes on for a page or so.</p>" for number in range(40)
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default="xlsx=1000,xlsx=10000,epub=500,epub=5000")
    parser.add_argument("--read", nargs=2, help="used by itself: a file and its kind")
    options = parser.parse_args()
    if options.read:
        read(*options.read)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, _, count in (part.partition("=") for part in options.parts.split(",")):
            path = Path(folder) / f"{count}.{kind}"
            path.write_bytes((workbook if kind == "xlsx" else book)(int(count)))
            asked = [sys.executable, __file__, "--read", str(path), kind]
            done = subprocess.run(asked, capture_output=True, text=True, check=True)
            rows.append({"kind": kind, "parts": int(count), **json.loads(done.stdout.splitlines()[-1])})
            print(rows[-1], flush=True)
    print(json.dumps(rows))


def read(path: str, kind: str) -> None:
    began = time.process_time()
    file = open_structure(path, kind)
    opened = most_mb()
    cells = sum(
        len(block.cells) + len(block.text) for n in range(file.num_units) for block in file.unit(n).blocks
    )
    print(json.dumps({
        "units": file.num_units, "opened_mb": opened, "most_mb": most_mb(), "holds": cells,
        "cpu_s": round(time.process_time() - began, 1),
    }))  # fmt: skip


def most_mb() -> float:
    """Returns the most memory of this program; what getrusage says includes who started it."""
    [line] = [row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("VmHWM")]
    return round(int(line.split()[1]) / 1024, 1)


def workbook(count: int) -> bytes:
    numbers = range(1, count + 1)
    sheets = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
    rows = "".join(
        f'<Relationship Id="r{n}" Type="{R}/worksheet" Target="worksheets/s{n}.xml"/>' for n in numbers
    )
    return packed({
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'<workbook xmlns:r="{R}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{rows}</Relationships>",
        **{f"xl/worksheets/s{n}.xml": SHEET for n in numbers},
    })  # fmt: skip


def book(count: int) -> bytes:
    numbers = range(1, count + 1)
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml"/>' for n in numbers)
    spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    return packed({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "b.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{f"c{n}.xhtml": f"<html><body><h1>Chapter {n}</h1>{WORDS}</body></html>" for n in numbers},
    })  # fmt: skip


def packed(parts: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return made.getvalue()


if __name__ == "__main__":
    main()

"""Draws docs/img/hwp_boxes.png: a printed page of an HWPX, with the boxes of its own words and cells.

    apt-get install fonts-noto-cjk
    python -m tools.office_page docs/img/hwp_boxes.png

The file is made here and read anew with `office="both"`, so the picture shows what is read today.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageDraw
from tests.support.made_hwpx import Block, MadeCell, made_hwpx

from penstock.page import Page
from penstock.sources import list_items
from penstock.stages.load import Load
from penstock.workers.load import LoadWorker

WIDTH, FRAME = 1100, 2  # pixels
COLOURS = {"paragraph_title": "#c2410c", "text": "#1c7ba8", "table": "#2f8f5b"}
CELL = "#8fc7a8"
BLOCKS: list[Block] = [
    "# 분기 보고서",
    "이 문서는 그림을 위하여 만든 한글 문서이다. 낱말은 파일에 적힌 그대로이고, 자리는 인쇄된 쪽에서 찾았다. "
    "그래서 줄이 바뀌어도 문단은 하나이며, 표의 칸은 파일이 말하는 대로 합쳐져 있다.",
    [
        MadeCell(0, 0, "구분", 1, 2), MadeCell(0, 1, "매출 (백만 원)", 2), MadeCell(0, 3, "비고", 1, 2),
        MadeCell(1, 1, "1분기"), MadeCell(1, 2, "2분기"), MadeCell(2, 0, "서울"), MadeCell(2, 1, "1,200"),
        MadeCell(2, 2, "1,350"), MadeCell(2, 3, "신규 지점 포함", 1, 2), MadeCell(3, 0, "부산"),
        MadeCell(3, 1, "840"), MadeCell(3, 2, "910"), MadeCell(4, 0, "합계"), MadeCell(4, 1, "4,300", 3),
    ],
    "표 아래의 문단도 제 자리에 있다.",
]  # fmt: skip


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.hwpx"
        path.write_bytes(made_hwpx(BLOCKS))
        [item] = list_items([str(path)], Page, office="both", downloads=Path(folder))
        worker = LoadWorker(Load(office="both"))
        [page] = worker([item])
        worker.close()
        with pdfium.PdfDocument(item.uri) as document:
            picture = document[0].render(scale=WIDTH / document[0].get_width()).to_pil()
    drawn(picture, page).quantize(colors=64).save(target, optimize=True)


def drawn(picture: Image.Image, page: Page) -> Image.Image:
    """Returns the part of the page that is not blank, with its boxes."""
    scale, draw = WIDTH / page.width, ImageDraw.Draw(picture)
    for region in page.regions:
        for cell in region.cells:
            draw.rectangle([value * scale for value in cell.box], outline=CELL, width=FRAME)
        box = [value * scale + way for value, way in zip(region.box, (-5, -5, 5, 5), strict=True)]
        draw.rectangle(box, outline=COLOURS.get(region.label, "#5b6b78"), width=FRAME)
    bottom = max(region.box[3] for region in page.regions) * scale
    return picture.crop((60, 100, WIDTH - 60, round(bottom) + 50))


if __name__ == "__main__":
    main(sys.argv[1])

"""Makes the sample document that ships with Penstock, and the text a reader should find in it.

    pip install reportlab
    apt-get install fonts-nanum fonts-lato fonts-sil-gentiumplus
    python tools/make_sample.py

Four pages: English with a chart; Korean; two columns with a formula, a chart and a table with
spans; and a scan, which is a picture only. Words and drawings are our own, under the project's
licence. Run rarely: its output, `src/penstock/sample/`, is part of the project.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium
from PIL import Image, ImageFilter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from typesetting import (
    BODY,
    CAPTION,
    CORAL,
    FURNITURE,
    HEADING,
    HEIGHT,
    NARROW,
    NARROW_KOREAN,
    SOFT,
    TITLE,
    WATER,
    WATER_PALE,
    WIDTH,
    Cell,
    Sheet,
    Style,
    load_fonts,
    table,
    width_of,
)

FONT_FOLDER = Path("/usr/share/fonts/truetype")
SAMPLE = Path(__file__).resolve().parent.parent / "src" / "penstock" / "sample"
NAME = "The Pipe That Feeds the Turbines"

LEFT, RIGHT = 72.0, WIDTH - 72.0
MEASURE = RIGHT - LEFT
WIDER = 20.0  # the two-column page has narrower margins
GAP = 9.0  # between paragraphs

TOP = 57  # of the day's chart: room above the highest peak for its word

SCAN_DPI = 200
SCAN_SKEW = 0.3  # degrees, as a sheet lies on a scanner's glass


def page_one(sheet: Sheet) -> None:
    header(sheet)
    y = sheet.block("doc_title", NAME, TITLE, LEFT, 84, MEASURE)
    sheet.rule(LEFT, y + 7, LEFT + 64, y + 7, CORAL, 2.4)
    y = body(
        sheet, y + 24,
        "High above a valley a lake waits behind a dam. Nothing in its calm surface shows that it is "
        "fuel. A gate opens, and the water falls through a steel pipe as steep as a staircase, faster and "
        "heavier with every metre, until it strikes the wheel of a turbine and becomes light in a kitchen "
        "forty kilometres away. That pipe is called a penstock.",
        "A penstock does no work of its own. It neither stores water nor turns a wheel. Its whole art is "
        "to be exactly wide enough: too narrow, and the turbine starves; too wide, and money lies buried "
        "in the hillside. Engineers therefore ask one question of every section, from the intake to the "
        "nozzle: how much can it carry, and which section carries least?",
    )  # fmt: skip
    y = day_chart(sheet, LEFT, y + 14, MEASURE, 186)
    caption = "Figure 1. Water through the main gate on a working day in May, in cubic metres per second."
    y = sheet.block("figure_title", caption, CAPTION, WIDTH / 2, y + 7, MEASURE)
    y = sheet.block("paragraph_title", "Pages are a kind of water", HEADING, LEFT, y + 20, MEASURE)
    body(
        sheet, y + 4,
        "The first peak belongs to kettles and trains, the second to lamps and supper. Between the two "
        "the lake rests, and at night it fills again. An operator who knows this curve by heart can hear "
        "in the hum of the hall whether the day is an ordinary one.",
        "This document was made to be taken apart. Its pages hold what real pages hold: titles and "
        "paragraphs in two languages, columns, a table whose cells span rows and columns, charts, a "
        "formula, and one sheet that was scanned a little crookedly. If a program can put all of it back "
        "in order, it has read the document; if not, the difference can be counted, character by "
        "character.",
    )  # fmt: skip


def page_two(sheet: Sheet) -> None:
    header(sheet)
    y = sheet.block("doc_title", "물길을 읽는 법", TITLE, LEFT, 84, MEASURE)
    sheet.rule(LEFT, y + 7, LEFT + 64, y + 7, CORAL, 2.4)
    y = sheet.block("paragraph_title", "1. 수압관이란 무엇인가", HEADING, LEFT, y + 26, MEASURE)
    y = body(
        sheet, y + 5,
        "수압관은 저수지의 물을 발전소의 수차까지 이끄는 굵은 강철관이다. 산비탈을 따라 곧게 내려오는 이 "
        "관 속에서 물은 높이를 잃는 대신 힘을 얻는다. 물이 백 미터를 내려오면 관 끝의 압력은 대기압의 열 "
        "배쯤 커진다. 그래서 수압관의 벽은 아래로 내려갈수록 두꺼워진다.",
        "수압관의 굵기는 한 번 정하면 바꾸기 어렵다. 너무 가늘면 물이 벽에 부딪혀 힘을 잃고, 너무 굵으면 "
        "산을 더 깊이 파야 한다. 기술자는 십 년 뒤의 비와 가뭄까지 헤아려 그 사이의 값을 고른다.",
    )  # fmt: skip
    y = sheet.block("paragraph_title", "2. 좁은 곳이 속도를 정한다", HEADING, LEFT, y + 20, MEASURE)
    y = body(
        sheet, y + 5,
        "관의 어느 한 곳이 좁아지면 그 앞의 물은 막혀서 기다리고, 그 뒤의 관은 모자라서 기다린다. 넓은 "
        "곳을 더 넓혀도 흐르는 양은 늘지 않는다. 넓혀야 할 곳은 언제나 가장 좁은 한 곳이며, 그곳을 넓히고 "
        "나면 그다음으로 좁은 곳이 새 주인이 된다. 오래된 발전소의 기술자들은 이것을 두고 물은 거짓말을 "
        "하지 않는다고 말한다.",
        "막힌 곳을 찾는 방법은 어렵지 않다. 관의 칸마다 귀를 대고 물소리를 들으면 된다. 쉬지 않고 울리는 "
        "칸이 있고, 그 위 칸이 가득 차 있으며, 그 아래 칸이 비어 있다면 바로 그곳이다.",
    )  # fmt: skip
    y = sheet.block("paragraph_title", "3. 종이도 물처럼 흐른다", HEADING, LEFT, y + 20, MEASURE)
    body(
        sheet, y + 5,
        "문서를 읽는 일도 이와 닮았다. 종이를 불러오고, 자리를 나누고, 글자를 알아보고, 차례를 맞추는 "
        "일이 한 줄로 이어진다. 글자를 알아보는 일이 가장 느리다면 다른 일을 아무리 서둘러도 책 한 권이 "
        "끝나는 시각은 바뀌지 않는다. 먼저 할 일은 재는 것이고, 고치는 일은 그다음이다.",
        "하루에 1,440쪽을 읽는 기계는 한 쪽에 꼭 60초를 쓰는 셈이다. Penstock은 그 60초가 어디로 갔는지를 "
        "적어 둔다. 그림을 푸는 데 얼마, 글자를 읽는 데 얼마, 그리고 그저 기다리는 데 얼마를 썼는지. "
        "기다린 시간을 줄이는 것이 일을 빨리하는 가장 값싼 길이다.",
    )  # fmt: skip


def page_three(sheet: Sheet) -> None:
    left, right, gutter = LEFT - WIDER, RIGHT + WIDER, 26.0
    header(sheet, WIDER)
    y = sheet.block("doc_title", "Head, Flow and Power", TITLE, left, 84, right - left)
    sheet.rule(left, y + 7, left + 64, y + 7, CORAL, 2.4)
    measure, top = (right - left - gutter) / 2, y + 26
    y = max(left_column(sheet, left, top, measure), right_column(sheet, right - measure, top, measure))
    caption = "Table 1. Three small plants and the energy they gave in one year."
    y = sheet.block("figure_title", caption, CAPTION, WIDTH / 2, y + 22, right - left)
    widths = [(right - left) * share for share in (0.16, 0.16, 0.17, 0.17, 0.17, 0.17)]
    table(sheet, plants(), left, y + 6, widths, 21.5, head_rows=2)


def left_column(sheet: Sheet, x: float, y: float, measure: float) -> float:
    y = sheet.block("paragraph_title", "Two numbers are enough", HEADING, x, y, measure)
    y = body(
        sheet, y + 3,
        "The power of falling water depends on how far it falls and on how much of it there is. The "
        "height is called the head, written H and measured in metres; the amount is the flow, written Q "
        "and measured in cubic metres per second. Everything else is a constant or a loss.",
        x=x, measure=measure, style=NARROW,
    )  # fmt: skip
    y = formula(sheet, x, y + 6, measure)
    return body(
        sheet, y + 8,
        "Here ρ is the density of water, g the pull of the earth and η the share that the machines keep, "
        "about 0.9 in a good plant. The fraction is the height lost to friction: it grows with the length "
        "L of the pipe and with the square of the speed v, and it shrinks as the diameter D grows.",
        "Doubling the diameter of a penstock cuts the loss at the same flow to one part in thirty-two. "
        "That is why the widest pipe in the valley is also the quietest.",
        x=x, measure=measure, style=NARROW,
    )  # fmt: skip


def right_column(sheet: Sheet, x: float, y: float, measure: float) -> float:
    y = sheet.block("paragraph_title", "굵은 관, 조용한 관", HEADING, x, y, measure)
    y = body(
        sheet, y + 3,
        "떨어지는 물의 힘은 얼마나 높은 곳에서 떨어지는지와 얼마나 많은 물이 떨어지는지에 달려 있다. "
        "높이를 낙차라 하고 양을 유량이라 한다. 낙차가 두 배가 되면 힘도 두 배가 된다.",
        x=x, measure=measure, style=NARROW_KOREAN,
    )  # fmt: skip
    y = loss_chart(sheet, x, y + 10, measure, 150)
    caption = "그림 2. 관의 지름에 따른 마찰 손실. 지름이 1 m일 때를 100으로 놓았다."
    y = sheet.block("figure_title", caption, CAPTION, x + measure / 2, y + 4, measure)
    return body(
        sheet, y + 10,
        "그림 2에서 보듯 관이 조금만 굵어져도 손실은 크게 줄어든다. 그러나 강철의 값은 지름과 함께 "
        "오르므로, 가장 좋은 관은 가장 굵은 관도 가장 가는 관도 아니다.",
        x=x, measure=measure, style=NARROW_KOREAN,
    )  # fmt: skip


def page_four(sheet: Sheet) -> None:
    """Drawn like the others, but only its picture goes into the document."""
    y = sheet.block("doc_title", "From the Gate Keeper's Log", TITLE, LEFT, 110, MEASURE)
    large = Style("serif", 13, 20.5)
    for text in (
        "3 May. Rain since midnight, and the lake came up eleven centimetres before breakfast. I opened "
        "the second gate by a quarter turn and wrote the time beside it, because a gate that nobody wrote "
        "down is a gate that nobody can close.",
        "4 May. A branch as long as a boat lay across the trash rack. While it lay there the hall below "
        "grew quiet, although the lake was full. The pipe was not to blame and the turbine was not to "
        "blame. We lifted the branch, and the hum came back within a minute.",
        "5월 5일. 비가 그치고 물이 맑아졌다. 아이들이 둑 위에서 연을 날렸고, 나는 수문을 반쯤 닫았다. "
        "발전소의 불빛은 저녁 내내 흔들리지 않았다. 밤사이 호수는 다시 천천히 차오를 것이다. 물은 "
        "서두르지 않지만 쉬지도 않는다.",
    ):
        y = sheet.block("text", text, large, LEFT, y + 20, MEASURE)
    caption = Style("sans", 10.5, 15, SOFT, centred=True)
    told = "Table 2. Lake level in metres, and how far each gate stood open."
    y = sheet.block("figure_title", told, caption, WIDTH / 2, y + 32, MEASURE)
    rows = (
        ("Day", "Level", "Gate 1", "Gate 2"),
        ("3 May", "412.6", "1.00", "0.25"),
        ("4 May", "412.9", "1.00", "0.50"),
        ("5 May", "412.7", "0.50", "0.00"),
    )
    cells = [Cell(row, col, text) for row, texts in enumerate(rows) for col, text in enumerate(texts)]
    y = table(sheet, cells, LEFT, y + 6, (MEASURE / 4,) * 4, 27, size=12)
    sheet.block("text", "Nothing else to report. The kettle is on.", large, LEFT, y + 28, MEASURE)


def header(sheet: Sheet, wider: float = 0.0) -> None:
    sheet.block("header", "Penstock sample document", FURNITURE, LEFT - wider, 40, MEASURE)
    sheet.rule(LEFT - wider, 56, RIGHT + wider, 56, WATER_PALE, 1)


def page_number(sheet: Sheet, number: int) -> None:
    centred = Style("sans", 8.5, 11, SOFT, centred=True)
    sheet.block("number", str(number), centred, WIDTH / 2, 798, 40)


def body(
    sheet: Sheet, y: float, *texts: str, x: float = LEFT, measure: float = MEASURE, style: Style = BODY
) -> float:
    for number, text in enumerate(texts):
        y = sheet.block("text", text, style, x, y + (GAP if number else 0), measure)
    return y


def day_chart(sheet: Sheet, x: float, y: float, width: float, height: float) -> float:
    flow = [6, 5, 5, 5, 6, 9, 18, 30, 34, 31, 26, 25, 26, 24, 23, 25, 29, 36, 42, 43, 38, 28, 16, 9, 6]
    left, bottom, tick = x + 26, y + height - 20, Style("sans", 8, 10, SOFT, centred=True)
    for level in range(0, 51, 10):
        line = bottom - (bottom - y) * level / TOP
        sheet.rule(left, line, x + width, line, "#e1e8eb", 0.6)
        sheet.text(x + 10, line + 3, str(level), tick)
    across = (x + width - left) / 24
    points = [(left + across * hour, bottom - (bottom - y) * each / TOP) for hour, each in enumerate(flow)]
    sheet.curve(points, bottom, WATER, WATER_PALE)
    for hour in range(0, 25, 4):
        sheet.text(left + across * hour - (9 if hour == 24 else 0), bottom + 14, f"{hour}:00", tick)
    sheet.rule(left, bottom, x + width, bottom, SOFT, 0.8)
    for hour, word in ((8, "kettles"), (19, "supper")):
        label = Style("sans", 8.5, 10, CORAL, centred=True)
        sheet.text(points[hour][0], points[hour][1] - 5, word, label)
    sheet.note("chart", (x, y, x + width, y + height), words=["kettles", "supper"])
    return y + height


def loss_chart(sheet: Sheet, x: float, y: float, width: float, height: float) -> float:
    bottom, tick = y + height - 17, Style("sans", 8, 10, SOFT, centred=True)
    diameters = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
    across = width / len(diameters)
    for number, diameter in enumerate(diameters):
        loss = 100 / diameter**5  # Darcy and Weisbach, at the same flow
        middle, top = x + across * (number + 0.5), bottom - (bottom - y - 14) * loss / 100
        sheet.fill(middle - across * 0.31, top, middle + across * 0.31, bottom, WATER)
        sheet.text(middle, top - 4, f"{loss:.0f}", tick)
        sheet.text(middle, bottom + 12, f"{diameter:.1f} m", tick)
    sheet.rule(x, bottom, x + width, bottom, SOFT, 0.8)
    sheet.note("chart", (x, y, x + width, y + height), words=[f"{each:.1f} m" for each in diameters])
    return y + height


def formula(sheet: Sheet, x: float, y: float, measure: float) -> float:
    """P = ηρgQ (H − fLv²/2gD), with its number."""
    size, height, baseline = 14.5, 42.0, y + 25
    letters, upright, small = Style("italic", size, size), Style("serif", size, size), Style("serif", 8, 8)
    pen = x + 22

    def put(text: str, style: Style, rise: float = 0.0) -> None:
        nonlocal pen
        sheet.text(pen, baseline - rise, text, style)
        pen += width_of(text, style.font, style.size)

    put("P", letters)
    put(" = ", upright)
    put("ηρgQ", letters)
    pen += 3
    put("(", Style("serif", 27, 27), -4)
    put("H", letters)
    put(" − ", upright)
    pen += 2
    start, above, below = pen, "fLv", "2gD"
    wide = width_of(above, "italic", size) + 7
    put(above, letters, 9)
    put("2", small, 14.5)
    pen = start + (wide - width_of(below, "italic", size)) / 2
    put("2", upright, -11)
    put(below[1:], letters, -11)
    pen = start + wide + 3
    put(")", Style("serif", 27, 27), -4)
    sheet.rule(start - 1, baseline - 4.5, start + wide, baseline - 4.5, weight=0.8)
    sheet.note(
        "display_formula", (x + 20, y, pen, y + height),
        latex=r"P = \eta \rho g Q \left( H - \frac{f L v^2}{2 g D} \right)",
    )  # fmt: skip
    number = Style("serif", 11, 15)
    sheet.block("formula_number", "(1)", number, x + measure - 15, baseline - 11, 15)
    return y + height


def plants() -> list[Cell]:
    return [
        Cell(0, 0, "Valley", rowspan=2), Cell(0, 1, "Plant", rowspan=2),
        Cell(0, 2, "Water", colspan=2), Cell(0, 4, "Energy, MWh", colspan=2),
        Cell(1, 2, "Head, m"), Cell(1, 3, "Flow, m³/s"), Cell(1, 4, "Winter"), Cell(1, 5, "Summer"),
        Cell(2, 0, "Upper", rowspan=2), Cell(2, 1, "Larch"),
        Cell(2, 2, "182"), Cell(2, 3, "0.9"), Cell(2, 4, "2,140"), Cell(2, 5, "4,910"),
        Cell(3, 1, "Heron"), Cell(3, 2, "96"), Cell(3, 3, "1.6"), Cell(3, 4, "1,870"), Cell(3, 5, "4,420"),
        Cell(4, 0, "Lower"), Cell(4, 1, "은어"),
        Cell(4, 2, "41"), Cell(4, 3, "3.2"), Cell(4, 4, "1,650"), Cell(4, 5, "3,980"),
        Cell(5, 0, "All plants", colspan=4), Cell(5, 4, "5,660"), Cell(5, 5, "13,310"),
    ]  # fmt: skip


def scan(page: bytes) -> bytes:
    """The page as a scanner gives it: gray, a little soft, noisy, uneven and turned."""
    document = pdfium.PdfDocument(page)
    picture = document[0].render(scale=SCAN_DPI / 72, grayscale=True).to_pil().convert("L")
    document.close()
    picture = picture.rotate(SCAN_SKEW, resample=Image.Resampling.BICUBIC, fillcolor=255)
    picture = picture.filter(ImageFilter.GaussianBlur(0.6))
    pixels = np.asarray(picture, dtype=np.float32)
    shade = np.linspace(0.94, 0.985, pixels.shape[1], dtype=np.float32)  # the lamp, brighter at one side
    noise = np.random.default_rng(7).normal(0.0, 3.0, pixels.shape)
    pixels = np.clip((20 + pixels * 0.92) * shade + noise, 0, 255)
    stream = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(
        stream, "JPEG", quality=60, optimize=True, dpi=(SCAN_DPI, SCAN_DPI)
    )
    return stream.getvalue()


def drawn(page: Any) -> tuple[bytes, list[dict[str, Any]]]:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(WIDTH, HEIGHT), invariant=1)
    sheet = Sheet(canvas)
    page(sheet)
    canvas.save()
    return stream.getvalue(), sheet.blocks


def main() -> None:
    load_fonts(FONT_FOLDER)
    SAMPLE.mkdir(exist_ok=True)
    canvas = Canvas(str(SAMPLE / "sample.pdf"), pagesize=(WIDTH, HEIGHT), invariant=1, pageCompression=1)
    canvas.setTitle(NAME)
    canvas.setAuthor("The Penstock authors")
    canvas.setSubject("Sample document, Apache-2.0")
    told = []
    for number, page in enumerate((page_one, page_two, page_three), 1):
        sheet = Sheet(canvas)
        page(sheet)
        page_number(sheet, number)
        canvas.showPage()
        told.append({"page": number, "kind": "digital", "blocks": sheet.blocks})
    vector, blocks = drawn(page_four)
    canvas.drawImage(ImageReader(io.BytesIO(scan(vector))), 0, 0, WIDTH, HEIGHT)
    canvas.showPage()
    told.append({"page": 4, "kind": "scan", "blocks": blocks})
    canvas.save()
    expected = {"title": NAME, "licence": "Apache-2.0", "size": [WIDTH, HEIGHT], "pages": told}
    text = json.dumps(expected, ensure_ascii=False, indent=1)
    (SAMPLE / "sample.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""PDF pages: pictures as a reader shows them, and a layer whose boxes fit the picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock.engines.pdf.document import count_pages
from penstock.engines.pdf.file import PageSize, PdfFile
from penstock.errors import BadInput
from penstock.page import Page
from penstock.region import TextLayer
from penstock.sources.listing import list_items
from penstock.stages.load import Load
from tests.conftest import SAMPLE
from tests.support.made_pdf import form, pdf, text


def page(path: Path, *contents: str, box: str = "/MediaBox [0 0 200 100]") -> PdfFile:
    (path / "a.pdf").write_bytes(pdf(contents, box))
    return PdfFile(str(path / "a.pdf"))


def read(file: PdfFile, index: int = 0, dpi: float = 144) -> tuple[np.ndarray, TextLayer, PageSize]:
    size = file.size(index, dpi=dpi, max_side=3500)
    return file.render(index, size), file.layer(index, size), size


def ink_box(pixels: np.ndarray) -> tuple[int, int, int, int]:
    ys, xs = np.nonzero(pixels.min(axis=2) < 128)
    return int(xs.min()), int(ys.min()), int(xs.max()), int(ys.max())


def close_to(box: tuple[float, ...], ink: tuple[int, ...], slack: float = 8) -> bool:
    return all(abs(a - b) <= slack for a, b in zip(box, ink, strict=True))


def test_words_carry_text_box_font_and_size(tmp_path: Path) -> None:
    file = page(tmp_path, text("Plain words") + " " + text("Loud", x=120, size=20, font="F2"))
    _, layer, _ = read(file)
    assert [word.text for word in layer.words] == ["Plain", "words", "Loud"]
    plain, _, loud = layer.words
    assert plain.font == "Helvetica" and not plain.bold and not plain.italic
    assert loud.bold and loud.italic
    assert plain.size == pytest.approx(20, abs=0.1) and loud.size == pytest.approx(40, abs=0.1)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", ["", "/CropBox [10 20 190 90]"])
def test_boxes_fit_the_picture_however_the_page_is_turned_and_cropped(
    tmp_path: Path, turn: int, crop: str
) -> None:
    file = page(tmp_path, text("Hxgp"), box=f"/MediaBox [0 0 200 100] {crop} /Rotate {turn}")
    pixels, layer, size = read(file)
    wide, high = (360, 140) if crop else (400, 200)
    assert (size.width, size.height) == ((wide, high) if turn in (0, 180) else (high, wide))
    assert pixels.shape == (size.height, size.width, 3)
    (word,) = layer.words
    assert close_to(word.box, ink_box(pixels))


def test_turned_text_has_boxes_too(tmp_path: Path) -> None:
    upright = "BT /F1 10 Tf 0 1 -1 0 100 20 Tm (Hxgp) Tj ET"
    pixels, layer, _ = read(page(tmp_path, upright))
    (word,) = layer.words
    assert word.text == "Hxgp" and close_to(word.box, ink_box(pixels), slack=3)
    assert word.size == pytest.approx(20, abs=0.1)


def test_an_origin_that_is_not_zero_moves_nothing(tmp_path: Path) -> None:
    file = page(tmp_path, text("Hxgp", x=1020, y=-950), box="/MediaBox [1000 -1000 1200 -900]")
    pixels, layer, _ = read(file)
    assert close_to(layer.words[0].box, ink_box(pixels))


def test_invisible_text_is_kept_and_text_off_the_page_is_not(tmp_path: Path) -> None:
    pixels, layer, _ = read(page(tmp_path, text("hidden", mode=3) + " " + text("outside", x=900)))
    assert [word.text for word in layer.words] == ["hidden"]
    assert pixels.min() == 255


def test_a_hyphen_at_the_end_of_a_line_stays(tmp_path: Path) -> None:
    lines = "BT /F1 10 Tf 20 60 Td (a hyphen-) Tj 0 -12 Td (ated word) Tj ET"
    _, layer, _ = read(page(tmp_path, lines))
    assert [word.text for word in layer.words] == ["a", "hyphen-", "ated", "word"]


def test_rulings_are_strokes_however_they_are_drawn(tmp_path: Path) -> None:
    drawn = "1 w 20 20 m 180 20 l S  20 40 160 0.5 re f  20 60 100 30 re S  0.8 g 130 60 40 20 re f"
    white = "1 g 5 5 190 90 re f"
    curve = "0 G 20 10 m 60 90 100 90 180 10 c S"
    _, layer, _ = read(page(tmp_path, f"{white} {drawn} {curve}"), dpi=72)
    level = [box for box in layer.strokes if box[2] - box[0] > 20]
    upright = [box for box in layer.strokes if box[3] - box[1] > 10]
    assert len(level) == 6 and len(upright) == 4
    assert any(close_to(box, (20, 80, 180, 80), slack=1.5) for box in level)
    assert any(close_to(box, (20, 10, 20, 40), slack=1.5) for box in upright)


def test_a_grid_drawn_as_one_path_gives_all_its_lines(tmp_path: Path) -> None:
    rows = " ".join(f"20 {y} m 180 {y} l" for y in range(10, 90, 10))
    columns = " ".join(f"{x} 10 m {x} 80 l" for x in range(20, 181, 40))
    _, layer, _ = read(page(tmp_path, f"{rows} {columns} S"))
    assert len(layer.strokes) == 8 + 5


def test_absurd_pages_are_bounded(tmp_path: Path) -> None:
    file = page(tmp_path, text("x"), box="/MediaBox [0 0 14400 3]")
    pixels, _, size = read(file, dpi=600)
    assert pixels.shape == (1, 3500, 3) and size.dpi == pytest.approx(17.5, abs=0.1)


def test_a_page_without_area_does_not_end_the_others(tmp_path: Path) -> None:
    file = page(tmp_path, text("x"), box="/MediaBox [0 0 0 0]")
    pixels, _, _ = read(file)  # PDFium puts a Letter page in its place
    assert pixels.size > 0


def test_pages_can_be_read_in_any_order_and_past_reopening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.pdf.file.REOPEN_AFTER", 3)
    file = page(tmp_path, *(text(f"page{n}") for n in range(8)))
    for index in (7, 0, 3, 3, 1, 6, 5, 2):
        assert read(file, index)[1].words[0].text == f"page{index}"
    with pytest.raises(BadInput, match="page 9 does not exist"):
        file.size(8, dpi=72, max_side=100)


def test_a_damaged_page_fails_alone(tmp_path: Path) -> None:
    data = pdf([text("one"), text("two"), text("three")]).replace(b"5 0 obj\n<<", b"5 0 obj\nxx")
    (tmp_path / "a.pdf").write_bytes(data)
    items = list(list_items([str(tmp_path)], Page))
    worker, told = Load().open(), []
    for item in items:
        try:
            told.append([word.text for word in _layer(worker([item])[0]).words])
        except BadInput as exc:
            told.append(str(exc))
    assert ["one"] in told and ["three"] in told


def _layer(item: Page) -> TextLayer:
    assert item.layer is not None
    return item.layer


def test_render_never_gives_size_and_layer_only(tmp_path: Path) -> None:
    page(tmp_path, text("Hello")).close()
    (item,) = Load(render="never").open()(list(list_items([str(tmp_path)], Page)))
    assert item.pixels is None and item.image is None
    assert (item.width, item.height, item.dpi) == (556, 278, pytest.approx(200))
    assert _layer(item).words[0].text == "Hello"


def test_render_auto_draws_only_what_the_layer_does_not_tell(tmp_path: Path) -> None:
    words = text("The quick brown fox jumps over the lazy dog and then some more of it")
    picture = "q 100 0 0 50 50 20 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x7f EI Q"
    page(tmp_path, words, "", f"{words} {picture}").close()
    worker = Load(render="auto").open()
    items = [worker([item])[0] for item in list_items([str(tmp_path)], Page)]
    assert [item.pixels is None for item in items] == [True, False, False]
    assert len(_layer(items[2]).pictures) == 1


def test_encoded_pages_are_jpeg(tmp_path: Path) -> None:
    page(tmp_path, text("Hello")).close()
    (item,) = Load(give="encoded").open()(list(list_items([str(tmp_path)], Page)))
    assert item.image is not None and item.image.startswith(b"\xff\xd8\xff") and item.pixels is None


def test_forms_and_annotations_are_drawn(tmp_path: Path) -> None:
    square = "/Annots [<< /Type /Annot /Subtype /Square /Rect [50 30 150 70] /C [0 0 0] /IC [0 0 0] /F 4 >>]"
    pixels, _, _ = read(page(tmp_path, "", box=f"/MediaBox [0 0 200 100] {square}"))
    assert pixels[100, 200].tolist() == [0, 0, 0]


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"%PDF-1.7\n%%EOF", pdf([])])
def test_what_is_no_pdf_is_a_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(BadInput, match="PDF"):
        count_pages(str(tmp_path / "a.pdf"))


def test_every_korean_letter_of_the_layer_is_there() -> None:
    import pypdfium2

    path = str(SAMPLE)
    told = pypdfium2.PdfDocument(path)[1].get_textpage().get_text_range()
    with PdfFile(path) as file:
        layer = file.layer(1, file.size(1, dpi=200, max_side=3500))
    mine = "".join(word.text for word in layer.words)
    assert mine == "".join(told.replace("\x02", "-").replace("\ufffe", "-").split())
    assert len(mine) > 500


def test_hard_pdfs_neither_crash_nor_put_words_off_the_page(shared_data: Path) -> None:
    worker = Load(dpi=36).open()
    skipped = {"map1.pdf"}  # 80,000 objects: right, but a second and a half
    for item in list_items([str(shared_data / "gnarly_pdfs")], Page):
        if item.part > 1 or item.document in skipped:
            continue
        (loaded,) = worker([item])
        assert loaded.pixels is not None
        for word in _layer(loaded).words:
            assert word.text and word.box[2] > 0 and word.box[3] > 0
            assert word.box[0] < loaded.width and word.box[1] < loaded.height


ARABIC = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Arabic def /CMapType 2 def
1 begincodespacerange <00> <FF> endcodespacerange
4 beginbfchar <41> <0633> <42> <06440627> <43> <0645> <44> <0627> endbfchar
endcmap CMapName currentdict /CMap defineresource pop end end"""


def test_lam_alef_of_one_glyph_is_not_turned_round(tmp_path: Path) -> None:
    """Glyphs from left to right as an Arabic line shows them: meem, lam-alef, seen; then a lone alef."""
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R >>"
    made = pdf([text("CBA") + text("D", x=120)], fonts=f"<< /F1 {font} >>", streams=[ARABIC])
    (tmp_path / "a.pdf").write_bytes(made)
    _, layer, _ = read(PdfFile(str(tmp_path / "a.pdf")))
    assert sorted(word.text for word in layer.words) == ["ا", "سلام"]


def test_what_a_form_was_filled_in_with_stands_at_its_fields(tmp_path: Path) -> None:
    fields = [
        ("/FT /Tx /TU (Your name) /V (Ann Lee)", "40 60 120 72"),
        ("/FT /Ch /Ff 131072 /Opt [[(k) (Korea)] [(d) (Denmark)]] /V (k)", "40 40 120 52"),
        ("/FT /Btn /V /On /AS /On /AP << /N << /On 6 0 R >> >>", "40 20 50 30"),
        ("/FT /Btn /V /Off /AS /Off /AP << /N << /On 6 0 R >> >>", "60 20 70 30"),
        ("/FT /Tx /Ff 8192 /V (secret)", "130 60 190 72"),
        ("/FT /Tx /F 2 /V (hidden)", "130 40 190 52"),
        ("/FT /Tx /Ff 4096 /V (one\\ntwo)", "130 5 190 35"),
    ]
    (tmp_path / "form.pdf").write_bytes(form(text("Name:", x=5, y=62), fields))
    with PdfFile(str(tmp_path / "form.pdf")) as file:
        _, layer, size = read(file)
        held = [(one.name, one.label, one.text) for one in file.form(0, size)]
    assert held[:2] == [("f7", "Your name", "Ann Lee"), ("f8", "", "Korea")]
    assert [word.text for word in layer.words] == ["Name:", "Ann", "Lee", "Korea", "☒", "☐", "one", "two"]
    _, ann, lee, korea, ticked, _, one, two = (word.box for word in layer.words)
    assert 80 <= ann[0] < ann[2] < lee[0] < 240 and 56 <= ann[1] < ann[3] <= 80  # two pixels a point
    assert korea[1] > ann[3] and two[1] >= one[3]
    assert 80 <= ticked[0] < ticked[2] <= 100 and 140 <= ticked[1] < ticked[3] <= 160
    assert (size.width, size.height) == (400, 200)

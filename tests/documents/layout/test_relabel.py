"""Labels that the text of a region corrects."""

from __future__ import annotations

import pytest

from penstock.documents.layout.relabel import relabelled, with_only_text, with_title
from penstock.region import Line, Region


def test_a_line_set_apart_in_the_page_is_no_running_header() -> None:
    lines = [
        Region(label="header", box=(100, 20, 300, 50), content="Penstock"),
        Region(label="header", box=(400, 400, 600, 430), content="Abstract"),
        Region(label="footer", box=(400, 900, 600, 930), content="The end"),
    ]
    assert [region.label for region in relabelled(lines, 1400)] == ["header", "paragraph_title", "text"]


def test_a_title_that_was_taken_for_a_running_header_is_in_the_markdown() -> None:
    def region(label: str, text: str, height: float, top: float) -> Region:
        line = Line(text=text, box=(100, top, 800, top + height))
        return Region(label=label, box=line.box, content=text, lines=(line,), reader="layer")

    body = region("text", "Tables are everywhere.", 20, 400)
    title = region("header", "TableFormer: Robust Transformer Modeling", 30, 60)
    running = region("header", "Journal of Hydrology 310 (2005)", 21, 60)
    assert [one.label for one in with_title([title, body], 1400)] == ["doc_title", "text"]
    assert [one.label for one in with_title([running, body], 1400)] == ["header", "text"]


BODY = Region(
    label="text",
    box=(100, 540, 900, 700),
    content="Water turns the wheel, and the wheel turns the mill. " * 3,
)


def label_above(text: str, label: str = "text", under: Region = BODY, top: float = 500) -> str:
    """The label of a line of words with something under it, on a page 1400 high."""
    line = Region(label=label, box=(100, top, 500, top + 20), content=text)
    return relabelled([line, under], 1400)[0].label


@pytest.mark.parametrize(
    "text",
    [
        "Abstract", "CONTENTS", "목 차", "4.3.2 Alignment Tuning", "9.5. Adapting to\nNew Mills",
        "CHAPTER 7.", "B.1 Large Mills", "제 3 장 수압관", "5. Natural dispersal", "04 - Create a Script",
        "A Contributions", "11 Dual Data", "PRICE AND THE PLACEBO EFFECT", "ARE MILLERS PATIENT?",
    ],
)  # fmt: skip
def test_wording_tells_a_heading_that_is_set_as_the_text_under_it(text: str) -> None:
    assert label_above(text) == "paragraph_title"


@pytest.mark.parametrize(
    "text",
    [
        "5. Which is a prime factor of 32?", "11. Proof. Define", "1.2 Wheels ........ 12", "1.2 Wheels 12",
        "3.5 litres", "WIN-KD9P _192.168.0.67", "TABLEFORMERBASE", "E Z 1:0K", "A mill of our own", "NASA",
        "2.1 The wheel turns.", "수압관은 물을 보낸다", "Table 3: Mills", "MILLS 12",
    ],
)  # fmt: skip
def test_other_lines_stay_text(text: str) -> None:
    assert label_above(text) in ("text", "figure_title")


def test_a_heading_has_something_to_head() -> None:
    item = Region(
        label="text",
        box=(100, 540, 500, 560),
        content="6. Wind and water and what they do to the banks of it",
    )
    assert label_above("5. Natural dispersal", under=item) == "text"
    far = Region(label="text", box=(100, 900, 900, 1000), content=BODY.content)
    assert label_above("4.3.2 Alignment Tuning", under=far) == "text"
    chart = Region(label="chart", box=(50, 400, 950, 800))
    assert label_above("SOUTH AND NORTH", under=chart) == "text"  # inside of it
    table = Region(label="table", box=(100, 540, 900, 700), content="<table></table>")
    assert label_above("4.3.2 Alignment Tuning", under=table) == "paragraph_title"


def test_a_running_header_is_no_heading_but_a_chapter_is() -> None:
    assert label_above("CHAPTER 7.", "header", top=60) == "paragraph_title"
    assert label_above("Chapter 3. Mills of the valley", "header", top=60) == "header"
    assert label_above("MILLS OF THE VALLEY", "header", top=60) == "header"
    assert label_above("12 Miller and Wheeler", "text", top=60) == "text"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("and call it the wheel of the mill", "text"), ("format.", "text"), ("(15.20)", "text"),
        ("Diagram 4 Mills by year", "figure_title"), ("iPhone at work", "paragraph_title"),
        ("Mills", "paragraph_title"),
    ],
)  # fmt: skip
def test_what_goes_on_from_elsewhere_is_no_heading_whatever_the_model_says(text: str, label: str) -> None:
    assert label_above(text, "paragraph_title") == label


def labelled(*labels: str, part: int = 0) -> list[str]:
    """Labels of a page with such regions, pictures without text, each other one with a line."""
    regions = [
        Region(label=label, box=(0, 0, 9, 9), content="" if "image" in label else "Words") for label in labels
    ]
    return [region.label for region in with_only_text(regions, part)]


def test_the_only_text_of_a_page_is_no_header() -> None:
    assert labelled("header") == labelled("footer", part=7) == labelled("aside_text") == ["text"]
    assert labelled("header", "number", part=7) == ["text", "number"]
    assert labelled("header_image", "footer") == ["header_image", "text"]
    assert labelled("number") == ["text"]


def test_a_picture_on_a_first_page_is_no_body_of_a_running_title() -> None:
    assert labelled("header", "image") == ["text", "image"]
    assert labelled("header", "image", part=7) == ["header", "image"]


def test_headers_beside_a_body_stay_headers() -> None:
    assert labelled("header", "text", "number") == ["header", "text", "number"]
    assert labelled("number", part=7) == ["number"]  # an empty page of a book


@pytest.mark.parametrize(
    "text",
    [
        "NOTE", "Warning!", "주의", "注意", "Hinweis:", "Avertissement", "The following data are featured:",
        "여기서 이런 것도 사용합니다:", "someone@example.org", "https://example.org/mill",
    ],
)  # fmt: skip
def test_the_name_of_a_note_an_address_and_what_introduces_are_no_headings(text: str) -> None:
    assert label_above(text, "paragraph_title") == "text"


@pytest.mark.parametrize(
    "text", ["Notes on Mills", "Caution in Mills", "주의 사항", "Error codes:", "Note 3 Mills"]
)
def test_headings_that_begin_like_notes_stay(text: str) -> None:
    assert label_above(text, "paragraph_title") == "paragraph_title"


def test_a_running_head_that_breaks_off_is_no_heading() -> None:
    under = Region(label="text", box=(100, 90, 900, 300), content=BODY.content)
    assert label_above("3.1. QUALE DISTRIBUZIONE DEBIAN …", "header", under, top=60) == "header"
    assert label_above("3.1. QUALE DISTRIBUZIONE DEBIAN", "header", under, top=60) == "paragraph_title"

"""Claims about Markdown without page marks: what a page break cut is whole, and nothing else is joined."""

from __future__ import annotations

from dataclasses import replace

from penstock.documents.formats.markdown import page_markdown
from penstock.documents.pages.joined_pages import joined_markdown
from penstock.documents.pages.whole_document import WholeDocument
from penstock.errors import Failure
from penstock.page import Page
from penstock.region import Asset, Region

HEAD = "<tr><th>Year</th><th>Level</th></tr>"


def text(content: str, top: float, bottom: float, label: str = "text") -> Region:
    return Region(label=label, box=(100.0, top, 900.0, bottom), content=content)


def table(rows: str, top: float, bottom: float) -> Region:
    return text(f"<table>{rows}</table>", top, bottom, "table")


def row(year: int) -> str:
    return f"<tr><td>{year}</td><td>{year - 1900}</td></tr>"


def pages(*contents: tuple[Region, ...]) -> list[Page]:
    made = []
    for part, given in enumerate(contents):
        regions = tuple(replace(region, index=index) for index, region in enumerate(given))
        page = Page(id=f"a/{part:05d}", document="a.pdf", uri="a.pdf", part=part, width=1000, height=1400)
        made.append(replace(page, regions=regions, markdown=page_markdown(regions)))
    return made


def joined(made: list[Page], root: str | None = "") -> str:
    return "".join(joined_markdown(made, WholeDocument.of(made), root))


def test_a_paragraph_and_a_cut_word_are_whole_again() -> None:
    made = pages(
        (text("Mills", 50, 90, "doc_title"), text("Water turns the wheel and the pen-", 1000, 1300)),
        (text("stock feeds it. It ends.", 100, 200), text("Another begins here", 900, 1300)),
        (text("and goes on.", 100, 200),),
    )
    assert joined(made) == (
        "# Mills\n\nWater turns the wheel and the penstock feeds it. It ends.\n\n"
        "Another begins here and goes on.\n\n"
    )


def test_a_paragraph_in_korean_is_joined_by_the_rules_of_its_lines() -> None:
    made = pages((text("수압관은 저수지의 물을 발전소", 1000, 1300),), (text("로 보내는 관이다.", 100, 200),))
    assert joined(made) == "수압관은 저수지의 물을 발전소로 보내는 관이다.\n\n"


def test_a_table_over_three_pages_is_one_table_with_one_head() -> None:
    made = pages(
        (text("Before.", 100, 200), table(HEAD + row(2001), 800, 1350)),
        (table(HEAD + row(2002) + row(2003), 60, 1350),),
        (text("Table 1 (continued)", 60, 90, "figure_title"), table(HEAD + row(2004), 100, 400),
         text("After.", 500, 600)),
    )  # fmt: skip
    cells = "\n".join(f"| {year} | {year - 1900} |" for year in range(2001, 2005))
    assert joined(made) == f"Before.\n\n| Year | Level |\n| --- | --- |\n{cells}\n\nAfter.\n\n"


def test_what_stands_between_the_parts_stays_and_running_heads_are_no_hindrance() -> None:
    opening = text("The wheel turns and", 1000, 1250)
    note = text("1 A note.", 1300, 1340, "footnote")
    made = pages(
        (text("Mills of the valley 1", 20, 50), opening, note),
        (text("Mills of the valley 2", 20, 50), text("the mill works.", 100, 200), text("Next.", 300, 1300)),
        (text("Mills of the valley 3", 20, 50), text("It ends.", 100, 200)),
    )
    assert joined(made) == "The wheel turns and the mill works.\n\n1 A note.\n\nNext.\n\nIt ends.\n\n"


def test_a_failed_page_is_told_at_its_place_and_nothing_is_joined_over_it() -> None:
    made = pages(
        (text("It goes on and", 1000, 1300),), (text("on and", 100, 1300),), (), (text("on.", 100, 200),)
    )
    failure = Failure(kind="page", stage="load", message="The page is broken -->", advice="")
    made[2] = replace(made[2], failure=failure)
    said = joined(made)
    assert said.startswith("It goes on and on and\n\n<!-- page 3 failed in load: The page is broken")
    assert said.endswith("\n\non.\n\n")
    assert said.count("-->") == 1


def test_headings_keep_the_level_the_document_gives_them_and_pictures_their_links() -> None:
    picture = replace(text("", 200, 400, "image"), crop=Asset(path="crops/ab/abc.jpg"))
    made = pages((text("2.1 Wheels", 100, 140, "paragraph_title"), picture), (text("Text.", 100, 200),))
    assert joined(made, "../") == "### 2.1 Wheels\n\n![image](../crops/ab/abc.jpg)\n\nText.\n\n"
    assert joined(made, None) == "### 2.1 Wheels\n\n\\[image\\]\n\nText.\n\n"


def test_no_page_gives_no_text() -> None:
    assert joined([]) == ""
    assert joined(pages((), ())) == ""

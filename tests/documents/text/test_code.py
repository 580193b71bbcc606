"""Source code on a page: known by its font, kept with its lines and their indentation."""

from __future__ import annotations

from penstock.documents.formats.markdown import page_markdown
from penstock.documents.reading.content import with_content, with_texts
from penstock.page import Page
from penstock.region import Region, TextLayer, Word
from tests.documents.reading.steps import give_words

SOURCE = ("def turn(wheel):", "    for blade in wheel:", "        blade.push()", "    return wheel")


def typed(font: str) -> tuple[Word, ...]:
    return tuple(
        Word(text=part, box=(100 + 10 * at, 200 + 30 * row, 100 + 10 * (at + len(part)), 220 + 30 * row),
             size=18.0, font=font)
        for row, text in enumerate(SOURCE)
        for part in text.split()
        for at in [text.index(part)]
    )  # fmt: skip


def read(font: str) -> str:
    words = typed(font)
    seen = (Region(label="text", box=(90, 190, 600, 330)),)
    page = Page(
        id="a", document="a", uri="a.pdf", width=1000, height=1400, layer=TextLayer(words=words), regions=seen
    )
    [draft] = give_words(page, words)
    region = with_content(with_texts(draft.region, draft.words, ()))
    assert region is not None
    return page_markdown([region])


def test_code_stands_in_a_fence_with_its_indentation() -> None:
    assert read("DejaVuSansMono") == "```\n" + "\n".join(SOURCE) + "\n```"


def test_other_fonts_are_no_code() -> None:
    assert "```" not in read("Times")

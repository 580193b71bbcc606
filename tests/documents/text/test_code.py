"""Source code on a page: known by its font, kept with its lines and their indentation."""

from __future__ import annotations

from dataclasses import replace

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


def read(font: str, *seen: Region, words: tuple[Word, ...] = ()) -> str:
    words = words or typed(font)
    seen = seen or (Region(label="text", box=(90, 190, 600, 330)),)
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


def test_letters_of_unlike_widths_are_no_code_whatever_their_font_is_called() -> None:
    words = tuple(
        replace(word, box=(word.box[0], word.box[1], word.box[2] - 3 * number, word.box[3]))
        for number, word in enumerate(typed("AmericanTypewriter"))
    )
    assert "```" not in read("", words=words)


def test_code_that_was_seen_line_by_line_is_one_block() -> None:
    rows = [Region(label="text", box=(90, 195 + 30 * row, 600, 224 + 30 * row)) for row in range(4)]
    assert read("DejaVuSansMono", *rows) == "```\n" + "\n".join(SOURCE) + "\n```"

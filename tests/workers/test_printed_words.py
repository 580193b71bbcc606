"""Formulas of a file find their letters on its printed page, in whatever order these stand there."""

from __future__ import annotations

from penstock.engines.office.blocks import StructureBlock
from penstock.page import Page
from penstock.region import TextLayer, Word
from penstock.workers.office.placing import PageLetters, places_of, texts_of
from penstock.workers.office.printed_file import PlacedBlock, PrintedFile
from penstock.workers.office.printed_words import printed_words

# as LibreOffice prints them: a fraction, and a sum with its bounds
LINES = (
    ("a+b", 160, 95), ("Inline", 100, 101), ("end.", 190, 101), ("x2", 165, 107),
    ("n", 200, 190), ("∑", 198, 200), ("i=√π", 215, 200), ("i=1", 198, 210), ("7", 300, 300),
)  # fmt: skip
LAYER = TextLayer(words=tuple(Word(text=text, box=(x, y, x + 8 * len(text), y + 11)) for text, x, y in LINES))
BLOCKS = (
    StructureBlock(label="text", text=r"Inline $\frac{a+b}{x^{2}}$ end."),
    StructureBlock(label="display_formula", text=r"\sum_{i=1}^{n} i=\sqrt{\pi}"),
)


def test_commands_are_blanks_signs_are_signs_and_every_letter_keeps_its_place() -> None:
    latex = r"\sum_{i=1}^{n} i=\sqrt{\pi}\cdot\sin x\%"
    printed = printed_words(latex, is_formula=True)
    assert len(printed) == len(latex) and printed.split() == ["∑", "i=√", "π", "⋅", "sin", "x%"]
    assert printed_words("It costs $5, not $6.") == "It costs  5, not  6."
    assert printed_words("It costs $5.") == "It costs $5."


def test_a_formula_has_a_box_and_no_letter_of_it_is_said_twice() -> None:
    letters = PageLetters()
    letters.add_page(LAYER)
    texts = list(texts_of(BLOCKS))
    places = places_of([text for *_, text in texts], letters)
    assert all(places)
    placed = [PlacedBlock(BLOCKS[number], place[0].words) for number, place in enumerate(places)]
    page = PrintedFile([placed]).page(Page(id="a", uri="a", document="a", width=600, height=800), LAYER)
    assert [(region.content, region.reader) for region in page.regions] == [
        (BLOCKS[0].text, "structure"), (BLOCKS[1].text, "structure"), ("7", "layer"),
    ]  # fmt: skip
    [first, second, _] = (region.box for region in page.regions)
    assert first[1] == 95 and first[3] == 118
    assert second[1] == 190 and second[3] == 221

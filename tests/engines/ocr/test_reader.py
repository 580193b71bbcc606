"""Reading by script: Korean by our own network, the rest by PP-OCR, both on one page and in one line."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

import penstock
from penstock.engines.ocr.hangul_network import UNKNOWN, HangulNetwork, Symbol
from penstock.engines.ocr.reader import PageReader, Said, is_foreign
from penstock.engines.ocr.recognise import LineReading
from penstock.engines.ocr.reread_foreign import Stretch, doubtful, spliced
from penstock.errors import MissingModel
from tests.conftest import SAMPLE
from tests.support.drawn import SENTENCES, page

DPI = 200


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    try:
        engine = PageReader()
    except MissingModel as exc:
        pytest.skip(str(exc))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def korean() -> tuple[NDArray[np.uint8], str]:
    """Two paragraphs of Korean with a Latin word and figures in them, and their text."""
    document = pypdfium2.PdfDocument(SAMPLE)
    sheet = document[1]
    top, bottom = round(540 * DPI / 72), round(712 * DPI / 72)
    pixels = np.ascontiguousarray(sheet.render(scale=DPI / 72).to_numpy()[top:bottom, :, 2::-1])
    height = sheet.get_height()
    text = sheet.get_textpage().get_text_bounded(bottom=height - 712, top=height - 540)
    document.close()
    return pixels, text


def error_rate(truth: str, text: str) -> float:
    want, got = "".join(truth.split()), "".join(text.split())
    return Levenshtein.distance(want, got) / len(want)


def read(reader: PageReader, pixels: NDArray[np.uint8]) -> str:
    lines = reader.find(pixels)
    return "\n".join(line.text for line in reader.read(pixels, lines, reader.script(pixels, lines)))


def test_korean_with_latin_words_is_read_right(
    reader: PageReader, korean: tuple[NDArray[np.uint8], str]
) -> None:
    pixels, truth = korean
    text = read(reader, pixels)
    assert error_rate(truth, text) <= 0.02
    for word in ("Penstock", "1,440", "60"):
        assert text.count(word) == truth.count(word)


def test_the_same_page_is_read_right_whatever_its_script_is_taken_for(
    reader: PageReader, korean: tuple[NDArray[np.uint8], str]
) -> None:
    pixels, truth = korean
    lines = reader.find(pixels)
    taken = reader.read(pixels, lines, "other")
    assert error_rate(truth, "\n".join(line.text for line in taken)) <= 0.03
    assert "hangul" in {line.reader for line in taken}


def test_an_english_page_is_read_by_ppocr_alone(reader: PageReader) -> None:
    pixels = page()
    lines = reader.find(pixels)
    assert reader.script(pixels, lines) == "other"
    taken = reader.read(pixels, lines, "other")
    assert [line.text for line in taken] == list(SENTENCES)
    assert {line.reader for line in taken} == {"ppocr"}


def test_english_lines_of_a_korean_page_are_read_by_ppocr(reader: PageReader) -> None:
    pixels = page()
    taken = reader.read(pixels, reader.find(pixels), "hangul")
    assert [line.text for line in taken] == list(SENTENCES)
    assert {line.reader for line in taken} == {"ppocr"}


def test_a_heading_of_a_korean_page_is_read_by_ppocr(reader: PageReader) -> None:
    sample = Path(penstock.__file__).parent / "sample" / "sample.pdf"
    rendered = pypdfium2.PdfDocument(sample)[2].render(scale=DPI / 72).to_numpy()[:330, :, :3]
    top = np.ascontiguousarray(rendered[:, :, ::-1])
    said = [line.text for line in reader.read(top, reader.find(top), "hangul")]
    assert "Head, Flow and Power" in said


def test_a_korean_line_on_an_english_page_is_read_as_korean(
    reader: PageReader, korean: tuple[NDArray[np.uint8], str]
) -> None:
    pixels = np.concatenate([page()[:, :1200], korean[0][:70, 190:1390]])
    taken = reader.read(pixels, reader.find(pixels), "other")
    assert [line.text for line in taken[: len(SENTENCES)]] == list(SENTENCES)
    assert taken[-1].reader == "hangul"
    assert "문서를" in taken[-1].text


@pytest.mark.parametrize(
    ("seen", "sure", "expected"),
    [
        ("* 7006 4.1 및 5.2", 0.93, False),  # PP-OCR passes over the one syllable that is there
        ("* 108 3508 응용 5.14", 0.92, False),  # and writes 号 for these
        ("* 108 3508 응용 5.14", 0.6, True),
        ("00 600이85 띠0 006", 0.92, True),  # syllables inside of what is no word
    ],
)
def test_a_sure_word_of_korean_keeps_a_line_from_being_latin(seen: str, sure: float, expected: bool) -> None:
    letters = [(char, place > 0 and seen[place - 1] == " ") for place, char in enumerate(seen) if char != " "]
    symbols = [Symbol(char, 10.0 * n, 10.0 * n + 9, sure, spaced) for n, (char, spaced) in enumerate(letters)]
    said = Said("* Tomcat 4.1  5.2", 0.99, "ppocr", passed_over=0.0)
    assert is_foreign(said, symbols) == expected


def test_a_blank_page_says_nothing(reader: PageReader) -> None:
    pixels = np.full((1000, 800, 3), 255, dtype=np.uint8)
    assert reader.find(pixels) == ()
    assert reader.script(pixels, ()) == "other"
    assert reader.read(pixels, (), "hangul") == []


def test_threads_share_one_reader(reader: PageReader, korean: tuple[NDArray[np.uint8], str]) -> None:
    pixels = korean[0][:130]
    with ThreadPoolExecutor(3) as pool:
        texts = set(pool.map(lambda _: read(reader, pixels), range(3)))
    assert len(texts) == 1


def test_languages_without_korean_read_no_hangul() -> None:
    try:
        reader = PageReader(("en", "ja"))
    except MissingModel as exc:
        pytest.skip(str(exc))
    assert not reader.reads_korean
    assert reader.missing == ""
    reader.close()


@pytest.fixture(scope="module")
def network() -> Iterator[HangulNetwork]:
    engine = HangulNetwork()
    yield engine
    engine.close()


def test_nothing_is_read_in_a_blank_line(network: HangulNetwork) -> None:
    assert network.read_line(np.full((40, 300, 3), 255, dtype=np.uint8)) == []


def test_a_line_longer_than_any_page_is_read_in_parts(
    network: HangulNetwork, korean: tuple[NDArray[np.uint8], str]
) -> None:
    line = korean[0][:70, 190:1390]
    once = network.read_line(line)
    many = network.read_line(np.concatenate([line] * 16, axis=1))
    assert len(many) > 15 * len(once)
    assert [symbol.x0 for symbol in many] == sorted(symbol.x0 for symbol in many)


def test_a_picture_taken_for_a_line_takes_little_memory(network: HangulNetwork) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (2000, 3000, 3), dtype=np.uint8)
    tracemalloc.start()
    try:
        network.read_line(picture)
        assert tracemalloc.get_traced_memory()[1] < 2 * picture.nbytes
    finally:
        tracemalloc.stop()


def symbols(text: str, confidence: float) -> list[Symbol]:
    """A word, ten pixels a character."""
    return [Symbol(char, 10.0 * at, 10.0 * at + 9, confidence, at == 0) for at, char in enumerate(text)]


def test_doubtful_words_are_those_without_hangul() -> None:
    line = symbols("데비안", 0.93) + symbols("0048", 0.4) + symbols("를", 0.93) + symbols("1995", 0.97)
    line = [Symbol(s.text, 10.0 * at, 10.0 * at + 9, s.confidence, s.spaced) for at, s in enumerate(line)]
    assert doubtful(line, 10.0 * len(line), 20) == [Stretch(3, 7)]


def test_a_sign_that_the_network_was_not_taught_is_doubtful_and_never_written() -> None:
    line = symbols("한", 0.93) + symbols(UNKNOWN, 0.99) + symbols("자", 0.93)
    line = [Symbol(s.text, 10.0 * at, 10.0 * at + 9, s.confidence, False) for at, s in enumerate(line)]
    assert doubtful(line, 30.0, 20) == [Stretch(1, 2)]
    assert spliced(line, [Stretch(1, 2)], [LineReading("國", 0.99, 0.0)])[0] == "한國자"
    assert spliced(line, [Stretch(1, 2)], [LineReading("", 0.0, 0.0)])[0] == "한자"


def test_ink_without_symbols_is_doubtful() -> None:
    line = [Symbol("가", 0, 20, 0.93, False), Symbol("나", 200, 220, 0.93, True)]
    assert doubtful(line, 220, 24) == [Stretch(1, 1)]


def test_what_was_read_again_is_spliced_in_with_its_brackets() -> None:
    line = symbols("승", 0.9) + [Symbol(s.text, s.x0, s.x1, 0.3, False) for s in symbols("(0068)", 0.3)]
    text, _ = spliced(line, [Stretch(1, 7)], [LineReading("dpkg", 0.99, 0.0)])
    assert text == "승(dpkg)"


def test_an_unsure_second_reading_changes_nothing() -> None:
    line = symbols("0068", 0.3)
    assert spliced(line, [Stretch(0, 4)], [LineReading("x", 0.3, 0.0)])[0] == "0068"

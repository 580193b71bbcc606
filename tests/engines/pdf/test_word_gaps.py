"""Words that PDFium glues are parted by the gaps between their glyphs; what only looks apart is not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.engines.pdf.file import PdfFile
from penstock.engines.pdf.word_gaps import cuts
from tests.support.made_pdf import pdf


def words_of(tmp_path: Path, content: str) -> list[str]:
    (tmp_path / "a.pdf").write_bytes(pdf([content], "/MediaBox [0 0 400 100]"))
    with PdfFile(str(tmp_path / "a.pdf")) as file:
        return [word.text for word in file.layer(0, file.size(0, dpi=144, max_side=3500)).words]


def set_apart(words: Sequence[str], gap: int, font: str = "F1") -> str:
    """Each word in a text object of its own, thousandths of the size after the last."""
    shown = " ".join(f"[{-gap if place else 0} ({word})] TJ" for place, word in enumerate(words))
    return f"BT /{font} 10 Tf 20 50 Td {shown} ET"


def in_one_object(words: Sequence[str], gap: int) -> str:
    return f"BT /F1 10 Tf 20 50 Td [{f' {-gap} '.join(f'({word})' for word in words)}] TJ ET"


SENTENCE = ("the", "right", "to", "withdraw", "or", "not")


@pytest.mark.parametrize("gap", [110, 130, 150, 180, 210, 260])
def test_words_of_several_objects_are_parted_by_narrow_spaces(tmp_path: Path, gap: int) -> None:
    assert words_of(tmp_path, set_apart(SENTENCE, gap)) == list(SENTENCE)


@pytest.mark.parametrize("gap", [110, 130, 150, 260])
def test_words_of_one_object_are_parted_by_narrow_spaces(tmp_path: Path, gap: int) -> None:
    assert words_of(tmp_path, in_one_object(SENTENCE, gap)) == list(SENTENCE)


def test_each_parted_word_has_its_own_box(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([set_apart(SENTENCE, 120)], "/MediaBox [0 0 400 100]"))
    with PdfFile(str(tmp_path / "a.pdf")) as file:
        found = file.layer(0, file.size(0, dpi=144, max_side=3500)).words
    assert all(one.box[2] < other.box[0] for one, other in itertools.pairwise(found))


def test_words_of_a_page_that_lies_on_its_side_are_parted(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([set_apart(SENTENCE, 120)], "/MediaBox [0 0 400 100] /Rotate 90"))
    with PdfFile(str(tmp_path / "a.pdf")) as file:
        found = file.layer(0, file.size(0, dpi=144, max_side=3500)).words
    assert [word.text for word in found] == list(SENTENCE)


@pytest.mark.parametrize("kern", [-60, -40, 20, 50, 80])
def test_kerning_parts_no_word(tmp_path: Path, kern: int) -> None:
    assert words_of(tmp_path, in_one_object(("WAV", "ERING"), -kern)) == ["WAVERING"]


def test_letterspaced_words_stay_whole(tmp_path: Path) -> None:
    assert words_of(tmp_path, "BT /F1 10 Tf 1.2 Tc 20 50 Td (HUMAN) Tj ET") == ["HUMAN"]
    assert words_of(tmp_path, in_one_object("RESOURCES", 120)) == ["RESOURCES"]


def test_a_raised_letter_is_not_parted_from_its_word(tmp_path: Path) -> None:
    raised = "BT /F1 10 Tf 20 50 Td (word) Tj /F1 6 Tf 4 Ts [-100 (note)] TJ ET"
    assert words_of(tmp_path, raised) == ["wordnote"]


def apart(marked: str, gap: float = 0.12) -> str:
    """The run with `|` where a gap is, as it is cut: gaps elsewhere are 0."""
    run = marked.replace("|", "")
    wide = {len(marked[:place].replace("|", "")) for place, char in enumerate(marked) if char == "|"}
    places = [0, *cuts(run, [gap if n in wide else 0.0 for n in range(1, len(run))]), len(run)]
    return " ".join(run[a:b] for a, b in itertools.pairwise(places))


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("the|right|of", "the right of"),
        ("(ncRNA),|which", "(ncRNA), which"),
        ("Letters|(short)", "Letters (short)"),
        ("право|на|отказ", "право на отказ"),
        ("데비안|프로젝트", "데비안 프로젝트"),
        ("12|metres", "12 metres"),
    ],
)
def test_a_gap_between_words_is_a_space(run: str, words: str) -> None:
    assert apart(run) == words


@pytest.mark.parametrize(
    "run",
    [
        "东京|都知事",  # scripts without spaces
        "東京の|天気は",
        "สวัสดี|ครับ",
        "users|를",  # a particle after a Latin word
        "10|000|000",  # one number
        "word|;",  # French thin spaces
        "Contents|......",
        "de|f",  # too little to be words
        "p|age",  # code in columns: a lone letter needs a wider gap
        "co-|operate",
    ],
)
def test_what_is_no_space_stays_together(run: str) -> None:
    assert apart(run) == run.replace("|", "")


def test_a_lone_letter_needs_a_wider_gap() -> None:
    assert apart("a|few", 0.11) == "afew" and apart("a|few", 0.14) == "a few"


def test_a_gap_is_weighed_by_the_spaces_of_its_line() -> None:
    gaps = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0, 0.0]
    assert cuts("theright", gaps, space=0.2) == [3]
    assert cuts("theright", gaps, space=0.5) == []


def test_gaps_that_do_not_stand_out_are_no_spaces() -> None:
    """Code whose letters stand in columns has gaps of all widths."""
    assert cuts("addition", [0.0, 0.09, 0.13, 0.0, 0.08, 0.05, 0.0]) == []


def test_letters_that_lie_on_each_other_are_a_drawing() -> None:
    assert cuts("LaTeXset", [-0.3, 0.0, 0.12, -0.2, 0.0, 0.0, 0.0]) == []

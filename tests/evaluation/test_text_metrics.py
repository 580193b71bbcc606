"""Distances and similarities of texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock_eval.metrics.contains import contains_answer
from penstock_eval.metrics.text import (
    anls,
    anls_fields,
    bleu,
    character_error_rate,
    korean_error_rates,
    nid,
    normalised_edit,
    spacing_errors,
    word_error_rate,
)


def test_two_empty_texts_are_equal() -> None:
    assert normalised_edit("", "") == 0.0
    assert nid("", "") == 1.0


def test_error_rates_pool_edits_as_jiwer_does() -> None:
    truths, predictions = ["the cat sat", "on a mat"], ["the cat sit", "on mat"]
    assert character_error_rate(truths, predictions) == pytest.approx((1 + 2) / (11 + 8))
    assert word_error_rate(truths, predictions) == pytest.approx((1 + 1) / (3 + 3))


def test_runs_of_spaces_do_not_count_as_words() -> None:
    assert word_error_rate(["a  b"], [" a b "]) == 0.0


def test_anls_takes_the_nearest_answer_and_forgets_what_is_less_than_half_right() -> None:
    answers = ["Han River", "the Han River"]
    expected = {"Han River": 1.0, "han river": 1.0, "HanRiver": 8 / 9, "Han": 0.0, "Rhine": 0.0}
    for given, score in expected.items():
        assert anls(answers, given) == pytest.approx(score)


def test_the_docvqa_fixture_gives_0_378(shared_data: Path) -> None:
    folder = shared_data / "anls_examples"
    gold = json.loads((folder / "gold_label.json").read_text())["data"]
    given = {row["questionId"]: row["answer"] for row in json.loads((folder / "submission.json").read_text())}
    scores = [anls(row["answers"], given[row["questionId"]]) for row in gold]
    assert sum(scores) / len(scores) == pytest.approx(0.378, abs=5e-4)


def test_each_case_of_the_docvqa_example_is_reproduced(shared_data: Path) -> None:
    example = json.loads((shared_data / "anls_examples" / "expected_cocacola.json").read_text())
    for case in example["cases"]:
        assert anls(example["answers"], case["pred"]) == pytest.approx(case["anls"], abs=5e-3)


def test_the_nanonets_variant_has_no_threshold_and_minds_case() -> None:
    assert anls_fields({"total": "ABCD"}, {"total": "abcd"}) == 0.0
    assert anls_fields({"total": "12.50", "date": "x"}, {"total": "12.40"}) == pytest.approx(0.4)


def test_a_missing_word_space_is_seen_with_spaces_and_not_without() -> None:
    rates = korean_error_rates(["나는 학교에 간다"], ["나는 학교에간다"])
    assert rates["cer"] == pytest.approx(1 / 9)
    assert rates["cer_without_spaces"] == 0.0
    assert rates["spacing_error_rate"] == pytest.approx(1 / 6)


def test_decomposed_hangul_is_the_same_text() -> None:
    assert korean_error_rates(["한글"], ["한글"])["cer"] == 0.0


def test_a_misread_letter_is_no_spacing_error() -> None:
    wrong, compared = spacing_errors("가나 다라", "가너 다라")
    assert (wrong, compared) == (0, 1)


def test_bleu_of_equal_texts_is_one_and_short_ones_pay() -> None:
    text = "the quick brown fox jumps over the lazy dog"
    assert bleu([text], [text]) == pytest.approx(1.0)
    assert bleu([text], ["the quick brown fox jumps"]) == pytest.approx(2.718281828 ** (1 - 9 / 5), rel=1e-6)
    assert bleu([text], ["nothing in common here at all"]) == 0.0


def test_ocrbench_looks_for_the_answer_in_what_was_said() -> None:
    assert contains_answer("CENTRE", "It says: Centre.")
    assert contains_answer(["no", "yes"], "Yes!")
    assert not contains_answer("a b", "ab")
    assert contains_answer("x + y", "x+y", dataset="HME100k")

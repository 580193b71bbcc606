"""Claims about reading grounded answers: the three dialects, what breaks, and how long it takes."""

from __future__ import annotations

import json
import os
import random
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock.documents.grounding.answer import GroundedAnswer, read_grounded
from tests.support.effort import cpu_seconds
from tests.support.grounded_answers import DIALECTS, PIECES, PROSE, TABLE, answers, mutated, official

GOLDEN = Path(__file__).parent / "golden"
MUTATIONS = 5_000  # at each test; `make fuzz` does more
MAX_CPU_S = 5.0  # some milliseconds each


def _plain(answer: GroundedAnswer) -> Any:
    return json.loads(json.dumps(asdict(answer)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_answers_read_as_their_golden_files_say(dialect: str) -> None:
    written = answers(dialect)
    assert len(written) >= 30
    read = {name: {"answer": text, "read": _plain(read_grounded(text))} for name, text in written.items()}
    path = GOLDEN / f"grounding_{dialect}.json"
    if os.environ.get("PENSTOCK_REGOLD"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(read, ensure_ascii=False, indent=1) + "\n", "utf-8")
    assert read == json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_table_after_its_captions_anchor_is_the_tables(dialect: str) -> None:
    blocks = read_grounded(answers(dialect)["table with its caption first"]).blocks
    assert [(block.label, block.content) for block in blocks] == [
        ("table", TABLE),
        ("table_caption", "표 1. 연도별 매출"),
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_word_of_a_broken_answer_is_kept(dialect: str) -> None:
    for name, text in answers(dialect).items():
        if PROSE in text and "loop" not in name:
            assert any(PROSE in block.content for block in read_grounded(text).blocks), name


def test_boxes_of_other_scales_come_to_the_grid() -> None:
    unit = read_grounded(official("text", [[0.1, 0.2, 0.5, 1.0]], "a")).blocks[0]
    assert unit.box == (100, 200, 500, 999)
    pixels = read_grounded(official("text", [[170, 220, 1700, 2200]], "a"), width=1700, height=2200).blocks[0]
    assert pixels.box == (100, 100, 999, 999)


def test_a_loop_is_cut_and_told() -> None:
    answer = read_grounded(official("text", [[1, 2, 30, 40]], "Once. " + "around and around " * 1500))
    assert answer.looped
    assert len(answer.blocks[0].content) < 200


def test_mutated_answers_never_raise_and_never_take_long() -> None:
    chance = random.Random(5)
    seeds = [text for dialect in DIALECTS for text in answers(dialect).values()]
    for _ in range(MUTATIONS):
        text = mutated(chance, seeds)
        assert cpu_seconds(partial(read_grounded, text, 1700, 2200)) < MAX_CPU_S, repr(text[:2000])


@pytest.mark.parametrize("unit", PIECES)
def test_time_grows_with_the_text_not_faster(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    assert cpu_seconds(lambda: read_grounded(text)) < 10  # some 0.1 s; a square would be minutes

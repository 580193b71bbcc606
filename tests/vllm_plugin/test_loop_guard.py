"""The guard against loops forbids what vLLM's own forbids, and takes its place where it is known."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engines.chat.deepseek.pages import FIRST
from penstock.vllm_plugin import loop_guard


class Rule:
    def __init__(self, ngram_size: int, window_size: int, whitelist_token_ids: set[int]) -> None:
        raise NotImplementedError


class Guard:
    def apply(self, logits: Any) -> str:
        return "vLLM's own"


def module_with(rule: type) -> Any:
    module: Any = ModuleType("deepseek_ocr")
    module.NGramPerReqLogitsProcessor = type("Guard", (Guard,), {})
    module.NoRepeatNGramLogitsProcessor = rule
    return module


# few tokens, so that they come again; large ones differ in other bytes
@given(
    written=st.lists(st.sampled_from([0, 1, 256, 65_536]), max_size=60),
    ngram=st.integers(2, 7),
    window=st.integers(1, 40),
)
def test_it_forbids_what_the_models_rule_forbids(written: list[int], ngram: int, window: int) -> None:
    rule = replace(FIRST, ngram=ngram, window=window, keep=())
    assert loop_guard.forbidden(written, ngram, window) == rule.forbidden(written)


def test_an_answer_that_repeats_one_token_may_not_go_on() -> None:
    assert loop_guard.forbidden([5] * 100, 30, 90) == {5}
    assert loop_guard.forbidden([5] * 29, 30, 90) == set()


def test_it_takes_the_place_of_the_guard_that_it_knows() -> None:
    module = module_with(Rule)
    loop_guard.replace_guard(module)
    assert module.NGramPerReqLogitsProcessor.apply is loop_guard.apply


@pytest.mark.parametrize("rule", [None, object, type("Other", (), {"__init__": lambda self, ngram: None})])
def test_a_guard_with_other_settings_stays(rule: Any) -> None:
    module = module_with(rule)
    loop_guard.replace_guard(module)
    assert module.NGramPerReqLogitsProcessor().apply(None) == "vLLM's own"

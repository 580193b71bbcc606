"""How to ask DeepSeek-OCR models about whole pages, and what to try when an answer does not end.

The models write boxes with special tokens, so the server must not skip those. They loop on about one page
in thirty (the authors' own count): a guard in the server forbids n-grams it has just written, and a detector
ends an answer that repeats. We request both and rely on neither: a page whose answer does not end cleanly is
asked again in another way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from penstock.engines.chat.deepseek.prompts import FREE, MARKDOWN, is_of_pages
from penstock.engines.chat.recognisers import RECOGNISERS, Recogniser
from penstock.errors import UsageError

SMALLER = 0.75  # of each side: other tiles, other tokens, and most loops do not come back
MAX_TOKENS = 7_000  # of a context of 8,192 a page of six tiles takes up to 1,121
CELLS = (128821, 128822)  # <td> and </td>, which a table must be allowed to repeat


@dataclass(frozen=True, slots=True)
class NgramGuard:
    """Forbids the same `ngram` tokens twice within `window`: breaks loops up to window - ngram + 1 long.

    Tokens of `keep` are never forbidden. An `ngram` of 0 forbids nothing.
    """

    name: str
    ngram: int
    window: int
    detect: bool = False
    keep: tuple[int, ...] = CELLS

    def sampling(self) -> dict[str, Any]:
        """The request's fields. Servers without the processor or the detector ignore them."""
        words: dict[str, Any] = {}
        if self.ngram:
            words["vllm_xargs"] = {
                "ngram_size": self.ngram,
                "window_size": self.window,
                "whitelist_token_ids": list(self.keep),
            }
        if self.detect:
            words["repetition_detection"] = {"max_pattern_size": 40, "min_pattern_size": 5, "min_count": 3}
        return words

    def forbidden(self, written: Sequence[int]) -> set[int]:
        """Returns the tokens that may not follow the answer so far: what vLLM's processor computes."""
        recent = list(written[-self.window :])
        if not self.ngram or len(recent) < self.ngram:
            return set()
        last = recent[len(recent) - self.ngram + 1 :]
        starts = range(len(recent) - self.ngram + 1)
        ends = {recent[i + len(last)] for i in starts if recent[i : i + len(last)] == last}
        return ends - set(self.keep)


# 30/90 is the model card's; 35/128 catches loops of 94 tokens instead of 61
FIRST, OTHER = NgramGuard("first", 30, 90), NgramGuard("other", 35, 128, detect=True)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask for a page."""

    name: str
    prompt: str = MARKDOWN
    guard: NgramGuard = FIRST
    scale: float = 1.0
    halves: bool = False


def ladder(prompt: str = MARKDOWN, guard: NgramGuard = FIRST) -> tuple[Way, ...]:
    """Returns the ways to ask, in the order they are tried.

    Plain text and halves are tried only where they answer what was asked: all of a page.
    """
    other = replace(OTHER, keep=guard.keep)
    asked = (
        Way("page", prompt, guard),
        Way("other guard", prompt, other),
        Way("smaller", prompt, other, scale=SMALLER),
    )
    if not is_of_pages(prompt):
        return asked
    plain = (Way("text only", FREE, guard),) if prompt != FREE else ()
    return (*asked, *plain, Way("halves", prompt, guard, halves=True))


# The second model was taught the first and the last of these prompts only, and the others do no harm.
_SECOND = replace(RECOGNISERS["deepseek-ocr"], name="deepseek-ocr-2", model="deepseek-ai/DeepSeek-OCR-2")
MODELS: Mapping[str, Recogniser] = MappingProxyType(
    {"deepseek-ocr": RECOGNISERS["deepseek-ocr"], "deepseek-ocr-2": _SECOND}
)


def page_recogniser(name: str, guard: NgramGuard = FIRST, max_tokens: int = MAX_TOKENS) -> Recogniser:
    """Returns how to ask a model with a guard. The client does not retry loops: `ladder` has the next way."""
    if name not in MODELS:
        raise UsageError(f"There is no grounded recogniser {name!r}.", f"Known: {', '.join(MODELS)}.")
    known = MODELS[name]
    sampling = {"temperature": 0.0, "skip_special_tokens": False, **guard.sampling()}
    return replace(known, sampling=sampling, again={}, grow=1, max_tokens=max_tokens)


def check_limits(ngram: int, window: int, keep: Sequence[int], max_tokens: int) -> None:
    """Raises UsageError for a guard that could not act, or for more tokens than there is room for."""
    if ngram < 0 or (ngram and window < ngram):
        raise UsageError(
            f"--ngram {ngram} with --ngram-window {window} forbids nothing.",
            "A window holds the n-gram: 30 and 90 are the model's own; --ngram 0 turns the guard off.",
        )
    if any(token < 0 for token in keep):
        raise UsageError("--ngram-keep takes numbers of tokens.", "128821,128822 are <td> and </td>.")
    if not 1 <= max_tokens <= MAX_TOKENS:
        raise UsageError(
            f"--max-tokens {max_tokens} is not between 1 and {MAX_TOKENS:,}.",
            "The context is 8,192 tokens, and a page takes up to 1,121 of them.",
        )

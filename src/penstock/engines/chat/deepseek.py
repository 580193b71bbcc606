"""How to ask DeepSeek-OCR models about whole pages, and what to try when an answer does not end.

The models write boxes with special tokens, so the server must not skip those. They loop on about one page
in thirty (the authors' own count): a guard in the server forbids n-grams it has just written, and a detector
ends an answer that repeats. We request both and rely on neither: a page whose answer does not end cleanly is
asked again in another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from penstock.engines.chat.recognisers import RECOGNISERS, Recogniser
from penstock.errors import UsageError

PAGE, FREE = "page", "text"
SMALLER = 0.75  # of each side: other tiles, other tokens, and most loops do not come back
MAX_TOKENS = 7_000  # of a context of 8,192 a page of six tiles takes up to 1,121
_CELLS = [128821, 128822]  # <td> and </td>, which a table must be allowed to repeat


@dataclass(frozen=True, slots=True)
class NgramGuard:
    """Forbids the same `ngram` tokens twice within `window`: breaks loops up to window - ngram + 1 long."""

    name: str
    ngram: int
    window: int
    detect: bool = False

    def sampling(self) -> dict[str, Any]:
        """The request's fields. Servers without the processor or the detector ignore them."""
        words: dict[str, Any] = {
            "vllm_xargs": {
                "ngram_size": self.ngram,
                "window_size": self.window,
                "whitelist_token_ids": _CELLS,
            }
        }
        if self.detect:
            words["repetition_detection"] = {"max_pattern_size": 40, "min_pattern_size": 5, "min_count": 3}
        return words


# 30/90 is the model card's; 35/128 catches loops of 94 tokens instead of 61
FIRST, OTHER = NgramGuard("first", 30, 90), NgramGuard("other", 35, 128, detect=True)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask for a page."""

    name: str
    guard: NgramGuard = FIRST
    task: str = PAGE
    scale: float = 1.0
    halves: bool = False


LADDER = (
    Way("page"),
    Way("other guard", OTHER),
    Way("smaller", OTHER, scale=SMALLER),
    Way("text only", task=FREE),
    Way("halves", halves=True),
)

# The second model was taught the first and the last of these prompts only, and the others do no harm.
_SECOND = replace(RECOGNISERS["deepseek-ocr"], name="deepseek-ocr-2", model="deepseek-ai/DeepSeek-OCR-2")
MODELS: Mapping[str, Recogniser] = MappingProxyType(
    {"deepseek-ocr": RECOGNISERS["deepseek-ocr"], "deepseek-ocr-2": _SECOND}
)


def page_recogniser(name: str, guard: NgramGuard = FIRST) -> Recogniser:
    """Returns how to ask a model with a guard. The client does not retry loops: LADDER has the next way."""
    if name not in MODELS:
        raise UsageError(f"There is no grounded recogniser {name!r}.", f"Known: {', '.join(MODELS)}.")
    known = MODELS[name]
    sampling = {"temperature": 0.0, "skip_special_tokens": False, **guard.sampling()}
    return replace(known, sampling=sampling, again={}, grow=1, max_tokens=MAX_TOKENS)

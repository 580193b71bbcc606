"""How many tokens a request may have: the prompt, the picture and the answer together."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engines.chat.deepseek.pages import MODELS as PAGE_MODELS
from penstock.errors import UsageError

PAGE_CONTEXT = 8_192  # of DeepSeek-OCR; vLLM refuses more
REGION_CONTEXT = 16_384  # of the presets for readers of regions
PICTURE_AND_PROMPT = 8_192  # a picture takes up to 6,144


def check_context(name: str, servers: Sequence[str], max_model_len: int, max_tokens: int) -> None:
    """Raises UsageError for a context that no server of ours can have, or that cannot hold an answer."""
    if not max_model_len:
        return
    if servers:
        raise UsageError(
            "--max-model-len is for a server that is started; the ones of --server have their own.",
            "Leave it out, or start them with `penstock engine start --max-model-len`.",
        )
    if name in PAGE_MODELS and max_model_len > PAGE_CONTEXT:
        raise UsageError(
            f"--max-model-len {max_model_len} is more than the {PAGE_CONTEXT:,} tokens of {name}.",
            "Leave it out, or give less.",
        )
    if max_tokens >= max_model_len:
        raise UsageError(
            f"An answer of {max_tokens:,} tokens does not fit a context of {max_model_len:,}.",
            "Give a larger --max-model-len, or a smaller --max-tokens.",
        )


def context_flags(name: str, max_model_len: int, max_tokens: int) -> tuple[str, ...]:
    """Returns the flag for a context that was chosen, or that an answer of `max_tokens` needs."""
    check_context(name, (), max_model_len, max_tokens if name not in PAGE_MODELS else 0)
    needed = max_tokens + PICTURE_AND_PROMPT
    if not max_model_len and (name in PAGE_MODELS or needed <= REGION_CONTEXT):
        return ()
    return ("--max-model-len", str(max_model_len or needed))

"""Reads whole pages with one call each to a grounded model (DeepSeek-OCR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.engines.chat.deepseek.pages import (
    CELLS,
    FIRST,
    MAX_TOKENS,
    NgramGuard,
    check_limits,
    page_recogniser,
)
from penstock.engines.chat.deepseek.prompts import MARKDOWN
from penstock.engines.chat.deepseek.resolution import FIRST_MODEL, GUNDAM, check_resolution
from penstock.engines.vllm.context import check_context
from penstock.errors import PlanError
from penstock.stage import Stage, secret, tuning


@dataclass(frozen=True, kw_only=True)
class Ground(Stage):
    """One grounded call a page. `servers` and `in_flight` change speed, never results."""

    name: ClassVar[str] = "ground"
    worker: ClassVar[str] = "penstock.workers.ground:GroundWorker"
    reads: ClassVar[tuple[str, ...]] = ("image", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown", "attempts", "raw_answer", "shortfall")
    recogniser: str = "deepseek-ocr"
    engine: Literal["vllm", "hf"] = "vllm"  # a server, or transformers in this process
    model: str = ""  # as the server calls it, or what is loaded; the recogniser's own if empty
    resolution: str = GUNDAM  # a name, or pixels: see engines/chat/deepseek/resolution.py
    prompt: str = MARKDOWN  # the words that are sent
    ngram: int = FIRST.ngram  # the guard of the first way to ask; 0: none
    ngram_window: int = FIRST.window
    ngram_keep: tuple[int, ...] = CELLS  # tokens that no guard forbids
    max_tokens: int = MAX_TOKENS
    crops: bool = True
    servers: tuple[str, ...] = tuning(())
    preset: str = tuning("auto")
    dtype: str = tuning("auto")  # the numbers a server of our own computes with
    memory: float | None = tuning(None)  # share of a card that our own servers have; None: the preset's
    vision: str = tuning("auto")  # their vision tower: ours where it fits, or vLLM's own
    max_model_len: int = tuning(0)  # context of a server of our own; 0: the model's
    in_flight: int = tuning(0)  # pages at the servers at once; 0: the preset's
    timeout_s: float = tuning(600.0)
    trust_remote_code: bool = tuning(False)  # lets code run that comes with the weights
    api_key: str | None = secret()

    def __post_init__(self) -> None:
        page_recogniser(self.recogniser)
        if self.engine not in ("vllm", "hf"):
            raise PlanError(f"There is no engine {self.engine!r}.", "Choose from: vllm, hf.")
        check_resolution(self.resolution, self.recogniser, self.engine)
        check_limits(self.ngram, self.ngram_window, self.ngram_keep, self.max_tokens)
        self._check_context()
        self._check_trust()

    def _check_context(self) -> None:
        if self.engine == "hf" and self.max_model_len:
            raise PlanError("--max-model-len is for a server; --engine hf has none.", "Leave it out.")
        # the model's own bound of an answer is no choice of the user's: a shorter context cuts it
        asked = self.max_tokens if self.max_tokens != MAX_TOKENS else 0
        check_context(self.recogniser, self.servers, self.max_model_len, asked)

    def _check_trust(self) -> None:
        runs_code = self.engine == "hf" and self.recogniser == FIRST_MODEL
        if runs_code and not self.trust_remote_code:
            raise PlanError(
                "transformers has no DeepSeek-OCR: engine 'hf' would run code that comes with its weights.",
                "Allow that with --trust-remote-code, use --recipe grounded-2, or a server.",
            )
        if self.trust_remote_code and not runs_code:
            raise PlanError("--trust-remote-code is for --recipe grounded --engine hf.", "Leave it out.")

    @property
    def opens_early(self) -> bool:
        return self.engine == "vllm" and not self.servers  # ours take long to start

    @property
    def guard(self) -> NgramGuard:
        return NgramGuard("first", self.ngram, self.ngram_window, keep=self.ngram_keep)

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.servers

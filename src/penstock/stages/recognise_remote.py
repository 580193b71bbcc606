"""Reads regions with a vision-language model behind an OpenAI-compatible server.

Without a server one is started with the run and stopped with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.choices import SecondReading
from penstock.engines.chat.region_tasks import Margins
from penstock.engines.vllm.context import check_context
from penstock.stage import Stage, secret, tuning


@dataclass(frozen=True, kw_only=True)
class RecogniseRemote(Stage):
    """Text, tables and formulas by prompts. `servers` and `in_flight` change speed, never results."""

    name: ClassVar[str] = "recognise_remote"
    worker: ClassVar[str] = "penstock.workers.recognise_remote:RecogniseRemoteWorker"
    reads: ClassVar[tuple[str, ...]] = ("regions",)
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    recogniser: str = "glm-ocr"
    model: str = ""  # as the server calls it, or what a managed server loads; the recogniser's own if empty
    margins: Margins = "drop"
    max_tokens: int = 0  # of an answer; 0: the recogniser's own
    second_reader: SecondReading = "none"  # what reads the same pictures, to compare
    servers: tuple[str, ...] = tuning(())
    preset: str = tuning("auto")
    dtype: str = tuning("auto")  # the numbers a server of our own computes with
    memory: float | None = tuning(None)  # share of a card that our own servers have; None: the preset's
    vision: str = tuning("auto")  # its vision tower: ours where it fits, or vLLM's own
    max_model_len: int = tuning(0)  # context of a server of our own; 0: one that holds `max_tokens`
    in_flight: int = tuning(0)  # requests at the servers at once; 0: the preset's
    timeout_s: float = tuning(300.0)
    page_s: float | None = tuning(None)  # a region's, for all attempts; None: as often as the client tries
    down_s: float = tuning(900.0)  # how long a server that went away is waited for: a restart's time
    api_key: str | None = secret()

    def __post_init__(self) -> None:
        check_context(self.recogniser, self.servers, self.max_model_len, self.max_tokens)

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.servers

    @property
    def opens_early(self) -> bool:
        return not self.servers  # ours take longer to start than anything before them takes to open

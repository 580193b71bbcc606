"""Reads whole pages with one call each to a grounded model (DeepSeek-OCR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.engines.chat.deepseek import page_recogniser
from penstock.errors import PlanError
from penstock.page import Page
from penstock.stage import Stage, Worker, secret, tuning


@dataclass(frozen=True, kw_only=True)
class Ground(Stage):
    """One grounded call a page. `servers` and `in_flight` change speed, never results."""

    name: ClassVar[str] = "ground"
    reads: ClassVar[tuple[str, ...]] = ("image", "width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions", "markdown", "attempts", "raw_answer", "shortfall")
    recogniser: str = "deepseek-ocr"
    engine: Literal["vllm", "hf"] = "vllm"  # a server, or transformers in this process
    model: str = ""  # as the server calls it, or what is loaded; the recogniser's own if empty
    crops: bool = True
    servers: tuple[str, ...] = tuning(())
    preset: str = tuning("auto")
    dtype: str = tuning("auto")  # the numbers a server of our own computes with
    in_flight: int = tuning(0)  # pages at the servers at once; 0: the preset's
    timeout_s: float = tuning(600.0)
    api_key: str | None = secret()

    def __post_init__(self) -> None:
        page_recogniser(self.recogniser)
        if self.engine not in ("vllm", "hf"):
            raise PlanError(f"There is no engine {self.engine!r}.", "Choose from: vllm, hf.")
        if self.engine == "hf" and self.recogniser != "deepseek-ocr-2":
            raise PlanError(
                f"The engine 'hf' reads with deepseek-ocr-2, not {self.recogniser}.",
                "Use --recipe grounded-2.",
            )

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.servers

    def open(self) -> Worker[Page]:
        from penstock.workers.ground import GroundWorker

        return GroundWorker(self)

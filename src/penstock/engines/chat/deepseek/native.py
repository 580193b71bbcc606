"""DeepSeek-OCR-2 as transformers has it: its processor makes the views, `generate` writes the answer.

The n-gram guard is ours, and forbids what vLLM's forbids: transformers' own looks at the whole answer and
makes no exception for a table's cells.
"""

from __future__ import annotations

import io
import threading
import time
from typing import Any

from penstock.engines.chat.deepseek.pages import NgramGuard
from penstock.engines.chat.deepseek.resolution import GUNDAM, SECOND_MODEL, Resolution, resolution
from penstock.engines.chat.job import Answer
from penstock.errors import EngineError, MissingModel, install_advice

MODEL = "deepseek-community/DeepSeek-OCR-2"  # as transformers reads it; the authors' own needs their code


class NativeReader:
    """The open model. A lock lets one page at a time through."""

    def __init__(self, model: str = "", shown: Resolution | None = None, device: str = "") -> None:
        try:
            import torch
            from transformers import AutoModelForImageTextToText, AutoProcessor
        except ImportError as exc:
            raise needs_torch() from exc
        name = model or MODEL
        self._torch = torch
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if self._device.startswith("cuda") else torch.float32
        try:
            self._processor: Any = AutoProcessor.from_pretrained(name)
            network: Any = AutoModelForImageTextToText.from_pretrained(name, dtype=dtype)
        except (OSError, ValueError) as exc:
            raise MissingModel(f"{name} cannot be loaded: {exc}", "Give its folder with --model.") from exc
        self._network: Any = network.to(self._device).eval()
        self._views = self._show(shown or resolution(GUNDAM, SECOND_MODEL))
        self._lock = threading.Lock()

    def _show(self, shown: Resolution) -> dict[str, Any]:
        """Tells the processor what to make of a page.

        It counts a page's tokens by its own `size`, and takes a page that is not tiled for one tile.
        """
        self._processor.image_processor.size = {"height": shown.view, "width": shown.view}
        return {"crop_to_patches": bool(shown.tile), "tile_size": shown.tile or shown.view}

    def read(self, image: bytes, prompt: str, max_tokens: int, guard: NgramGuard) -> Answer:
        began = time.monotonic()
        inputs = self._processor(
            images=opened(image).convert("RGB"), text=f"<image>\n{prompt}", return_tensors="pt", **self._views
        )
        with self._lock, self._torch.inference_mode():
            try:
                inputs = {key: self._placed(value) for key, value in inputs.items()}
                written = self._network.generate(
                    **inputs,
                    max_new_tokens=max_tokens,
                    do_sample=False,
                    logits_processor=[NgramProcessor(guard, inputs["input_ids"].shape[1])],
                )
            except RuntimeError as exc:  # out of memory, and whatever else a kernel refuses
                raise EngineError(f"The model failed: {exc}", "Lower --dpi, or use a larger card.") from exc
        return self._answer(inputs, written, max_tokens, time.monotonic() - began)

    def _placed(self, value: Any) -> Any:
        """Moves a tensor to the model's device; pixels also get its precision, unknown to processors."""
        if not hasattr(value, "to"):
            return value
        return value.to(self._device, self._network.dtype if value.is_floating_point() else None)

    def _answer(self, inputs: dict[str, Any], written: Any, max_tokens: int, seconds: float) -> Answer:
        asked = inputs["input_ids"].shape[1]
        tokens = written[0, asked:]
        ended = has_ended(tokens, max_tokens, self._network.generation_config.eos_token_id)
        text = self._processor.tokenizer.decode(tokens, skip_special_tokens=False)
        return Answer(text, "stop" if ended else "length", asked, len(tokens), 1, seconds)

    def close(self) -> None:
        self._network = None
        if self._device.startswith("cuda"):
            self._torch.cuda.empty_cache()


class NgramProcessor:
    """Takes away what a guard forbids, as `generate` calls it: before each token of one answer."""

    def __init__(self, guard: NgramGuard, asked: int) -> None:
        self._guard = guard
        self._asked = asked  # tokens of the prompt, which an answer may repeat

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        start = max(self._asked, input_ids.shape[1] - self._guard.window)
        banned = self._guard.forbidden(input_ids[0, start:].tolist())
        if banned:
            scores[0, sorted(banned)] = -float("inf")
        return scores


def has_ended(tokens: Any, max_tokens: int, end: int | list[int] | None) -> bool:
    """Whether an answer ended by itself: with tokens to spare, or with the token that ends answers."""
    ends = end if isinstance(end, list) else [end]
    return len(tokens) < max_tokens or int(tokens[-1]) in ends


def needs_torch() -> MissingModel:
    """Returns the error for an environment without torch or transformers."""
    return MissingModel(
        "DeepSeek-OCR-2 with the engine 'hf' needs torch and transformers 5.17 or newer.",
        f"{install_advice('gpu')}, or name a server with --server.",
    )


def opened(image: bytes) -> Any:
    """Opens the picture of a page, whose size is known before it is decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(image))
    except UnidentifiedImageError as exc:
        raise EngineError("The page's picture cannot be decoded.") from exc

"""DeepSeek-OCR-2 by transformers, in this process, one page at a time: for machines without vLLM.

Has `ChatClient`'s methods, so the grounded stage can use either. The guard is transformers' own processor,
which looks at the whole answer and makes no exception for table cells: tables differ from vLLM's by
construction. Only the second model runs here: the first needs its own code and an older transformers.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Sequence
from typing import Any

from penstock.engines.chat.deepseek import NgramGuard, page_recogniser
from penstock.engines.chat.job import Answer
from penstock.engines.chat.recognisers import Recogniser
from penstock.errors import EngineError, MissingModel, install_advice

NAME = "deepseek-ocr-2"
MODEL = "deepseek-community/DeepSeek-OCR-2"  # as transformers reads it; the authors' own needs their code
_WHOLE_HISTORY_NGRAM = 35  # the authors' own, in their evaluation: shorter ones forbid a table's rows


class HfModel:
    """The weights, loaded once for all documents. Generates one answer at a time: it is not thread-safe."""

    def __init__(self, model: str = "", device: str = "") -> None:
        try:
            import torch
            from transformers import AutoModelForImageTextToText, AutoProcessor
        except ImportError as exc:
            raise MissingModel(
                "The engine 'hf' needs torch and transformers 5.16 or newer.",
                f"{install_advice('gpu')}, or name a server with --server.",
            ) from exc
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
        self._lock = threading.Lock()

    def read(self, image: bytes, prompt: str, max_tokens: int) -> Answer:
        """Reads one page. Raises EngineError if the model fails."""
        from PIL import Image, UnidentifiedImageError

        began = time.monotonic()
        try:
            with Image.open(io.BytesIO(image)) as picture:
                pixels = picture.convert("RGB")
        except UnidentifiedImageError as exc:
            raise EngineError("The page's picture cannot be decoded.") from exc
        inputs = self._processor(images=pixels, text=f"<image>\n{prompt}", return_tensors="pt")
        with self._lock, self._torch.inference_mode():
            try:
                inputs = {key: self._placed(value) for key, value in inputs.items()}
                written = self._network.generate(
                    **inputs,
                    max_new_tokens=max_tokens,
                    do_sample=False,
                    no_repeat_ngram_size=_WHOLE_HISTORY_NGRAM,
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
        ended = len(tokens) < max_tokens or int(tokens[-1]) == self._end_id
        text = self._processor.tokenizer.decode(tokens, skip_special_tokens=False)
        return Answer(text, "stop" if ended else "length", asked, len(tokens), 1, seconds)

    @property
    def _end_id(self) -> int:
        end = self._network.generation_config.eos_token_id
        return int(end[0] if isinstance(end, list) else end) if end is not None else -1

    def close(self) -> None:
        self._network = None
        if self._device.startswith("cuda"):
            self._torch.cuda.empty_cache()


class HfClient:
    """What the grounded stage calls. `guard` only names the recogniser: all guards are one here."""

    def __init__(self, model: HfModel, guard: NgramGuard) -> None:
        self.recogniser: Recogniser = page_recogniser(NAME, guard)
        self._model = model

    def ask(self, requests: Sequence[Any]) -> list[Answer | EngineError]:
        return [self._one(request) for request in requests]

    def close(self) -> None:
        """Does nothing: the stage owns the weights and closes them."""

    def _one(self, request: Any) -> Answer | EngineError:
        try:
            return self._model.read(request.image, request.prompt, request.max_tokens)
        except EngineError as exc:
            return exc

"""DeepSeek-OCR by the code that its authors publish with its weights, for users who trust that code.

transformers has no class for it. The authors' `infer` reads one picture from a file and returns the answer.
Its limits stand in its own call of `generate`, so that call goes through us: our limits go in, and how the
answer ended comes out. The code is written for transformers 4.46 and for a GPU.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from penstock.engines.chat.deepseek.native import NgramProcessor, has_ended, opened
from penstock.engines.chat.deepseek.pages import NgramGuard
from penstock.engines.chat.deepseek.resolution import FIRST_MODEL, GUNDAM, Resolution, resolution
from penstock.engines.chat.job import Answer
from penstock.errors import DISTRIBUTION, EngineError, MissingModel, OpenError, first_line

MODEL = "deepseek-ai/DeepSeek-OCR"
# Newer ones have no `LlamaFlashAttention2`, which the code imports. Our extra `gpu`, like vLLM, brings 5.
TRANSFORMERS = "transformers==4.46.3"
ENVIRONMENT = (
    "In an environment of its own, run:"
    f" pip install {DISTRIBUTION} torch torchvision {TRANSFORMERS} einops addict easydict"
)
ELSEWHERE = "Use a server (--engine vllm), or --recipe grounded-2, which needs no such code."


class RemoteCodeReader:
    """The open model. A lock lets one page at a time through."""

    def __init__(self, model: str = "", shown: Resolution | None = None, device: str = "") -> None:
        try:
            import torch
        except ImportError as exc:
            raise needs_environment() from exc
        if not device and not torch.cuda.is_available():
            raise OpenError("The code of DeepSeek-OCR's authors runs on an NVIDIA GPU only.", ELSEWHERE)
        self._tokenizer, network = load(model or MODEL)
        self._network: Any = network.eval().to(device or "cuda", torch.float32 if device else torch.bfloat16)
        self._shown = shown or resolution(GUNDAM, FIRST_MODEL)
        self._lock = threading.Lock()
        self._torch = torch

    def read(self, image: bytes, prompt: str, max_tokens: int, guard: NgramGuard) -> Answer:
        began = time.monotonic()
        with self._lock, tempfile.TemporaryDirectory(prefix="penstock-") as folder:
            path = Path(folder) / "page"
            path.write_bytes(image)
            try:
                call = _Call(self._network, guard, max_tokens)
                with call:
                    text = self._infer(path, prompt, opened(image).size)
            except (RuntimeError, ValueError, IndexError) as exc:
                raise EngineError(f"The model's own code failed: {first_line(exc)}") from exc
        ended = "stop" if call.ended else "length"
        return Answer(text, ended, call.asked, call.written, 1, time.monotonic() - began)

    def _infer(self, path: Path, prompt: str, size: tuple[int, int]) -> str:
        """The authors' own call. It prints about tensors, which must not stand among our output."""
        tiled = bool(self._shown.tile) and max(size) > self._shown.tile  # their code fails on no tiles
        with contextlib.redirect_stdout(io.StringIO()):
            said = self._network.infer(
                self._tokenizer,
                prompt=f"<image>\n{prompt}",
                image_file=str(path),
                output_path=str(path.parent),
                base_size=self._shown.view,
                image_size=self._shown.tile if tiled else self._shown.view,
                crop_mode=tiled,
                save_results=False,
                eval_mode=True,  # without it, the answer is printed and None returned
            )
        return str(said or "")

    def close(self) -> None:
        self._network = None
        if self._torch.cuda.is_available():
            self._torch.cuda.empty_cache()


class _Call:
    """One call of `generate` with our limits; notes what went in and how the answer ended."""

    def __init__(self, network: Any, guard: NgramGuard, max_tokens: int) -> None:
        self._network, self._guard, self._max_tokens = network, guard, max_tokens
        self.asked = self.written = 0
        self.ended = True

    def __enter__(self) -> _Call:
        self._plain = self._network.generate
        self._network.generate = self._generate
        return self

    def __exit__(self, *_: object) -> None:
        del self._network.generate  # the class's own is seen again

    def _generate(self, input_ids: Any, **settings: Any) -> Any:
        self.asked = input_ids.shape[1]
        settings["max_new_tokens"] = self._max_tokens
        settings["no_repeat_ngram_size"] = 0  # it knows no window and spares no table cells
        settings["logits_processor"] = [NgramProcessor(self._guard, self.asked)]
        output = self._plain(input_ids, **settings)
        tokens = output[0, self.asked :]
        self.written = len(tokens)
        self.ended = has_ended(tokens, self._max_tokens, settings.get("eos_token_id"))
        return output


def needs_environment() -> MissingModel:
    """Returns the error for an environment without torch or transformers."""
    return MissingModel(
        f"DeepSeek-OCR with the engine 'hf' needs torch and {TRANSFORMERS}.", f"{ENVIRONMENT}. {ELSEWHERE}"
    )


def load(name: str) -> tuple[Any, Any]:
    """Returns tokenizer and network. Runs code that comes with the weights."""
    try:
        from transformers import AutoModel, AutoTokenizer, __version__
    except ImportError as exc:
        raise needs_environment() from exc
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=True)
        return tokenizer, AutoModel.from_pretrained(name, trust_remote_code=True, use_safetensors=True)
    except ImportError as exc:
        raise MissingModel(
            f"The code of {name} does not load with transformers {__version__}: {first_line(exc)}.",
            f"{ENVIRONMENT}. {ELSEWHERE}",
        ) from exc
    except (OSError, ValueError) as exc:
        raise MissingModel(f"{name} cannot be loaded: {first_line(exc)}", "Give --model its folder.") from exc

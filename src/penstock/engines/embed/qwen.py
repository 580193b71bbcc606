"""Qwen3-VL-Embedding in transformers, on this machine's GPU or CPU.

A text or a picture with its caption becomes one conversation: the instruction as system message, then the
user's. The vector is the last layer's state at the last attended token, cut to `dimensions` and scaled to
length 1. Inputs are sorted by length and batched under a budget of padded tokens, so that short texts do not
wait behind a page of 1,280 picture tokens. Threads decode, scale and upload pictures while the network works.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.engines.embed.embedder import punctuated, unit_rows
from penstock.errors import EngineError, MissingModel, UsageError, install_advice
from penstock.processes.resources import cores

if TYPE_CHECKING:
    from penstock.engines.embed.embedder import Vectors

MODEL = "Qwen/Qwen3-VL-Embedding-2B"
MAX_TOKENS = 8_192  # of one input; the model's own default, it can take 32,768
MAX_IMAGE_TOKENS = 1_280  # the model saw no more of a picture in training
PIXELS_A_TOKEN = 32 * 32  # patches of 16, merged two by two
MIN_PIXELS = 4 * PIXELS_A_TOKEN
BATCH_TOKENS = 32_768  # padded; 25 pages of 1,280: the H200 is full, and the CPU test takes one batch
TEMPLATE_TOKENS = 64  # the instruction and the marks around the user's words
MAX_THREADS = 12  # that prepare pictures: one takes 0.1 s of a core for a page, an H200 some 20 ms
OF_PICTURES = ("pixel_values", "image_grid_thw")  # laid end to end; all else is a row for each input


@dataclass(frozen=True, slots=True)
class EmbedInput:
    """What is embedded, ready for the network, with its length in tokens."""

    place: int
    text: str  # rendered by the chat template
    picture: Any  # a PIL image, not decoded yet, or None
    length: int


class QwenEmbedder:
    """Holds the network. Calls take turns, one batch at a time, with inputs prepared beforehand."""

    takes_images = True

    def __init__(
        self,
        model: str = MODEL,
        dimensions: int | None = None,
        device: str = "",
        max_image_tokens: int = MAX_IMAGE_TOKENS,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        try:
            import torch
            from transformers import AutoProcessor, Qwen3VLModel
        except ImportError as exc:
            raise MissingModel("torch and transformers are not installed.", install_advice("gpu")) from exc
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if self._device.startswith("cuda") else torch.float32
        try:
            self._model = Qwen3VLModel.from_pretrained(model, dtype=dtype).to(self._device).eval()
            self._processor = AutoProcessor.from_pretrained(model, padding_side="right")
        except (ImportError, OSError, ValueError) as exc:
            raise MissingModel(
                f"The model {model!r} cannot be loaded: {exc}", "Check its name or folder."
            ) from exc
        width = int(self._model.config.text_config.hidden_size)
        if dimensions is not None and not 0 < dimensions <= width:
            raise UsageError(
                f"{model} gives {width} numbers; --dimensions {dimensions} is not a part of them."
            )
        self._dimensions = dimensions
        self._max_image_tokens = max_image_tokens
        self._batch_tokens = batch_tokens
        self._lock = threading.Lock()
        on_card = self._device.startswith("cuda")
        self._dtype = dtype
        # a stream of its own: on the network's, an upload would wait for the batch before
        self._upload = torch.cuda.Stream(self._device) if on_card else None
        self._pool = ThreadPoolExecutor(min(MAX_THREADS, cores()), thread_name_prefix="pictures")

    def texts(self, texts: Sequence[str], instruction: str = "") -> Vectors:
        return self._embed([(None, text) for text in texts], instruction)

    def images(self, images: Sequence[bytes], captions: Sequence[str], instruction: str = "") -> Vectors:
        pictures = [_opened(image) for image in images]
        return self._embed(list(zip(pictures, captions, strict=True)), instruction)

    def close(self) -> None:
        self._pool.shutdown()
        del self._model

    def _embed(self, pairs: Sequence[tuple[Any, str]], instruction: str) -> Vectors:
        import numpy as np

        inputs = [self._input(place, *pair, instruction) for place, pair in enumerate(pairs)]
        rows: dict[int, Any] = {}
        for batch in buckets(inputs, self._batch_tokens):
            made = self._tensors(batch)
            with self._lock:
                states = self.forward(made).float().cpu().numpy()
            rows |= {one.place: row for one, row in zip(batch, states, strict=True)}
        return unit_rows(np.stack([rows[place] for place in range(len(inputs))]), self._dimensions)

    def _input(self, place: int, picture: Any, words: str, instruction: str) -> EmbedInput:
        content: list[dict[str, Any]] = [{"type": "image"}] if picture is not None else []
        room = MAX_TOKENS - TEMPLATE_TOKENS - (self._max_image_tokens if content else 0)
        words, length = self._cut(words.strip() or ("" if content else "NULL"), room)
        if words:
            content.append({"type": "text", "text": words})
        conversation = [
            {"role": "system", "content": [{"type": "text", "text": punctuated(instruction)}]},
            {"role": "user", "content": content},
        ]
        text = self._processor.apply_chat_template(conversation, add_generation_prompt=True, tokenize=False)
        seen = self._image_tokens(picture) if picture is not None else 0
        return EmbedInput(place, text, picture, length + seen + TEMPLATE_TOKENS)

    def _cut(self, words: str, room: int) -> tuple[str, int]:
        """Cuts the words to `room` tokens, before the template is applied so that its marks stay."""
        tokenizer = self._processor.tokenizer
        tokens = tokenizer(words, add_special_tokens=False)["input_ids"]
        if len(tokens) <= room:
            return words, len(tokens)
        cut: str = tokenizer.decode(tokens[:room])
        return cut, room

    def _image_tokens(self, picture: Any) -> int:
        return int(min(self._max_image_tokens, max(4, picture.width * picture.height // PIXELS_A_TOKEN)))

    def prepared(self, images: Sequence[bytes], texts: Sequence[str]) -> list[Any]:
        """Returns the network's inputs, batch by batch on its device, for benchmarks of the network alone."""
        pairs = [*((_opened(image), "") for image in images), *((None, text) for text in texts)]
        inputs = [self._input(place, *pair, "") for place, pair in enumerate(pairs)]
        return [self._tensors(batch) for batch in buckets(inputs, self._batch_tokens)]

    def forward(self, made: Any) -> Any:
        """The last layer's states at the last attended tokens, on the device."""
        import torch

        with torch.inference_mode():
            states = self._model(**made).last_hidden_state
        last = made["attention_mask"].sum(dim=1) - 1  # padded on the right
        return states[torch.arange(len(last), device=states.device), last]

    def _tensors(self, batch: Sequence[EmbedInput]) -> Any:
        """Moves a batch, all pictures or all texts, to the network's device."""
        import torch

        if batch[0].picture is None:
            made = dict(self._processor(text=[one.text for one in batch], padding=True, return_tensors="pt"))
        else:
            made = _collated(list(self._pool.map(self._seen, batch)), self._processor.tokenizer.pad_token_id)
        with torch.cuda.stream(self._upload) if self._upload else nullcontext():
            there = {key: value.to(self._device) for key, value in made.items()}
        if self._upload is not None:
            self._upload.synchronize()
        return there

    def _seen(self, one: EmbedInput) -> Any:
        """Prepares one picture with its words for the network; pixels in the precision of the upload."""
        sized = {"shortest_edge": MIN_PIXELS, "longest_edge": self._max_image_tokens * PIXELS_A_TOKEN}
        picture = _decoded(one.picture)
        made = self._processor(
            text=[one.text], images=[picture], images_kwargs={"size": sized}, return_tensors="pt"
        )
        return {**made, "pixel_values": made["pixel_values"].to(self._dtype)}


def _collated(inputs: Sequence[Any], pad: int) -> dict[str, Any]:
    """Joins inputs of one picture each to one batch, padded on the right."""
    import torch

    made = {}
    for key in inputs[0]:
        values = [one[key] for one in inputs]
        if key in OF_PICTURES:
            made[key] = torch.cat(values)
        else:
            fill = pad if key == "input_ids" else 0
            rows = [value[0] for value in values]
            made[key] = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=fill)
    return made


def buckets(inputs: Sequence[EmbedInput], max_tokens: int) -> Iterator[list[EmbedInput]]:
    """Batches of like lengths whose padded size stays under `max_tokens`; pictures and texts apart."""
    batch: list[EmbedInput] = []
    for one in sorted(inputs, key=lambda one: (one.picture is None, -one.length)):
        # sorted downwards, so the first is the longest: what all are padded to
        full = batch and (len(batch) + 1) * batch[0].length > max_tokens
        if full or (batch and (batch[0].picture is None) != (one.picture is None)):
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def _opened(image: bytes) -> Any:
    """Opens the picture and reads its size only."""
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(image))
    except (UnidentifiedImageError, OSError) as exc:
        raise EngineError("A picture cannot be opened.") from exc


def _decoded(picture: Any) -> Any:
    try:
        return picture.convert("RGB")
    except OSError as exc:
        raise EngineError("A picture cannot be decoded.") from exc

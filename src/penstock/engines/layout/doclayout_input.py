"""Pages as PP-DocLayoutV3 wants them: 800 x 800, bicubic, 0..1, on the network's device.

The same numbers as the model's own processor gives for a picture on a GPU, without the processor, and
within 1/255 of the OpenCV resize the model was trained with. JPEGs are decoded on the GPU where
torchvision's nvJPEG is there; everything else goes to CPU threads.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.engines.image.decode import PictureFile, decode, is_plain
from penstock.engines.layout.torch_import import functional, torch
from penstock.errors import BadInput

if TYPE_CHECKING:
    from penstock.box import Pixels

Tensor = Any

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageBatch:
    """A batch ready for the network. `sizes` are (width, height) in pixels of the pictures themselves."""

    pixels: Tensor
    sizes: list[tuple[int, int]]


class PageInput:
    """Decodes and scales. Close it: it owns threads."""

    def __init__(self, size: int, device: str, dtype: Any, threads: int = 8) -> None:
        self._size, self._device, self._dtype = size, device, dtype
        self._decode_jpegs = _nvjpeg(device)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="layout-decode")
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="layout-ahead")

    def close(self) -> None:
        self._ahead.shutdown(wait=True, cancel_futures=True)
        self._threads.shutdown(wait=True, cancel_futures=True)

    def load_ahead(self, batches: Sequence[Sequence[bytes | Pixels]]) -> Iterator[PageBatch]:
        """Loads the batches in order, each while the caller works on the one before."""
        waiting: Future[PageBatch] | None = None
        for batch in batches:
            loading = self._ahead.submit(self.load, batch)
            if waiting is not None:
                yield waiting.result()
            waiting = loading
        if waiting is not None:
            yield waiting.result()

    def load(self, images: Sequence[bytes | Pixels]) -> PageBatch:
        """Raises BadInput, before anything is scaled, when one of the pictures is broken."""
        pictures = self._pictures(images)
        scaled = torch.empty(
            (len(pictures), 3, self._size, self._size), dtype=self._dtype, device=self._device
        )
        for place, picture in enumerate(pictures):  # one by one: a stack of full pages would be gigabytes
            scaled[place] = scale(picture, self._size)
        return PageBatch(scaled, [(int(p.shape[2]), int(p.shape[1])) for p in pictures])

    def _pictures(self, images: Sequence[bytes | Pixels]) -> list[Tensor]:
        """Tensors (3, height, width) of bytes on the device."""
        on_gpu = [i for i, image in enumerate(images) if self._decode_jpegs and _is_plain_jpeg(image)]
        waiting = {
            i: self._threads.submit(_on_cpu, image) for i, image in enumerate(images) if i not in set(on_gpu)
        }
        done: dict[int, Tensor] = {}
        if on_gpu and self._decode_jpegs:
            try:
                decoded = self._decode_jpegs([images[i] for i in on_gpu])
            except RuntimeError as exc:  # nvJPEG names no picture: let the CPU find it, or do better
                log.warning("nvJPEG refused a batch of %d, decoding it on the CPU: %s", len(on_gpu), exc)
                waiting |= {i: self._threads.submit(_on_cpu, images[i]) for i in on_gpu}
            else:
                done = dict(zip(on_gpu, decoded, strict=True))
        for i, picture in waiting.items():
            done[i] = torch.from_numpy(picture.result()).to(self._device).permute(2, 0, 1)
        return [done[i] for i in range(len(images))]


def scale(picture: Tensor, size: int) -> Tensor:
    """(3, height, width) of bytes to (3, size, size) in 0..1, rounded to whole steps of 1/255."""
    whole = picture.unsqueeze(0).float()
    if tuple(picture.shape[1:]) != (size, size):
        whole = functional.interpolate(whole, size=(size, size), mode="bicubic", align_corners=False)
    return whole.clamp_(0, 255).round_().div_(255).squeeze(0)


def _on_cpu(image: bytes | Pixels) -> Pixels:
    pixels = decode(image).pixels if isinstance(image, bytes) else image
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or 0 in pixels.shape:
        raise BadInput(f"a page must be RGB bytes, height x width x 3, not {pixels.dtype} {pixels.shape}.")
    return np.ascontiguousarray(pixels) if pixels.flags.writeable else pixels.copy()


def _is_plain_jpeg(image: bytes | Pixels) -> bool:
    """Whether nvJPEG decodes it as a viewer would: whole, grey or RGB, not turned by EXIF."""
    if not isinstance(image, bytes) or not image.startswith(b"\xff\xd8"):
        return False
    with PictureFile(io.BytesIO(image)) as frames:
        return is_plain(image, frames.image)


def _nvjpeg(device: str) -> Any:
    """A function that decodes a list of JPEGs to tensors on the GPU, or None."""
    if not device.startswith("cuda"):
        return None
    try:
        from torchvision.io import ImageReadMode, decode_jpeg
    except (ImportError, RuntimeError) as exc:  # RuntimeError: a torchvision built for another torch
        log.info("JPEGs are decoded on the CPU: torchvision cannot be loaded (%s)", exc)
        return None

    def on_gpu(images: list[bytes]) -> list[Tensor]:
        # bytearray: torch wants memory it may write to
        encoded = [torch.frombuffer(bytearray(image), dtype=torch.uint8) for image in images]
        return list(decode_jpeg(encoded, mode=ImageReadMode.RGB, device=device))

    return on_gpu

"""Finds the blocks of pages, and the order they are read in, with PP-DocLayoutV3 on a GPU.

Batches have one fixed shape whatever documents their pages come from, so that the network can be compiled
and replayed. Runs on a CPU too, at seconds a page. clean.py cleans what the network finds, polygons.py
makes outlines on request.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.choices import Precision
from penstock.engines.image.codec import encode_jpeg
from penstock.engines.layout.clean import FoundBoxes, Rules, clean
from penstock.engines.layout.doclayout_input import PageInput
from penstock.engines.layout.doclayout_net import LayoutNet, masks_of
from penstock.engines.layout.doclayout_output import PlacedDetection, found_in, placed
from penstock.engines.layout.torch_import import missing, torch
from penstock.errors import EngineError, MissingModel, OpenError, first_line
from penstock.region import LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

MODEL = "PaddlePaddle/PP-DocLayoutV3_safetensors"
SIZE = 800  # the side of the network's input, whatever the page's shape
WARM_UP_QUALITY = 95
WARM_UPS = 2  # runs before a capture: the first picks its convolutions, the second has settled

log = logging.getLogger(__name__)


class DocLayoutEngine:
    """The open model. `detect` may be called from many threads; the GPU takes one batch at a time.

    `model` is a checkpoint's folder or its name on the Hugging Face Hub. "fp16" means half precision
    for the network where the device has it (a CPU runs fp32); boxes are float32 either way. `compile`
    takes a minute and a half to save a millisecond a page on a GPU: it pays from some 85,000 pages.

        layout = DocLayoutEngine(batch=64)
        for blocks in layout.detect([jpeg_bytes, rgb_array]):
            print([(block.order, block.label, block.box) for block in blocks])
    """

    def __init__(
        self,
        model: str = MODEL,
        device: str = "auto",
        batch: int = 16,
        compile: bool = False,
        precision: Precision = "fp16",
        polygons: bool = False,
        threshold: float = 0.3,
        rules: Rules | None = None,
    ) -> None:
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if compile and not device.startswith("cuda"):
            raise OpenError("The layout network is compiled for a GPU only.", "Leave out --layout-compile.")
        self._open(load_model(model), device, dtype_of(precision, device), batch, compile)
        self._polygons = polygons
        self._rules = rules or Rules(threshold=threshold)

    def _open(self, network: Any, device: str, dtype: Any, batch: int, compile: bool) -> None:
        self._native = native_labels(network.config)
        self._batch = batch
        self._input = PageInput(SIZE, device, dtype)
        net = LayoutNet(network, SIZE, device, dtype)
        shape = (batch, 3, SIZE, SIZE)
        self._network = FixedBatch(net, shape, device, dtype, compile) if device.startswith("cuda") else net
        self._lock = threading.Lock()
        if device.startswith("cuda"):
            self._warm_up()

    def _warm_up(self) -> None:
        """One page through all of it: the first call of nvJPEG and of each kernel takes half a second."""
        page = np.full((3508, 2480, 3), 255, dtype=np.uint8)  # A4 at 300 dpi, as large as pages usually are
        self._run(self._input.load([encode_jpeg(page, WARM_UP_QUALITY)]).pixels)

    def close(self) -> None:
        self._input.close()

    def detect(self, images: Sequence[bytes | Pixels]) -> list[list[PlacedDetection]]:
        """The blocks of each page in reading order. Raises BadInput when a picture is broken."""
        return list(self._pages(images))

    def _pages(self, images: Sequence[bytes | Pixels]) -> Iterator[list[PlacedDetection]]:
        batches = [images[start : start + self._batch] for start in range(0, len(images), self._batch)]
        for pages in self._input.load_ahead(batches):
            with self._lock:
                output, rows = self._run(pages.pixels)
                found = [self._cleaned(r, size) for r, size in zip(rows, pages.sizes, strict=True)]
                masks = [self._masks(output, i, page) for i, page in enumerate(found)]
            for page in zip(found, pages.sizes, masks, strict=True):
                yield placed(self._native, *page)

    def _run(self, pixels: Any) -> tuple[Any, NDArray[np.float32]]:
        try:
            with torch.inference_mode():
                output = self._network(pixels)
                # float32 by construction; said once more, since numpy knows no bfloat16
                return output, output.rows[: len(pixels)].float().cpu().numpy()
        except torch.cuda.OutOfMemoryError as exc:
            raise EngineError(
                f"The layout network found no GPU memory for {len(pixels)} pages at once.",
                "Choose a smaller layout batch, or leave more of the card free of model servers.",
            ) from exc

    def _cleaned(self, rows: NDArray[np.float32], size: tuple[int, int]) -> FoundBoxes:
        return clean(found_in(rows, *size, self._rules.lowest_threshold), *size, self._rules)

    def _masks(self, output: Any, page: int, found: FoundBoxes) -> Any:
        if not self._polygons or len(found) == 0:
            return None
        return masks_of(output, page, found.query.tolist(), self._rules.threshold)


class FixedBatch:
    """Calls a network on batches of one shape: captured as a CUDA graph, compiled before if asked to.

    On a card that a model server keeps busy, a thousand launches wait a thousand times for their turn, and
    one launch once. What cannot be captured runs as it is, with a warning. Smaller batches are filled up;
    what lies beyond them in the output means nothing. The output is overwritten by the next call.
    """

    def __init__(
        self, net: Any, shape: tuple[int, int, int, int], device: str, dtype: Any, compile: bool
    ) -> None:
        self._eager = net
        self._pixels = torch.zeros(shape, dtype=dtype, device=device).contiguous(
            memory_format=torch.channels_last
        )
        self._call, self.mode = self._eager, "eager"
        self._graph, self._output = None, None
        try:
            with _best_convolutions(), torch.inference_mode():
                if compile:
                    self._compile()
                self._capture()
        except Exception as exc:  # both only save time: whatever stops them, the network still runs
            log.warning("the layout network runs %s: %s: %s", self.mode, type(exc).__name__, exc)

    def _compile(self) -> None:
        compiled = torch.compile(self._eager, dynamic=False)
        compiled(self._pixels)
        self._call, self.mode = compiled, "compiled"

    def _capture(self) -> None:
        """Records the kernels of one call, so that a batch is one launch and not hundreds."""
        beside = torch.cuda.Stream()  # capturing wants what was warmed up on another stream than the default
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(WARM_UPS):
                self._call(self._pixels)
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output = self._call(self._pixels)
        self._graph, self._output, self.mode = graph, output, "captured"

    def __call__(self, pixels: Any) -> Any:
        self._pixels[: len(pixels)].copy_(pixels)
        if self._graph is not None:
            self._graph.replay()
            return self._output
        with _best_convolutions():
            return self._call(self._pixels)


def _best_convolutions() -> Any:
    """Lets cuDNN try its algorithms and keep the best: it pays where all shapes stay the same."""
    return torch.backends.cudnn.flags(enabled=True, benchmark=True)  # `enabled` is off unless said


def dtype_of(precision: Precision, device: str) -> Any:
    """Returns what the network computes in. A CPU has no fast float16, so it computes in float32 then."""
    if precision == "bf16":
        return torch.bfloat16
    return torch.float16 if precision == "fp16" and device.startswith("cuda") else torch.float32


def load_model(model: str) -> Any:
    """The transformers model in float32, from a folder, the local cache or the hub."""
    try:
        from transformers import PPDocLayoutV3ForObjectDetection
    except ModuleNotFoundError as exc:
        raise missing(exc) from exc
    try:
        return PPDocLayoutV3ForObjectDetection.from_pretrained(model, dtype="float32")
    except (OSError, ValueError) as exc:
        where = "in that folder" if Path(model).is_dir() else "there, in the local cache or on the hub"
        raise MissingModel(
            f"No PP-DocLayoutV3 weights could be loaded from {model!r}: none {where} ({first_line(exc)}).",
            f"Run: hf download {MODEL}, or name the folder that holds config.json and model.safetensors.",
        ) from exc


def native_labels(config: Any) -> tuple[str, ...]:
    """The checkpoint's own words for our labels, which are its classes in its own order."""
    if config.num_labels != len(LABELS):
        raise OpenError(
            f"The layout checkpoint has {config.num_labels} classes, not PP-DocLayoutV3's {len(LABELS)}.",
            f"Use {MODEL} or a model trained from it with the same classes.",
        )
    return tuple(str(config.id2label[i]) for i in range(len(LABELS)))

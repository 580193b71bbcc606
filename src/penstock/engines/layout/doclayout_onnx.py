"""Finds the blocks of pages, and the order they are read in, with PP-DocLayoutV3 on a CPU.

The publisher's own ONNX file, which holds what comes before and after the network too: it takes the
picture, its size and how it was scaled, and returns rows of class, score, box in the page's pixels and rank.
doclayout.py runs the same network with torch; clean.py cleans what either finds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from penstock.engines.layout.clean import FoundBoxes, Rules, clean
from penstock.engines.layout.doclayout_output import PlacedDetection, placed
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import open_session
from penstock.errors import EngineError, MissingModel, OpenError, first_line
from penstock.region import LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

NAME = "pp-doclayoutv3"
SIZE = 800  # the side of the network's input, whatever the page's shape
INPUTS = ("image", "im_shape", "scale_factor")
OUTPUTS = 2  # rows, and their number; the third are outlines
ROW = 7  # class, score, four sides, rank in reading order


class DocLayoutOnnx:
    """The open model. `detect` may be called from many threads.

    `model` is an ONNX file; "" is the one that `penstock models fetch pp-doclayoutv3` brings. Takes seconds
    a page.

        layout = DocLayoutOnnx()
        blocks = layout.detect(pixels)
    """

    def __init__(self, model: str = "", threads: int = 1, rules: Rules | None = None) -> None:
        path = Path(model) if model else weights.path(NAME)
        if not path.is_file():
            raise MissingModel(f"There is no layout model {model}.", "Name a file that ends in .onnx.")
        self._rules = rules or Rules()
        self._name = path.name
        # one input shape for ever, so the arena stays flat
        self._session: Any = open_session(path, threads, arena=True, name=path.name)
        self._outputs = [each.name for each in self._session.get_outputs()][
            :OUTPUTS
        ]  # outlines are not needed
        given = {each.name for each in self._session.get_inputs()}
        if given != set(INPUTS) or len(self._outputs) != OUTPUTS:
            raise _not_ours(path.name)

    def detect(self, pixels: Pixels) -> list[PlacedDetection]:
        """The page's blocks in reading order."""
        height, width = pixels.shape[:2]
        if height < 1 or width < 1:
            raise EngineError(f"Layout needs a picture, not one of {width} x {height} pixels.")
        found = found_in(self._run(pixels), self._rules.lowest_threshold)
        return placed(LABELS, clean(found, width, height, self._rules), (width, height))

    def close(self) -> None:
        self._session = None

    def _run(self, pixels: Pixels) -> NDArray[np.float32]:
        """The rows of one page."""
        if self._session is None:
            raise EngineError("The layout model was closed and cannot run.")
        try:
            rows, counts = self._session.run(self._outputs, prepare(pixels))
        except Exception as exc:  # onnxruntime's exceptions share no base but this
            raise EngineError(f"The layout model failed on a picture: {first_line(exc)}") from exc
        if rows.ndim != 2 or rows.shape[1] < ROW or counts.shape != (1,):
            raise _not_ours(self._name)
        found: NDArray[np.float32] = rows[: int(counts[0])]
        return found


def prepare(pixels: Pixels) -> dict[str, NDArray[np.float32]]:
    """What the network is given of a picture: 800 x 800, bicubic, 0..1, and how it was scaled."""
    height, width = pixels.shape[:2]
    small = cv2.resize(pixels, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    image: NDArray[np.float32] = np.ascontiguousarray(small.transpose(2, 0, 1)[None], dtype=np.float32)
    image /= 255
    return {
        "image": image,
        "im_shape": np.array([[SIZE, SIZE]], dtype=np.float32),
        "scale_factor": np.array([[SIZE / height, SIZE / width]], dtype=np.float32),
    }


def found_in(rows: NDArray[np.float32], threshold: float) -> FoundBoxes:
    """Rows as columns of boxes; padding has class -1, and what is not finite is no box."""
    known = (rows[:, 0] >= 0) & (rows[:, 0] < len(LABELS)) & np.isfinite(rows).all(axis=1)
    rows = rows[known & (rows[:, 1] >= threshold)]
    kept = rows.astype(np.float64)
    labels, order = kept[:, 0].astype(np.int64), kept[:, 6].astype(np.int64)
    return FoundBoxes(labels, kept[:, 1], kept[:, 2:6], order, np.arange(len(kept)))


def _not_ours(name: str) -> OpenError:
    return OpenError(
        f"{name} is not PP-DocLayoutV3 as its publisher exports it to ONNX.",
        "Run: penstock models fetch pp-doclayoutv3. Or name its publisher's inference.onnx.",
    )

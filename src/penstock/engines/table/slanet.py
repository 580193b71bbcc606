"""Finds the rows, columns and spans of a table with slanet-plus.

The network writes the table's HTML token by token and gives a box for each cell. It sees a
picture of 488 x 488 pixels, so a long table with small print is beyond it. It does not read text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import cv2
import numpy as np

from penstock.box import Box
from penstock.engines.weights import registry as weights
from penstock.engines.weights.onnx import Network
from penstock.errors import EngineError, OpenError
from penstock.region import TableCell, TableGrid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.box import Pixels

    Floats = NDArray[np.float32]

SIDE = 488  # of the network's square input; what the picture leaves of it is zero
MEAN = (0.485, 0.456, 0.406)  # ImageNet's, in the order the model's package applies them: to B, G, R
STD = (0.229, 0.224, 0.225)

START, END = "sos", "eos"  # stand before and after the tokens the file names
MAX_STEPS = 501  # the network writes no more; about 90 rows of 3 cells
# 31 real tables got 0.977 to 1.0. A weak guard: white paper got 0.85 to 0.99, noise 0.87 to 0.98.
MIN_SCORE = 0.96
CELL_TOKENS = ("<td></td>", "<td", "<td>")


class SlanetTable:
    """The open model. `structure` may be called from many threads.

    grid = SlanetTable().structure(crop)
    """

    def __init__(self, threads: int = 1) -> None:
        self._network = Network(weights.path("slanet-plus"), threads)
        self._tokens = _tokens(self._network.metadata)

    def structure(self, pixels: Pixels) -> TableGrid:
        """The grid of the table in the picture, empty when the network is unsure.

        It cannot tell a picture without a table: give it only what a layout calls one.
        """
        height, width = pixels.shape[:2]
        if height < 1 or width < 1:
            raise EngineError(f"A table needs a picture, not one of {width} x {height} pixels.")
        places, odds = self._network(prepare(pixels))
        return decode(places[0], odds[0], self._tokens, (height, width))

    def close(self) -> None:
        self._network.close()


def prepare(pixels: Pixels) -> Floats:
    """The picture as the network wants it: scaled into the top left, planes apart and blue first."""
    height, width = pixels.shape[:2]
    scale = SIDE / max(height, width)
    size = (max(1, int(width * scale)), max(1, int(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR)
    planes = np.zeros((1, 3, SIDE, SIDE), dtype=np.float32)
    for i, plane in enumerate(reversed(cv2.split(small))):
        planes[0, i, : size[1], : size[0]] = (plane / np.float32(255) - MEAN[i]) / STD[i]
    return planes


def decode(places: Floats, odds: Floats, tokens: Sequence[str], shape: tuple[int, int]) -> TableGrid:
    """Builds the grid from the network's two outputs: a box and token odds for each step.

    Empty when the network is not sure, or stopped before the table's end.
    """
    chosen = [tokens[i] for i in odds.argmax(axis=1)]
    steps = next((step for step, token in enumerate(chosen) if step > 0 and token == END), len(chosen))
    score = float(odds[:steps].max(axis=1).mean()) if steps else 0.0
    if steps == MAX_STEPS or score < MIN_SCORE:
        return TableGrid()
    grid = _GridBuilder()
    for step in range(steps):
        grid.take(chosen[step], _box(places[step], shape))
    return grid.finished()


class _GridBuilder:
    """Places cells as a browser would: each in the first free slot of its row."""

    def __init__(self) -> None:
        self._rows = 0
        self._head = 0  # rows of the heading
        self._open: TableCell | None = None
        self._cells: list[TableCell] = []
        self._taken: set[tuple[int, int]] = set()

    def take(self, token: str, box: Box) -> None:
        if token == "<tr>":
            self._rows += 1
        elif token in CELL_TOKENS:
            self._close()
            self._open = TableCell(max(0, self._rows - 1), 0, box=box)
        elif token.startswith((" colspan=", " rowspan=")) and self._open is not None:
            span = int(token.split('"')[1])
            cell = self._open
            is_down = "rowspan" in token
            self._open = cell._replace(row_span=span) if is_down else cell._replace(column_span=span)
        elif token in ("</td>", "</tr>"):
            self._close()
        elif token == "</thead>":
            self._head = self._rows

    def _close(self) -> None:
        cell, self._open = self._open, None
        if cell is None:
            return
        column = 0
        while (cell.row, column) in self._taken:
            column += 1
        spans = product(range(cell.row_span), range(cell.column_span))
        self._taken |= {(cell.row + r, column + c) for r, c in spans}
        self._cells.append(cell._replace(column=column))

    def finished(self) -> TableGrid:
        self._close()
        rows = max((cell.row for cell in self._cells), default=-1) + 1
        columns = max((cell.column + cell.column_span for cell in self._cells), default=0)
        # a span past the last row is the network's guess of rows that it did not write
        cells = (cell._replace(row_span=min(cell.row_span, rows - cell.row)) for cell in self._cells)
        return TableGrid(rows, columns, tuple(cells), min(self._head, rows))


def _box(corners: Floats, shape: tuple[int, int]) -> Box:
    """Upright box in the picture's pixels. Corners come as shares of the padded square's side."""
    height, width = shape
    points = corners.reshape(4, 2) * max(height, width)
    x0, y0 = np.clip(points.min(axis=0), 0, (width, height))
    x1, y1 = np.clip(points.max(axis=0), 0, (width, height))
    return float(x0), float(y0), float(x1), float(y1)


def _tokens(metadata: dict[str, str]) -> list[str]:
    """The network's vocabulary. A cell without spans is one token, so a bare <td> has no number."""
    try:
        named = metadata["character"].splitlines()
    except KeyError as exc:
        raise OpenError("slanet-plus names no tokens.", "Run: penstock models verify") from exc
    tokens = [token for token in named if token != "<td>"]
    if "<td></td>" not in tokens:
        tokens.append("<td></td>")
    return [START, *tokens, END]

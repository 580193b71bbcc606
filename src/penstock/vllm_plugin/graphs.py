"""CUDA graphs of a tower for few patches at once, or for pictures of known shapes.

A server that reads crops encodes two or three pictures a step, and the CPU needs longer to launch a tower's
kernels (10 ms) than the card to run them. A graph is one launch. Attention reads the pictures' bounds when a
graph runs, so one graph serves every set of pictures with no more patches than it was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from penstock.vllm_plugin.pictures import Grid, Pictures, layout, pictures_of, to_card

Tensor = Any

STEP = 512  # patches: what is computed in vain is half of that on average
MAX_PATCHES = 8_192  # some 20 ms of an H200, longer than the launches; 235 MB for the widest layer
MAX_PICTURES = 32


class _Recorder:
    """Makes graphs that take their memory from the same place."""

    def __init__(self) -> None:
        self._pool = torch.cuda.graph_pool_handle()
        self._side = torch.cuda.Stream()  # one for all: what is free belongs to the stream that used it

    def recorded(self, run: Callable[[], None]) -> Any:
        run()  # once outside: kernels are compiled and products chosen at their first run
        graph = torch.cuda.CUDAGraph()
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side):
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                run()
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(self._side)
        return graph


class Graphs:
    """Graphs of `compute` for up to MAX_PATCHES, all made at once and in the same memory."""

    def __init__(self, compute: Callable[[Pictures], Tensor], pixels: Tensor, merge: int, width: int) -> None:
        """`pixels` are MAX_PATCHES patches of zeros; `width` is that of a token that comes out."""
        self._compute = compute
        self._merge = merge
        self._pixels = pixels
        # no zeros: how many rows a picture has is divided by
        self._spots = pixels.new_ones((MAX_PATCHES, 4), dtype=torch.int32)
        self._bounds = pixels.new_zeros(MAX_PICTURES + 1, dtype=torch.int32)
        self._out = pixels.new_zeros((MAX_PATCHES // merge**2, width))
        recorder = _Recorder()
        self._graphs: dict[int, Any] = {}
        for size in range(MAX_PATCHES, 0, -STEP):  # the largest first: the others fit into its memory
            self._graphs[size] = recorder.recorded(lambda size=size: self._run(size))  # type: ignore[misc]

    def fits(self, grid: Grid) -> bool:
        patches, pictures = sum(t * h * w for t, h, w in grid), sum(row[0] for row in grid)
        return patches <= MAX_PATCHES and pictures <= MAX_PICTURES

    def __call__(self, pixels: Tensor, grid: Grid) -> Tensor:
        """Returns what `compute` returns. The pictures must fit."""
        spots, bounds = layout(grid, self._merge)
        patches, device = pixels.shape[0], self._pixels.device
        self._pixels[:patches].copy_(pixels)
        self._spots[:patches].copy_(to_card(spots, device))
        # the rest are pictures without patches
        padded = torch.full((MAX_PICTURES + 1,), patches, dtype=torch.int32)
        padded[: len(bounds)] = bounds
        self._bounds.copy_(to_card(padded, device))
        self._graphs[-(-patches // STEP) * STEP].replay()
        return self._out[: patches // self._merge**2].clone()

    def _run(self, size: int) -> None:
        longest = torch.tensor(size, dtype=torch.int32)
        pictures = Pictures(self._pixels[:size], self._spots[:size], self._bounds, longest)
        self._out[: size // self._merge**2].copy_(self._compute(pictures))


def over_grids(
    compute: Callable[[Pictures], Tensor], weight: Tensor, merge: int, width: int, graphs: bool
) -> Callable[[Tensor, Grid], Tensor]:
    """Returns `compute` as a function of pixels and their grid, by graphs where there are some that fit.

    `weight` is that of the first layer; `merge` patches a side are a token, which is `width` wide.
    """
    pixels = weight.new_zeros((MAX_PATCHES, weight[0].numel())) if graphs else None
    captured = Graphs(compute, pixels, merge, width) if pixels is not None else None

    def encode(pixels: Tensor, grid: Grid) -> Tensor:
        if captured is not None and captured.fits(grid):
            return captured(pixels, grid)
        return compute(pictures_of(pixels, grid, merge))

    return encode


class ShapeGraphs:
    """A graph of `compute` for each shape of its one input; other shapes are computed without."""

    def __init__(
        self, compute: Callable[[Tensor], Tensor], like: Tensor, shapes: Iterable[tuple[int, ...]]
    ) -> None:
        """`like` is a tensor of the inputs' kind and card. The largest shape should come first."""
        self._compute = compute
        recorder = _Recorder()
        self._kept: dict[tuple[int, ...], tuple[Any, Tensor, list[Tensor]]] = {}
        for shape in shapes:
            given, out = like.new_zeros(shape), list[Tensor]()

            def run(given: Tensor = given, out: list[Tensor] = out) -> None:
                out[:] = [compute(given)]

            self._kept[shape] = (recorder.recorded(run), given, out)

    def __call__(self, x: Tensor) -> Tensor:
        if tuple(x.shape) not in self._kept:
            return self._compute(x)
        graph, given, out = self._kept[tuple(x.shape)]
        given.copy_(x)
        graph.replay()
        return out[0].clone()

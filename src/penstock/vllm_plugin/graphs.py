"""CUDA graphs of the tower for few patches at once.

A server that reads crops encodes two or three pictures a step, and the CPU needs longer to launch a tower's
kernels (10 ms) than the card to run them. A graph is one launch. Attention reads the pictures' bounds when a
graph runs, so one graph serves every set of pictures with no more patches than it was made for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from penstock.vllm_plugin.tower import Grid, Pictures, layout, pixels, to_card

Tensor = Any

STEP = 512  # patches: what is computed in vain is half of that on average
MAX_PATCHES = 8_192  # some 20 ms of an H200, longer than the launches; 235 MB for the widest layer
MAX_PICTURES = 32


class Graphs:
    """Graphs of `compute` for up to MAX_PATCHES, all made at once and in the same memory."""

    def __init__(self, tower: Any, compute: Callable[[Pictures], Tensor]) -> None:
        self._tower = tower
        self._compute = compute
        self._pool = torch.cuda.graph_pool_handle()
        self._side = torch.cuda.Stream()  # one for all: what is free belongs to the stream that used it
        self._graphs: dict[int, Any] = {}
        device, width = tower.device, tower.patch_embed.proj.weight[0].numel()
        self._pixels = torch.zeros(MAX_PATCHES, width, dtype=tower.dtype, device=device)
        self._spots = torch.zeros(2 * MAX_PATCHES, dtype=torch.int32, device=device)
        self._bounds = torch.zeros(MAX_PICTURES + 1, dtype=torch.int32, device=device)
        self._merge = tower.spatial_merge_size
        tokens = MAX_PATCHES // self._merge**2
        self._out = torch.zeros(tokens, tower.out_hidden_size, dtype=tower.dtype, device=device)
        for size in range(MAX_PATCHES, 0, -STEP):  # the largest first: the others fit into its memory
            self._graphs[size] = self._captured(size)

    def fits(self, grid: Grid) -> bool:
        patches, pictures = sum(t * h * w for t, h, w in grid), sum(row[0] for row in grid)
        return patches <= MAX_PATCHES and pictures <= MAX_PICTURES

    def __call__(self, x: Tensor, grid: Grid) -> Tensor:
        """Returns what the tower returns. The pictures must fit."""
        spots, bounds = layout(grid, self._merge)
        patches, device = x.shape[0], self._pixels.device
        self._pixels[:patches].copy_(pixels(self._tower, x))
        self._spots[: 2 * patches].copy_(to_card(spots, device))
        # the rest are pictures without patches
        padded = torch.full((MAX_PICTURES + 1,), patches, dtype=torch.int32)
        padded[: len(bounds)] = bounds
        self._bounds.copy_(to_card(padded, device))
        self._graphs[-(-patches // STEP) * STEP].replay()
        return self._out[: patches // self._merge**2].clone()

    def _captured(self, size: int) -> Any:
        self._run(size)  # once outside: kernels are compiled and products chosen at their first run
        graph = torch.cuda.CUDAGraph()
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side):
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                self._run(size)
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(self._side)
        return graph

    def _run(self, size: int) -> None:
        longest = torch.tensor(size, dtype=torch.int32)
        pictures = Pictures(self._pixels[:size], self._spots[: 2 * size], self._bounds, longest)
        self._out[: size // self._merge**2].copy_(self._compute(pictures))

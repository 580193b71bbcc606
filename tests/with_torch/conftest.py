"""Kernels run in Triton's interpreter here: there is no card. Networks are tiny: one thread is fastest."""

from __future__ import annotations

import os

import pytest

os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton, which reads it then
# before torch is there: its threads wait by spinning, and beside other tests that took five times as long
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True, scope="module")
def _same_weights_each_time() -> None:
    """Random weights are the same in every run: a failure of a rare draw could not be repeated."""
    pytest.importorskip("torch.nn")
    import torch

    torch.manual_seed(0)

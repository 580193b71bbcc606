"""Kernels run in Triton's interpreter here: there is no card."""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton, which reads it then

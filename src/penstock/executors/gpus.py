"""Which GPUs this process may use, without importing torch."""

from __future__ import annotations

import os
from pathlib import Path

NVIDIA_PROC = Path("/proc/driver/nvidia/gpus")


def visible_gpus() -> list[int]:
    """Numbers for CUDA_VISIBLE_DEVICES, honouring the one that is set."""
    limit = os.environ.get("CUDA_VISIBLE_DEVICES")
    if limit is not None:
        return [int(part) for part in limit.split(",") if part.strip().isdigit()]
    if not NVIDIA_PROC.is_dir():
        return []
    return list(range(len(list(NVIDIA_PROC.iterdir()))))

"""What this machine is: its processor, memory and cards, as run.json and the profile name them."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from penstock.processes.resources import cores


def hardware() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "cpu": _cpu_name(),
        "cores": cores(),
        "memory_gib": _memory_gib(),
        "gpus": _gpu_names(),
    }


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory_gib() -> float:
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return 0.0
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)


def _gpu_names() -> list[str]:
    return _of_cards("name")


def card_driver() -> str:
    """Returns the version of the cards' driver; "" without one."""
    return next(iter(_of_cards("driver_version")), "")


def _of_cards(field: str) -> list[str]:
    """Returns what nvidia-smi says of each card."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    try:
        told = subprocess.run(
            [tool, f"--query-gpu={field}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in told.stdout.splitlines() if line.strip()] if told.returncode == 0 else []
